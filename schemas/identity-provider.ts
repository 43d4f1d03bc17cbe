import { z } from 'zod'
import { RoleName } from './role.ts'

const shape = {
  enabled: z.boolean().describe('Whether the sign-in page offers it'),
  name: z.string().trim().min(1).max(60).describe('On the button: `Acme single sign-on`'),
  issuer: z
    .url({ protocol: /^https$/ })
    .max(500)
    .describe('As the provider names itself; its metadata is below `/.well-known/openid-configuration`'),
  client_id: z.string().min(1).max(500),
  scopes: z
    .string()
    .max(200)
    .regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/)
    .describe('Asked for, `openid` among them')
    .refine((text) => text.split(' ').includes('openid'), 'It has to name `openid`'),
  groups_claim: z.string().min(1).max(100).describe('The claim that lists the groups of a person'),
  roles: z
    .array(z.strictObject({ group: z.string().min(1).max(200), role: RoleName }))
    .max(100)
    .describe('The role of each group; of several the one that may most'),
  default_role: RoleName.nullable().describe('Of who is in none of the groups; null: they are not let in'),
}

/** How people of an identity provider sign in. */
export const IdentityProviderSettings = z.strictObject(shape)
export type IdentityProviderSettings = z.infer<typeof IdentityProviderSettings>

/** The same as it is shown. */
export const IdentityProviderRecord = z.strictObject({
  ...shape,
  has_client_secret: z.boolean(),
  redirect_uri: z.string().describe('To be registered at the provider'),
})
export type IdentityProviderRecord = z.infer<typeof IdentityProviderRecord>

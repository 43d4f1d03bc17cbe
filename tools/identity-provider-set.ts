import { z } from 'zod'
import { IdentityProviderRecord, IdentityProviderSettings } from '../schemas/identity-provider.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

const { enabled, scopes, groups_claim, roles, default_role, ...given } = IdentityProviderSettings.shape

export const identityProviderSet = defineTool({
  name: 'gateway.identity_provider.set',
  toolset: 'operator',
  title: 'Set the identity provider',
  summary:
    'Lets people sign in through your identity provider (Keycloak, Entra, Okta, Google): its issuer, your client there, and the role of each ' +
    'group. Where it is enabled, its metadata is read first. Passkeys go on working. Owners alone.',
  input: z.strictObject({
    ...given,
    enabled: enabled.default(true),
    client_secret: z
      .string()
      .max(2000)
      .optional()
      .describe('Sealed, never shown. Left out: the one of this client stays; empty: a public client'),
    scopes: scopes.default('openid profile email'),
    groups_claim: groups_claim.default('groups'),
    roles: roles.default([]),
    default_role: default_role.default(null),
  }),
  output: IdentityProviderRecord,
  price: free,
  caller: 'admin',
  roles: [],
  needsFreshSignIn: true,
  doors: ['rest'],
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/v1/identity-provider', operationId: 'setIdentityProvider' },
  errors: [
    'key_required',
    'admin_required',
    'role_required',
    'fresh_sign_in_required',
    'upstream_unreachable',
  ],
  examples: [
    {
      title: 'Described, not offered yet',
      input: {
        enabled: false,
        name: 'Acme single sign-on',
        issuer: 'https://id.example.com/realms/acme',
        client_id: 'agent-gateway',
        roles: [{ group: 'gateway-owners', role: 'owner' }],
      },
    },
  ],
  handle: async function identityProviderSet({ client_secret, ...settings }, { identity: { provider } }) {
    return provider.change(settings, client_secret)
  },
})

import { z } from 'zod'
import { IdentityProviderRecord } from '../schemas/identity-provider.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const identityProviderGet = defineTool({
  name: 'gateway.identity_provider.get',
  toolset: 'operator',
  title: 'Read the identity provider',
  summary:
    'How people sign in through your identity provider (OpenID Connect), which groups have which role, and the address to register there. ' +
    'Never the secret.',
  input: z.strictObject({}),
  output: z.strictObject({
    provider: IdentityProviderRecord.nullable(),
    redirect_uri: z.string().describe('To be registered at the provider'),
  }),
  price: free,
  caller: 'admin',
  roles: [],
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/identity-provider', operationId: 'getIdentityProvider' },
  errors: ['key_required', 'admin_required', 'role_required'],
  examples: [{ title: 'As it is', input: {} }],
  handle: async function identityProviderGet(_input, { identity: { provider } }) {
    return { provider: await provider.settings(), redirect_uri: provider.redirectUri }
  },
})

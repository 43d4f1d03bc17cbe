import { z } from 'zod'
import { CredentialMetadata, credentialId, TokenHealth } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCredentialsGet = defineTool({
  name: 'gateway.egress.credentials.get',
  toolset: 'operator',
  title: 'Look at a credential',
  summary:
    'One stored credential: scope, settings, budgets, version, dates, and how it goes with the tokens that are minted from it. ' +
    'Never a secret, and never a token.',
  input: z.strictObject({ credential_id: credentialId }),
  output: CredentialMetadata.extend({
    tokens: TokenHealth.nullable().describe('Null where it mints none, or is revoked'),
  }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  doors: ['rest'],
  rest: {
    method: 'GET',
    path: '/v1/egress/credentials/{credential_id}',
    operationId: 'getEgressCredential',
  },
  errors: ['key_required', 'credential_not_found'],
  examples: [{ title: 'One of them', input: { credential_id: 'cred_0000000000000000000000000000000000' } }],
  handle: async function egressCredentialsGet({ credential_id }, { egress, caller }) {
    const credential = await egress.getCredential(caller.accountId, credential_id)
    const health = await egress.tokenHealth(caller.accountId, [credential])
    return { ...credential, tokens: health.get(credential_id) ?? null }
  },
})

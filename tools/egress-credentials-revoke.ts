import { z } from 'zod'
import { CredentialMetadata, credentialId } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCredentialsRevoke = defineTool({
  name: 'gateway.egress.credentials.revoke',
  toolset: 'operator',
  title: 'Revoke a credential',
  summary:
    'Ends a credential and every capability on it, at once and for good, and wipes its sealed secret. Repeating it changes nothing.',
  brief: 'Ends a credential and its capabilities for good, and wipes the secret.',
  input: z.strictObject({ credential_id: credentialId }),
  output: CredentialMetadata,
  needsFreshSignIn: true,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/credentials/{credential_id}/revoke',
    operationId: 'revokeEgressCredential',
  },
  errors: ['key_required', 'credential_not_found'],
  examples: [{ title: 'End it', input: { credential_id: 'cred_0000000000000000000000000000000000' } }],
  handle: async function egressCredentialsRevoke({ credential_id }, { egress, caller }) {
    return egress.revokeCredential(caller.accountId, credential_id)
  },
})

import { z } from 'zod'
import { credentialId } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCredentialsDelete = defineTool({
  name: 'gateway.egress.credentials.delete',
  toolset: 'operator',
  title: 'Delete a credential',
  summary:
    'Removes a credential with its sealed secret, its budgets and every capability on it, at once and for good. Attempts, receipts ' +
    'and the audit log stay and name it by its id.',
  brief: 'Removes a credential with its secret, budgets and capabilities for good; receipts stay.',
  input: z.strictObject({ credential_id: credentialId }),
  output: z.strictObject({ credential_id: z.string(), deleted: z.literal(true) }),
  needsFreshSignIn: true,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/egress/credentials/{credential_id}/delete',
    operationId: 'deleteEgressCredential',
  },
  skill: {
    id: 'egress-credentials-delete',
    name: 'Delete a credential',
    tags: ['egress', 'credentials', 'operator'],
    examples: ['Delete the credential that I no longer need'],
  },
  errors: ['key_required', 'credential_not_found'],
  examples: [{ title: 'Remove it', input: { credential_id: 'cred_0000000000000000000000000000000000' } }],
  handle: async function egressCredentialsDelete({ credential_id }, { egress, caller }) {
    await egress.deleteCredential(caller.accountId, credential_id)
    return { credential_id, deleted: true as const }
  },
})

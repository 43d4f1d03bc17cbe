import { z } from 'zod'
import { CredentialMetadata, pageInput, pageOutput } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const egressCredentialsList = defineTool({
  name: 'gateway.egress.credentials.list',
  toolset: 'operator',
  title: 'List stored credentials',
  summary: 'Metadata of the stored credentials, newest first: scope, version, dates. Never a secret.',
  brief: 'Stored credentials, newest first; never a secret.',
  input: z.strictObject({ ...pageInput }),
  output: z.strictObject({ credentials: z.array(CredentialMetadata), ...pageOutput }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/egress/credentials', operationId: 'listEgressCredentials' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function egressCredentialsList(page, { egress, caller }) {
    const { items, next } = await egress.listCredentials(caller.accountId, page)
    return { credentials: items, next }
  },
})

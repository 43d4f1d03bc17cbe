import { z } from 'zod'
import { ConnectionRecord } from '../schemas/connection.ts'
import { pageInput, pageOutput } from '../schemas/egress.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

/** People decide which assistants act for them; no model is told of these tools. */
export const connectionsList = defineTool({
  name: 'gateway.connections.list',
  toolset: 'operator',
  title: 'List connected assistants',
  summary:
    'Assistants that people allowed to connect, newest first: who, which client, what they may, what they spent. Never a token.',
  input: z.strictObject({
    person_id: z.string().min(1).max(64).optional().describe('Only those that this person allowed'),
    client_id: z.string().min(1).max(512).optional().describe('Only those of this client'),
    ...pageInput,
  }),
  output: z.strictObject({ connections: z.array(ConnectionRecord), ...pageOutput }),
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/connections', operationId: 'listConnections' },
  errors: ['key_required'],
  examples: [{ title: 'The latest', input: { limit: 20 } }],
  handle: async function connectionsList({ person_id, client_id, limit, before }, { identity, caller }) {
    const filter = { accountId: caller.accountId, personId: person_id, clientId: client_id }
    const { items, next } = await identity.connections.list(filter, { limit, before })
    return { connections: await identity.connections.describe(items), next }
  },
})

import { z } from 'zod'
import { connectionId } from '../schemas/connection.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const connectionsRevoke = defineTool({
  name: 'gateway.connections.revoke',
  toolset: 'operator',
  title: 'End connected assistants',
  summary:
    'Ends one connection, or all of a client, with every token and capability of theirs: their next call at any door is refused.',
  input: z
    .strictObject({
      connection_id: connectionId.optional(),
      client_id: z
        .string()
        .min(1)
        .max(512)
        .optional()
        .describe('Instead: everything that this client was allowed'),
    })
    .refine(({ connection_id, client_id }) => (connection_id === undefined) !== (client_id === undefined), {
      error: 'name either `connection_id` or `client_id`',
    }),
  output: z.strictObject({ ended: z.int().min(0).describe('How many ended now; 0 where they had before') }),
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/connections/revoke', operationId: 'revokeConnections' },
  errors: ['key_required', 'connection_not_found'],
  examples: [{ title: 'End one', input: { connection_id: 'con_00000000000000000000000000000000000' } }],
  handle: async function connectionsRevoke({ connection_id, client_id }, { identity, caller }) {
    const { connections } = identity
    if (client_id !== undefined) return { ended: await connections.revokeClient(caller.accountId, client_id) }
    const before = await connections.get(caller.accountId, connection_id ?? '')
    if (!before)
      throw new GatewayError(
        'connection_not_found',
        'Your account has no connection of this id: list them to see them.',
      )
    await connections.revoke(caller.accountId, before.id)
    return { ended: before.revokedAt === null ? 1 : 0 }
  },
})

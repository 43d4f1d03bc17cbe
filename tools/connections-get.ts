import { z } from 'zod'
import { connectionId, ConnectionRecord } from '../schemas/connection.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const connectionsGet = defineTool({
  name: 'gateway.connections.get',
  toolset: 'operator',
  title: 'Read a connected assistant',
  summary:
    'One assistant that a person allowed to connect: what it may, what it spent, when it was last used. Never a token.',
  input: z.strictObject({ connection_id: connectionId }),
  output: ConnectionRecord,
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/connections/{connection_id}', operationId: 'getConnection' },
  errors: ['key_required', 'connection_not_found'],
  examples: [{ title: 'One', input: { connection_id: 'con_00000000000000000000000000000000000' } }],
  handle: async function connectionsGet({ connection_id }, { identity, caller }) {
    const connection = await identity.connections.get(caller.accountId, connection_id)
    const [record] = connection ? await identity.connections.describe([connection]) : []
    if (!record)
      throw new GatewayError(
        'connection_not_found',
        'Your account has no connection of this id: list them to see them.',
      )
    return record
  },
})

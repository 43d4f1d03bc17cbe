import { z } from 'zod'
import { connectionId, ConnectionRecord, ConnectionTermsInput } from '../schemas/connection.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const connectionsChange = defineTool({
  name: 'gateway.connections.change',
  toolset: 'operator',
  title: 'Change what an assistant may do',
  summary:
    'Replaces what a connected assistant may do, from its next call on. What was counted on its limits stays counted; capabilities that it ' +
    'narrowed for itself end.',
  input: z.strictObject({ connection_id: connectionId, ...ConnectionTermsInput.shape }),
  output: ConnectionRecord,
  price: free,
  caller: 'operator',
  doors: ['rest'],
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/connections/change', operationId: 'changeConnection' },
  errors: [
    'key_required',
    'connection_not_found',
    'credential_not_found',
    'scope_denied',
    'state_conflict',
    'fresh_sign_in_required',
  ],
  examples: [
    {
      title: 'Reading only, until the end of the year',
      input: {
        connection_id: 'con_00000000000000000000000000000000000',
        credentials: [{ credential_id: 'cred_00000000000000000000000000000000000', methods: ['GET'] }],
        budgets: [{ unit: 'calls', per: 'day', limit: '100' }],
        expires_at: '2026-12-31T23:59:59Z',
      },
    },
  ],
  handle: async function connectionsChange(input, { identity, caller }) {
    const { connections } = identity
    const { accountId, role, session } = caller
    const changed = await connections.change({
      // Whoever has a service key and no sign-in is a program, and shows nothing again.
      by: { accountId, role, freshAt: session?.freshAt },
      connectionId: input.connection_id,
      choice: {
        parts: input.credentials.map(({ credential_id, hosts, path_prefixes, methods }) => ({
          credentialId: credential_id,
          scope: {
            ...(hosts && { hosts }),
            ...(path_prefixes && { path_prefixes }),
            ...(methods && { methods }),
          },
        })),
        budgets: input.budgets,
        maxUses: input.max_uses,
        expiresAt: Date.parse(input.expires_at),
        mayPay: input.may_pay,
        mayOperate: input.may_operate,
        showsBalance: input.shows_balance,
      },
    })
    const [record] = await connections.describe([changed])
    if (!record) throw new GatewayError('connection_not_found', 'The connection ended meanwhile.')
    return record
  },
})

import { z } from 'zod'
import { AuditEvent } from '../schemas/audit.ts'
import { free } from '../src/core/price.ts'
import { GatewayError } from '../src/core/errors.ts'
import { INSTALLATION_CHAIN } from '../src/store/ports/audit.ts'
import { defineTool } from './services.ts'

export const auditEvents = defineTool({
  name: 'gateway.audit.events',
  toolset: 'operator',
  title: 'Read the audit log',
  summary:
    'Security events of your account, oldest first: keys, credentials, capabilities, permits, refusals, reconciliations. Each ' +
    'names the hash of the one before, and the gateway signs the newest, so that a removed or changed event shows. ' +
    '`agent-gateway audit export` writes a file of them, `audit verify` checks it offline.',
  brief: 'Security events of your account, oldest first, chained by hashes and signed.',
  input: z.strictObject({
    of: z
      .enum(['account', 'installation'])
      .default('account')
      .describe('`installation`: of no account, such as signing keys; administrators only'),
    after: z.int().min(0).default(0).describe('`next` before'),
    limit: z
      .int()
      .min(1)
      .max(500)
      .default(100)
      .describe('Most entries')
      .meta({ listedAs: { default: null } }),
  }),
  output: z.strictObject({
    chain: z.string().describe('Your account id, or `installation`'),
    events: z.array(AuditEvent),
    heads: z
      .array(z.string())
      .describe('Signed heads of this stretch, oldest first: compact JWS of the type gw-audit-head+jws'),
    head: z
      .string()
      .nullable()
      .describe('The newest head, signed just now; null where nothing has happened or `intact` is false'),
    intact: z
      .boolean()
      .describe('False: the gateway finds itself that stored events were changed or removed'),
    next: z.int().nullable().describe('Pass as `after` to read on; null at the end'),
  }),
  price: free,
  caller: 'operator',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/audit/events', operationId: 'listAuditEvents' },
  errors: ['key_required', 'admin_required'],
  examples: [
    { title: 'From the beginning', input: { limit: 100 } },
    { title: 'Of the installation', input: { of: 'installation', after: 40 } },
  ],
  handle: async function auditEvents({ of, after, limit }, { audit, caller }) {
    if (of === 'installation' && !caller.admin)
      throw new GatewayError('admin_required', "Use the service key of the installation's first account.")
    const chain = of === 'installation' ? INSTALLATION_CHAIN : caller.accountId
    const { events, heads, ...page } = await audit.read({ chain, after, limit })
    return { ...page, events: [...events], heads: [...heads] }
  },
})

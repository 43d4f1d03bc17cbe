import { z } from 'zod'
import { InspectResult, transactionFields } from '../schemas/commerce.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

/** Tells what a transaction is and whether the policy of the account lets it pass. Nothing is sent anywhere. */
export const inspectTransaction = defineTool({
  name: 'gateway.inspect',
  toolset: 'commerce',
  title: 'Inspect a transaction',
  summary:
    'Says what a transaction is (x402, MPP, AP2, UCP, ACP, MCP), what it pays to whom, and whether policy allows, reviews or ' +
    'denies it, with a reason code and place each. With a service key the policy of its account applies. The target is read, ' +
    'never contacted, not even by DNS; nothing is forwarded or stored, no credential is repeated. With a key, `spend` says what is ' +
    'left of the hour and the day; `count: true` counts what is not denied, once for each payment: ask it right before you pay.',
  brief:
    'Reads a transaction of x402, MPP, AP2, UCP, ACP or MCP: what it pays to whom; whether policy allows it. Contacts nothing.',
  input: z.strictObject({
    ...transactionFields,
    count: z.boolean().optional().describe('Needs a key: counts it on spend windows'),
  }),
  output: InspectResult,
  price: free,
  caller: 'anyone',
  effects: { readOnly: false, idempotent: false, openWorld: false },
  // Whoever may read may inspect; counting is for those who pay.
  roles: ['operator', 'approver', 'auditor', 'seller'],
  isOpenToPages: true,
  rest: { method: 'POST', path: '/v1/inspect', operationId: 'inspectTransaction' },
  skill: {
    id: 'inspect-transaction',
    name: 'Inspect a transaction',
    tags: ['inspect', 'policy', 'x402', 'mpp', 'ap2', 'ucp', 'acp', 'mcp'],
    examples: ['Is this payment safe to send?', 'What does this x402 request pay, and to whom?'],
  },
  errors: ['key_required', 'role_required'],
  // Escaped into a string, the largest body that is read is twice as long.
  maxBodyBytes: 640 * 1024,
  examples: [
    {
      title: 'A checkout',
      input: {
        target: 'https://example.com/checkout_sessions',
        method: 'POST',
        headers: { 'API-Version': '2026-04-17', 'Idempotency-Key': '8f14e45f-ceea-4e67-a1b2-3c4d5e6f7a8b' },
        body: '{"currency":"usd","line_items":[{"id":"item_123"}]}',
      },
    },
  ],
  handle: function inspectTransaction({ count = false, ...transaction }, { commerce, caller }) {
    if (!('accountId' in caller)) {
      if (count)
        throw new GatewayError(
          'key_required',
          'What is counted is counted for an account: send a service key or a capability, or leave `count` out.',
        )
      return commerce.inspect(transaction, undefined)
    }
    if (count && caller.kind === 'operator' && !COUNTING.has(caller.role))
      throw new GatewayError(
        'role_required',
        `Counting takes the role owner or operator, and yours is ${caller.role}. Leave \`count\` out to see what the windows say.`,
        { extras: { role: caller.role } },
      )
    return commerce.inspect(transaction, { accountId: caller.accountId, isCounted: count })
  },
})

/** Roles whose holders pay: others would use up what they may not spend. */
const COUNTING: ReadonlySet<string> = new Set(['owner', 'operator'])

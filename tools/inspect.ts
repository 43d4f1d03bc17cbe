import { InspectResult, Transaction } from '../schemas/commerce.ts'
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
    'never contacted, not even by DNS; nothing is forwarded or stored, no credential is repeated.',
  brief:
    'Reads a transaction of x402, MPP, AP2, UCP, ACP or MCP: what it pays to whom, and whether policy allows, reviews or denies it, and why. Contacts nothing, stores nothing.',
  input: Transaction,
  output: InspectResult,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/inspect', operationId: 'inspectTransaction' },
  skill: {
    id: 'inspect-transaction',
    name: 'Inspect a transaction',
    tags: ['inspect', 'policy', 'x402', 'mpp', 'ap2', 'ucp', 'acp', 'mcp'],
    examples: ['Is this payment safe to send?', 'What does this x402 request pay, and to whom?'],
  },
  errors: [],
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
  handle: function inspectTransaction(transaction, { commerce, caller }) {
    return commerce.inspect(transaction, 'accountId' in caller ? caller.accountId : undefined)
  },
})

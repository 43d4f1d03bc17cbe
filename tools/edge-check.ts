import { z } from 'zod'
import { EdgeCheck } from '../schemas/edge.ts'
import { AllowedHost } from '../schemas/http.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

/** Says which TXT record lets the edge act for a merchant, and what is wrong with the one that is there. */
export const edgeCheck = defineTool({
  name: 'gateway.edge.check',
  toolset: 'operator',
  title: 'Check a merchant host for the edge',
  summary:
    'Shows the DNS TXT record that authorizes the edge to forward transactions to a host at the expense of your account, ' +
    'what each resolver finds there now, and why it is refused. Contacts DNS only, never the host itself.',
  brief: 'The DNS record that lets the edge forward to a host at your expense, and what DNS shows now.',
  input: z.strictObject({
    host: AllowedHost.describe('Such as shop.example.com'),
  }),
  output: EdgeCheck,
  price: free,
  caller: 'operator',
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/v1/edge/check', operationId: 'edgeCheck' },
  errors: ['key_required', 'target_invalid', 'target_blocked'],
  examples: [{ title: 'What to publish, and what is there', input: { host: 'sandbox.agent-gateway.test' } }],
  inProduction: () => ({
    examples: [{ title: 'What to publish, and what is there', input: { host: 'shop.example.com' } }],
  }),
  handle: function edgeCheck({ host }, { edge, caller }) {
    return edge.check(caller.accountId, host)
  },
})

import { z } from 'zod'
import { capabilityArgument, pageInput, pageOutput } from '../schemas/egress.ts'
import { BudgetState } from '../schemas/budget.ts'
import { Timestamp } from '../schemas/http.ts'
import { seesBalance } from '../src/core/balance-view.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

const LedgerLine = z.strictObject({
  transaction_id: z.string(),
  amount: z.int().describe('Credits in (positive) or out (negative)'),
  kind: z.enum(['grant', 'egress', 'action', 'edge', 'call', 'refund', 'purchase', 'reversal', 'settlement']),
  reference: z.string().describe('The attempt or the call it was for, or what was noted with a grant'),
  created_at: Timestamp,
})

export const creditsBalance = defineTool({
  name: 'gateway.credits.balance',
  toolset: 'payments',
  title: 'Credits: balance and ledger',
  summary:
    'How many usage credits the account has left, and every movement of them, newest first. ' +
    'The holder of a capability sees the balances of its budgets, and that of the account only where its capability says so.',
  brief: 'Credits left, and each movement, newest first; with a capability, its budgets.',
  input: z.strictObject({ capability: capabilityArgument, ...pageInput }),
  output: z.strictObject({
    account_id: z.string(),
    balance: z.int().min(0).nullable().describe('Null where a capability may not see it'),
    budgets: z
      .array(BudgetState.extend({ of: z.enum(['capability', 'credential']), id: z.string() }))
      .describe("Of a capability: its own, those of all it was narrowed from, and its credential's"),
    ledger: z.array(LedgerLine),
    ...pageOutput,
  }),
  price: free,
  caller: 'account',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/credits', operationId: 'getCredits' },
  skill: {
    id: 'credits-balance',
    name: 'Credits: balance and ledger',
    tags: ['credits'],
    examples: ['How many credits are left?'],
  },
  errors: ['key_required'],
  examples: [{ title: 'Balance and the last movements', input: { limit: 10 } }],
  handle: async function creditsBalance({ limit, before }, { accounts, egress, caller }) {
    const { accountId } = caller
    // The holder of a capability is not shown what other agents of the account did.
    const page =
      caller.kind === 'operator'
        ? await accounts.ledger(accountId, { limit, before })
        : { items: [], next: null }
    return {
      account_id: accountId,
      balance: seesBalance(caller) ? await accounts.balance(accountId) : null,
      budgets: caller.kind === 'agent' ? [...(await egress.listBudgets(caller.capability))] : [],
      ledger: page.items.map((entry) => ({
        transaction_id: entry.transactionId,
        amount: entry.amount,
        kind: entry.kind,
        reference: entry.reference,
        created_at: new Date(entry.createdAt).toISOString(),
      })),
      next: page.next,
    }
  },
})

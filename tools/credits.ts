import { z } from 'zod'
import { capabilityArgument, pageInput, pageOutput } from '../schemas/egress.ts'
import { Timestamp } from '../schemas/http.ts'
import { free } from '../schemas/money.ts'
import { defineTool } from '../src/registry.ts'
import { accountOf } from './account.ts'

const LedgerLine = z.object({
  transaction_id: z.string(),
  amount: z.int().describe('Credits in (positive) or out (negative)'),
  kind: z.enum(['grant', 'egress', 'refund']),
  reference: z.string().describe('The attempt it was for, or what was noted with a grant'),
  created_at: Timestamp,
})

export const creditsBalance = defineTool({
  name: 'gateway.credits.balance',
  title: 'Credits: balance and ledger',
  summary:
    'How many usage credits the account has left, and every movement of them, newest first. ' +
    'A capability sees the balance that pays for it.',
  input: z.strictObject({ capability: capabilityArgument, ...pageInput }),
  output: z.object({
    account_id: z.string(),
    balance: z.int().min(0),
    ledger: z.array(LedgerLine),
    ...pageOutput,
  }),
  price: free,
  caller: 'account',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/credits', operationId: 'getCredits' },
  errors: ['key_required'],
  examples: [{ title: 'Balance and the last movements', input: { limit: 10 } }],
  async handle({ limit, before }, { accounts, caller }) {
    const accountId = accountOf(caller)
    // What other agents of the account did is not a capability's business.
    const page =
      caller.kind === 'operator'
        ? await accounts.ledger(accountId, { limit, before })
        : { items: [], next: null }
    return {
      account_id: accountId,
      balance: await accounts.balance(accountId),
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

export const creditsGrant = defineTool({
  name: 'gateway.credits.grant',
  title: 'Grant credits',
  summary:
    'Gives an account usage credits by hand. For the administrator. The reference makes it safe to repeat: the same ' +
    'reference on the same account is granted once.',
  input: z.strictObject({
    account_id: z.string().min(1).max(64).optional().describe('Your own account by default'),
    amount: z.int().min(1).max(1_000_000_000),
    reference: z.string().min(1).max(200).describe('What it is for, for example an invoice number'),
  }),
  output: z.object({
    account_id: z.string(),
    balance: z.int().min(0),
    repeated: z.boolean().describe('True when this reference had been granted before: nothing changed'),
  }),
  price: free,
  caller: 'admin',
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/credits/grants', operationId: 'grantCredits', status: 201 },
  errors: ['key_required', 'admin_required', 'account_not_found'],
  examples: [{ title: 'A hundred credits', input: { amount: 100, reference: 'invoice 2026-117' } }],
  async handle({ account_id, amount, reference }, { accounts, caller }) {
    const accountId = account_id ?? accountOf(caller)
    return { account_id: accountId, ...(await accounts.grant({ accountId, amount, reference })) }
  },
})

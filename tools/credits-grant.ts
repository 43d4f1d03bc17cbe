import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const creditsGrant = defineTool({
  name: 'gateway.credits.grant',
  toolset: 'operator',
  title: 'Grant credits',
  summary:
    'Gives an account usage credits by hand. For the administrator. The reference makes it safe to repeat: the same ' +
    'reference on the same account is granted once.',
  brief: 'Gives an account credits; the same reference is granted once.',
  input: z.strictObject({
    account_id: z.string().min(1).max(64).optional().describe('Your own account by default'),
    amount: z.int().min(1).max(1_000_000_000).describe('Credits'),
    reference: z.string().min(1).max(200).describe('Such as an invoice number'),
  }),
  output: z.strictObject({
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
  handle: async function creditsGrant({ account_id, amount, reference }, { accounts, caller }) {
    const accountId = account_id ?? caller.accountId
    return { account_id: accountId, ...(await accounts.grant({ accountId, amount, reference })) }
  },
})

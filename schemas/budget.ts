import { z } from 'zod'
import { Timestamp } from './http.ts'

const unit = z
  .enum(['calls', 'credits', 'usdc'])
  .describe('`calls`: attempts; `credits` of the account; `usdc` paid with x402')
const per = z
  .enum(['hour', 'day', 'month', 'total'])
  .describe('Calendar period in UTC; `total`: once and for all')

/** A limit as it is asked for. */
export const BudgetWish = z.strictObject({
  unit,
  per,
  limit: z
    .union([
      z.int().min(1).max(1_000_000_000),
      z.string().regex(/^\d{1,9}(?:\.\d{1,6})?$/, 'decimal, like "12.50"'),
    ])
    // A number is taken as well; both in one place is a union, which adapters make one of the two of.
    .meta({ advertisedAs: { type: 'string' } })
    .describe('Most in one period: a whole number as text, of usdc also a decimal such as 12.50'),
})
export type BudgetWish = z.infer<typeof BudgetWish>

export const budgetWishes = z
  .array(BudgetWish)
  .max(12)
  .describe(
    'One for each pair of unit and period. What is narrowed from a capability counts on its budgets too',
  )
  .meta({
    listedAs: {
      type: 'array',
      description: 'Limits: {unit: calls|credits|usdc, per: hour|day|month|total, limit}',
      items: { type: 'object', additionalProperties: { type: 'string' } },
    },
  })

/** A limit as it stands. */
export const BudgetState = z.strictObject({
  unit,
  per,
  limit: z.string().describe('Whole number, of usdc a decimal'),
  used: z.string().describe('In this period, by everybody who counts on it'),
  frees_at: Timestamp.nullable().describe('When the next period begins; null where none does'),
})
export type BudgetState = z.infer<typeof BudgetState>

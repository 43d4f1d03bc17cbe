import { z } from 'zod'
import { formatAtomic, formatSignedAtomic } from '../schemas/money.ts'
import { free } from '../src/core/price.ts'
import { REVENUE_BY } from '../src/payments/revenue.ts'
import { defineTool } from './services.ts'

const Day = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])-\d{2}$/)

export const paymentsRevenue = defineTool({
  name: 'gateway.payments.revenue',
  toolset: 'operator',
  title: 'Report revenue',
  summary:
    'What payments to this gateway came to, by day, month, tool or network (UTC): settled, refunded, net and number, for each network and asset ' +
    'apart. Refunds count on the day they settled; what a chain took back counts no more. Payments for listings are whole: what of them is ' +
    'the seller’s is in the payouts. Payments to other sellers through /settle are not in it. For the administrator.',
  input: z.strictObject({
    by: z.enum(REVENUE_BY).default('day').describe('What a row sums up'),
    from: Day.optional().describe('First day, such as 2026-01-01'),
    to: Day.optional().describe('Last day; by default today'),
  }),
  output: z.strictObject({
    by: z.enum(REVENUE_BY),
    from: z.string(),
    to: z.string(),
    revenue: z
      .array(
        z.strictObject({
          of: z.string().describe('The day, month, tool or network'),
          network: z.string().describe('CAIP-2 id'),
          asset: z.string(),
          test_money: z.boolean(),
          payments: z.int().min(0).describe('Settled ones'),
          settled_atomic: z.string().describe('Atomic units'),
          refunded_atomic: z.string(),
          net_atomic: z.string().describe('Settled less refunded: may be negative'),
          settled: z.string().describe('Decimal, as are the next two'),
          refunded: z.string(),
          net: z.string(),
        }),
      )
      .describe('Newest first; tools and networks by name'),
  }),
  price: free,
  caller: 'admin',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/revenue', operationId: 'reportRevenue' },
  errors: ['key_required', 'admin_required'],
  examples: [
    { title: 'The last thirty days', input: {} },
    { title: 'By tool', input: { by: 'tool', from: '2026-01-01', to: '2026-03-31' } },
  ],
  handle: async function paymentsRevenue({ by, from, to }, { paymentRecords }) {
    const report = await paymentRecords.revenue(by, { from, to })
    return {
      by,
      from: report.from,
      to: report.to,
      revenue: report.revenue.map(({ isTest, settled, refunded, ...row }) => ({
        ...row,
        test_money: isTest,
        settled_atomic: settled.toString(),
        refunded_atomic: refunded.toString(),
        net_atomic: (settled - refunded).toString(),
        settled: formatAtomic(settled),
        refunded: formatAtomic(refunded),
        net: formatSignedAtomic(settled - refunded),
      })),
    }
  },
})

import { z } from 'zod'
import { formatSignedAtomic } from '../schemas/money.ts'
import { Wallet } from '../schemas/wallet.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

const Month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/)

export const paymentsSpend = defineTool({
  name: 'gateway.payments.spend',
  toolset: 'operator',
  title: 'Report what a payer spent',
  summary:
    'Settled payments and refunds of one wallet by month (UTC), network, asset and tool, newest month first. Payments to ' +
    'other sellers through /settle have the tool `settle`. For the administrator.',
  brief: 'What a wallet paid by month, network, asset and tool.',
  input: z.strictObject({
    payer: Wallet.describe('Address of the wallet'),
    from: Month.optional().describe('First month, such as 2026-01'),
    to: Month.optional().describe('Last month; by default this one'),
  }),
  output: z.strictObject({
    payer: z.string(),
    from: z.string(),
    to: z.string(),
    spend: z.array(
      z.strictObject({
        month: z.string().describe('Like `2026-11`'),
        network: z.string().describe('CAIP-2 id'),
        asset: z.string(),
        tool: z.string(),
        payments: z.int().min(0).describe('Settled ones'),
        settled_atomic: z.string().describe('Atomic units'),
        refunded_atomic: z.string().describe('Of refunds that settled in this month'),
        net: z.string().describe('Settled less refunded, decimal, for display'),
      }),
    ),
  }),
  price: free,
  caller: 'admin',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/payers/{payer}/spend', operationId: 'reportSpend' },
  errors: ['key_required', 'admin_required'],
  examples: [
    { title: 'The last twelve months', input: { payer: '0x0000000000000000000000000000000000000001' } },
  ],
  handle: async function paymentsSpend({ payer, from, to }, { refunds }) {
    const report = await refunds.spend(payer, { from, to })
    return {
      ...report,
      spend: report.spend.map(({ settled, refunded, ...spend }) => ({
        ...spend,
        settled_atomic: settled,
        refunded_atomic: refunded,
        net: formatSignedAtomic(BigInt(settled) - BigInt(refunded)),
      })),
    }
  },
})

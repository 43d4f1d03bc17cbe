import { z } from 'zod'
import { pageOutput } from '../schemas/egress.ts'
import { PaymentRecord, PaymentState } from '../schemas/payment-record.ts'
import { Wallet } from '../schemas/wallet.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

const Amount = z.string().regex(/^(0|[1-9]\d{0,77})$/)
/** No control character and no half of one: databases take neither. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be text without control characters')
const Moment = z.iso.datetime({ offset: true })

export const paymentsList = defineTool({
  name: 'gateway.payments.list',
  toolset: 'operator',
  title: 'List payments',
  summary:
    'Every payment that was presented to this installation, newest first: state, amount, wallets, transaction. Narrowed by any of several ' +
    'facts; `pending` and `unknown` ones are not decided yet. A page may hold fewer than asked for: go on while `next` is not null. For ' +
    'the administrator.',
  input: z.strictObject({
    state: PaymentState.optional().describe('Only those in this state'),
    origin: PaymentRecord.shape.origin.optional().describe('`tool`: paid to this gateway'),
    tool: text(128).optional().describe('Name of the paid tool'),
    resource: text(2048).optional().describe('Address that was paid for'),
    network: text(128).optional().describe('CAIP-2 id'),
    payer: Wallet.optional().describe('Wallet that paid'),
    pay_to: Wallet.optional().describe('Wallet that was paid'),
    min_atomic: Amount.optional().describe('Least amount, atomic units'),
    max_atomic: Amount.optional().describe('Most'),
    from: Moment.optional().describe('First moment, RFC 3339'),
    to: Moment.optional().describe('Before this moment'),
    limit: z
      .int()
      .min(1)
      .max(500)
      .default(50)
      .describe('Most entries')
      .meta({ listedAs: { default: null } }),
    before: z
      .string()
      .regex(/^clm_[0-9a-z]{1,60}$/)
      .optional()
      .describe('`next` before'),
  }),
  output: z.strictObject({ payments: z.array(PaymentRecord), ...pageOutput }),
  price: free,
  caller: 'admin',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/payments', operationId: 'listPayments' },
  errors: ['key_required', 'admin_required'],
  examples: [
    { title: 'What is not decided', input: { state: 'unknown' } },
    { title: 'Of one wallet', input: { payer: '0x0000000000000000000000000000000000000001', limit: 10 } },
  ],
  handle: async function paymentsList(
    { min_atomic, max_atomic, pay_to, from, to, limit, before, ...filter },
    { paymentRecords },
  ) {
    const [since, until] = [from, to].map((at) => (at === undefined ? undefined : Date.parse(at)))
    if (since !== undefined && until !== undefined && since >= until)
      throw new GatewayError('input_invalid', 'Nothing lies between `from` and `to`: give an earlier `from`.')
    if (min_atomic !== undefined && max_atomic !== undefined && BigInt(min_atomic) > BigInt(max_atomic))
      throw new GatewayError(
        'input_invalid',
        'No amount is at least `min_atomic` and at most `max_atomic`: give a smaller `min_atomic`.',
      )
    const page = await paymentRecords.list(
      { ...filter, payTo: pay_to, minAmount: min_atomic, maxAmount: max_atomic, since, until },
      { limit, before },
    )
    return { payments: [...page.payments], next: page.next }
  },
})

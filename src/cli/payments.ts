// `payments`: money that goes back to a payer, and what a payer spent; what there was is payment-records.ts's and payment-export.ts's.
import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import { paymentsRefund } from '../../tools/payments-refund.ts'
import { paymentsRefunds } from '../../tools/payments-refunds.ts'
import { paymentsSpend } from '../../tools/payments-spend.ts'
import { connect } from './client.ts'
import { addPaymentExportCommand } from './payment-export.ts'
import { addPaymentRecordCommands } from './payment-records.ts'
import { addConnectionOptions, addTableOptions, type ConnectionOptions } from './options.ts'
import type { TableOptions } from './table.ts'
import { printPage } from './output.ts'
import { printRefund } from './refund.ts'

const COLUMNS = ['refund_id', 'state', 'amount_atomic', 'reference', 'reason', 'transaction', 'failure']

/** `payments` with all that is below it, for administrators. */
export function addPaymentCommands(program: Command): void {
  const payments = program
    .command('payments')
    .description('payments, refunds, revenue, and what payers spent (administrators)')

  addConnectionOptions(payments.command('refund <claim-id>'))
    .description('send a settled payment back to its payer, all of it or a part')
    .requiredOption('--reason <text>', 'for your records; the payer is not told')
    .option('--amount-atomic <n>', 'atomic units; default all that was not refunded yet', parseAtomic)
    .option('--reference <text>', 'yours; the same reference of a payment is refunded once')
    .addHelpText(
      'after',
      `
The transfer leaves from the account of GATEWAY_REFUND_KEY_FILE, which needs no gas, and goes to nobody but the payer. Never
more than was paid. Credits that the payment bought are taken back; where they are spent the refund is refused.
With a --reference the command is safe to repeat. Without one each run refunds anew, as far as something is left.
A refund that failed sent nothing and is not tried again: the exit code is 1, and a run with another reference refunds anew.

Examples:
  agent-gateway payments refund clm_… --reason "the page was empty" --reference "ticket 4711"
  agent-gateway payments refund clm_… --amount-atomic 5000 --reason "half of it" --reference "ticket 4712"`,
    )
    .action(async (claimId: string, options: ConnectionOptions & RefundOptions) => {
      const answer = await (
        await connect(options)
      ).call(paymentsRefund, {
        claim_id: claimId,
        reason: options.reason,
        reference: options.reference ?? `cli ${randomUUID()}`,
        ...(options.amountAtomic === undefined ? {} : { amount_atomic: options.amountAtomic }),
      })
      printRefund(answer, options)
    })

  addPaymentRecordCommands(payments)
  addPaymentExportCommand(payments)

  addTableOptions(addConnectionOptions(payments.command('refunds <claim-id>')))
    .description('list what was sent back of a payment, oldest first')
    .action(async (claimId: string, options: ConnectionOptions & TableOptions) => {
      const answer = await (await connect(options)).call(paymentsRefunds, { claim_id: claimId })
      printPage({ ...answer, next: null }, answer.refunds, COLUMNS, 'No refunds.', options)
    })

  addTableOptions(addConnectionOptions(payments.command('spend <address>')))
    .description('report what a wallet paid and got back, by month, network, asset and tool')
    .option('--from <month>', 'first month, e.g. 2026-01; default twelve months')
    .option('--to <month>', 'last month; default this one')
    .action(
      async (payer: string, options: ConnectionOptions & TableOptions & { from?: string; to?: string }) => {
        const { from, to } = options
        const months = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
        const answer = await (await connect(options)).call(paymentsSpend, { payer, ...months })
        const columns = [
          'month',
          'network',
          'tool',
          'payments',
          'settled_atomic',
          'refunded_atomic',
          'net',
          'asset',
        ]
        const empty = `Nothing from ${answer.from} to ${answer.to}.`
        printPage({ ...answer, next: null }, answer.spend, columns, empty, options)
      },
    )
}

interface RefundOptions {
  readonly reason: string
  readonly amountAtomic?: string
  readonly reference?: string
}

function parseAtomic(text: string): string {
  if (!/^[1-9]\d{0,77}$/.test(text))
    throw new InvalidArgumentError('Write whole atomic units: 0.01 USDC is 10000.')
  return text
}

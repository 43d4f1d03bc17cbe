// `payments list|show|reconcile|revenue`: which payments there were, the life of one, what its chain says now, and what they came to.
import { type Command, Option } from 'commander'
import type { z } from 'zod'
import { paymentsClose } from '../../tools/payments-close.ts'
import { paymentsList } from '../../tools/payments-list.ts'
import { paymentsReconcile } from '../../tools/payments-reconcile.ts'
import { paymentsRevenue } from '../../tools/payments-revenue.ts'
import { paymentsShow } from '../../tools/payments-show.ts'
import { type Client, connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import {
  addConnectionOptions,
  addPageOptions,
  addTableOptions,
  type ConnectionOptions,
  type PageOptions,
} from './options.ts'
import { formatRecord, formatValue, printJson, printLine, printPage, printTable, type Row } from './output.ts'
import { addPaymentFilter, filterOf, type PaymentFilterOptions } from './payment-filter.ts'
import { patiently } from './patience.ts'
import { startProgress } from './progress.ts'
import type { TableOptions } from './table.ts'

const COLUMNS = ['claim_id', 'created_at', 'state', 'amount', 'network', 'tool', 'payer', 'reason']
const REFUND_COLUMNS = [
  'refund_id',
  'state',
  'amount_atomic',
  'reference',
  'reason',
  'transaction',
  'failure',
]
const REVENUE_COLUMNS = ['of', 'network', 'payments', 'settled', 'refunded', 'net', 'test_money', 'asset']
const LOOKED_COLUMNS = ['claim_id', 'was', 'state', 'chain', 'says']
const OPEN_STATES = ['pending', 'unknown'] as const
const PAGE = 500

type Life = z.output<typeof paymentsShow.output>
type Looked = z.output<typeof paymentsReconcile.output>

/** Adds the commands to `payments`. */
export function addPaymentRecordCommands(payments: Command): void {
  addPaymentFilter(addPageOptions(addConnectionOptions(payments.command('list'))))
    .description('list payments, newest first')
    .addHelpText(
      'after',
      `
Examples:
  agent-gateway payments list --state unknown
      What nobody knows the ending of; \`payments reconcile\` asks about it.
  agent-gateway payments list --payer 0x… --from 2026-11-01 --to 2026-11-30
  agent-gateway payments list --tool gateway.web.fetch --min 10000 --columns claim_id,amount,transaction`,
    )
    .action(async (options: ConnectionOptions & PageOptions & PaymentFilterOptions) => {
      const answer = await listPage(await connect(options), options)
      printPage(answer, answer.payments, COLUMNS, 'No payments.', options)
    })

  addTableOptions(addConnectionOptions(payments.command('show <claim-id>')))
    .description(
      'the whole life of a payment: terms, settlement, receipt, result, refunds, and what happened when',
    )
    .addHelpText('after', '\nExample:\n  agent-gateway payments show clm_…')
    .action(async (id: string, options: ConnectionOptions & TableOptions) => {
      printLife(await (await connect(options)).call(paymentsShow, { claim_id: id }), options)
    })

  addTableOptions(addConnectionOptions(payments.command('reconcile [claim-id]')))
    .description('ask the chains now about a payment, or about every one that is not decided')
    .option('--close', 'end one that nobody can decide as failed, on your word; takes --reason')
    .option('--reason <text>', 'how you know; kept with the payment and audited')
    .addHelpText(
      'after',
      `
The gateway asks by itself all the time; this asks now and says what was found. Without a CLAIM-ID it asks about all that are pending or
unknown. --close is refused where a chain of this gateway can tell, and as long as the authorization could still be used, because the
buyer would pay twice: six hours after it expires, or seven days after it was sent where it names no end. Exit code 1 where one is still
open.

Examples:
  agent-gateway payments reconcile
  agent-gateway payments reconcile clm_…
  agent-gateway payments reconcile clm_… --close --reason "in no block, and the facilitator has no record of it"`,
    )
    .action(reconcile)

  addTableOptions(addConnectionOptions(payments.command('revenue')))
    .description('what payments to this gateway came to: settled, refunded, net and number')
    .addOption(
      new Option('--by <what>', 'what a row sums up; days and months are UTC')
        .choices(paymentsRevenue.input.shape.by.unwrap().options)
        .default('day'),
    )
    .option('--from <day>', 'first day, e.g. 2026-01-01; default 30 days, or a year by month')
    .option('--to <day>', 'last day; default today')
    .addHelpText(
      'after',
      `
Refunds count on the day they settled. Payments for listings are whole: what sellers get of them is in \`payouts show\`.

Examples:
  agent-gateway payments revenue
  agent-gateway payments revenue --by tool --from 2026-01-01 --to 2026-03-31`,
    )
    .action(async (options: RevenueOptions) => {
      const { by, from, to } = options
      const answer = await (await connect(options)).call(paymentsRevenue, { by, from, to })
      if (options.json) return printJson(answer)
      const rows = answer.revenue.map(({ of, ...row }) => ({ [by]: of, of, ...row }))
      const columns = REVENUE_COLUMNS.map((column) => (column === 'of' ? by : column))
      printTable(
        rows,
        [...new Set(columns)],
        `Nothing from ${answer.from} to ${answer.to}. Another time: --from and --to.`,
        options,
      )
    })
}

interface RevenueOptions extends ConnectionOptions, TableOptions {
  readonly by: z.output<typeof paymentsRevenue.input>['by']
  readonly from?: string
  readonly to?: string
}

/** As many as were asked for: the gateway looks through so many at once and no more. */
async function listPage(
  client: Client,
  { limit, before: first, ...options }: PageOptions & PaymentFilterOptions,
): Promise<z.output<typeof paymentsList.output>> {
  const filter = filterOf(options)
  const payments: z.output<typeof paymentsList.output>['payments'] = []
  let next: string | null | undefined = first
  do {
    const before = next
    const page: z.output<typeof paymentsList.output> = await patiently(() =>
      client.call(paymentsList, {
        ...filter,
        limit: limit - payments.length,
        ...(before === undefined || before === null ? {} : { before }),
      }),
    )
    payments.push(...page.payments)
    next = page.next
  } while (next !== null && payments.length < limit)
  return { payments, next }
}

function printLife(life: Life, options: ConnectionOptions & TableOptions): void {
  if (options.json) return printJson(life)
  const { payment, refunds, events, ...more } = life
  const rest: Row = Object.fromEntries(
    Object.entries(more).flatMap(([name, value]) =>
      value !== null && typeof value === 'object'
        ? Object.entries(value).map(([member, inner]) => [`${name}.${member}`, inner])
        : [[name, value]],
    ),
  )
  printLine(formatRecord({ ...payment, ...rest }))
  printLine('')
  for (const { at, event, detail } of events) printLine(`${at}  ${event}  ${formatValue(detail)}`)
  if (refunds.length === 0) return
  printLine('')
  printTable(refunds, REFUND_COLUMNS, '', { ...(options.wide && { wide: true }) })
}

async function reconcile(
  id: string | undefined,
  options: ConnectionOptions & TableOptions & { close?: true; reason?: string },
): Promise<void> {
  const { close, reason } = options
  if (close && (id === undefined || reason === undefined))
    throw new CommandFailure(
      Exit.usage,
      'Closing is about one payment and takes a reason: payments reconcile CLAIM-ID --close --reason TEXT.',
    )
  if (!close && reason !== undefined)
    throw new CommandFailure(
      Exit.usage,
      '--reason goes with --close. Without both, the chain is asked and nothing else.',
    )
  const client = await connect(options)
  if (close && id !== undefined && reason !== undefined)
    return printLife(await client.call(paymentsClose, { claim_id: id, reason }), options)
  const found = await lookAt(client, id === undefined ? await openOnes(client) : [id], options)
  if (options.json) printJson(id === undefined ? { payments: found } : found[0])
  else printLooked(found, options)
  if (found.some(isOpen)) process.exitCode = Exit.failed
}

const isOpen = ({ payment: { state } }: Looked) => OPEN_STATES.some((open) => open === state)

async function openOnes(client: Client): Promise<readonly string[]> {
  const ids: string[] = []
  for (const state of OPEN_STATES) {
    let before: string | null = null
    do {
      const from: string | null = before
      const page: z.output<typeof paymentsList.output> = await patiently(() =>
        client.call(paymentsList, { state, limit: PAGE, ...(from === null ? {} : { before: from }) }),
      )
      ids.push(...page.payments.map(({ claim_id }) => claim_id))
      before = page.next
    } while (before !== null)
  }
  return ids
}

async function lookAt(
  client: Client,
  ids: readonly string[],
  { json }: ConnectionOptions,
): Promise<readonly Looked[]> {
  const progress = startProgress('payments asked about', { json })
  const found: Looked[] = []
  try {
    for (const claim_id of ids) {
      found.push(await patiently(() => client.call(paymentsReconcile, { claim_id })))
      progress.at(found.length, ids.length)
    }
  } finally {
    progress.end()
  }
  return found
}

function printLooked(found: readonly Looked[], options: TableOptions): void {
  const [only] = found
  if (found.length === 1 && only) {
    const { payment, was, chain, says } = only
    const { claim_id, state, transaction } = payment
    return printLine(`${formatRecord({ claim_id, was, state, chain, transaction })}\n\n${formatValue(says)}`)
  }
  const rows = found.map(({ payment, ...looked }) => ({ ...payment, ...looked }))
  printTable(rows, LOOKED_COLUMNS, 'Every payment is decided.', options)
}

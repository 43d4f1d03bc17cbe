// `payments export`: payments as a file that spreadsheets and scripts take, a page at a time.
import { type Command, Option } from 'commander'
import type { z } from 'zod'
import { PAYMENT_COLUMNS } from '../../schemas/payment-record.ts'
import { paymentsList } from '../../tools/payments-list.ts'
import { csvRow } from '../lib/csv.ts'
import { type Client, connect } from './client.ts'
import { CommandFailure } from './exit.ts'
import { type FileWriter, openWriter } from './file-writer.ts'
import { addConnectionOptions, type ConnectionOptions } from './options.ts'
import { addPaymentFilter, filterOf, type PaymentFilterOptions } from './payment-filter.ts'
import { patiently } from './patience.ts'
import { startProgress } from './progress.ts'
import { StdoutFailure } from './stdout.ts'

const FORMATS = ['csv', 'jsonl'] as const
type Format = (typeof FORMATS)[number]
const PAGE = 500

interface ExportOptions extends ConnectionOptions, PaymentFilterOptions {
  readonly format: Format
  readonly out?: string
  readonly before?: string
  readonly header: boolean
}

/** Adds `export` to `payments`. */
export function addPaymentExportCommand(payments: Command): void {
  addPaymentFilter(addConnectionOptions(payments.command('export')))
    .description('write payments as CSV or JSON lines, newest first')
    .addOption(
      new Option('--format <format>', 'CSV, or a JSON object a line').choices(FORMATS).default('csv'),
    )
    .option('--out <file>', 'instead of stdout; readable by its owner alone, and there only once it is whole')
    .option('--before <cursor>', 'go on where an export broke off: the cursor that it named')
    .option('--no-header', 'without the line of names, to be put behind another file')
    .addHelpText(
      'after',
      `
Columns: ${PAYMENT_COLUMNS.join(', ')}. They stay; new ones come at the end.
amount_atomic is the exact amount as a whole number, amount the same with six decimals. In CSV a text that a spreadsheet would take for a
formula begins with an apostrophe. It holds a page in memory, however many payments there are; what is paid meanwhile is not in it. Where
it breaks off, whole pages are kept in FILE.part (or were printed), and the cursor to go on with is named.

Examples:
  agent-gateway payments export --from 2026-11-01 --to 2026-11-30 --out november.csv
  agent-gateway payments export --format jsonl --state settled | jq -r .transaction`,
    )
    .action(exportPayments)
}

async function exportPayments(options: ExportOptions): Promise<void> {
  const client = await connect(options)
  const writer = await openWriter(options.out)
  const state = { rows: 0, next: options.before }
  try {
    await writePages(client, options, writer, state)
    await writer.finish()
  } catch (thrown) {
    // How many pages were read of a pipe, and where a page is cut, nobody knows: there is no place to go on from.
    if (state.rows === 0 || thrown instanceof StdoutFailure) throw await discarded(writer, thrown)
    throw await kept(writer, thrown, state)
  }
  if (options.out !== undefined && !options.json)
    process.stderr.write(`agent-gateway: ${state.rows} payments written to ${options.out}\n`)
}

/** @param state how many rows are written, and the cursor behind them */
async function writePages(
  client: Client,
  options: ExportOptions,
  writer: FileWriter,
  state: { rows: number; next: string | undefined },
): Promise<void> {
  const { format, json, header } = options
  const filter = filterOf(options)
  const progress = startProgress('payments written', { json })
  try {
    // The first page is read before anything is written: what cannot be read at all leaves nothing behind.
    for (let isFirst = true; ; isFirst = false) {
      const { next } = state
      const page: z.output<typeof paymentsList.output> = await patiently(() =>
        client.call(paymentsList, {
          ...filter,
          limit: PAGE,
          ...(next === undefined ? {} : { before: next }),
        }),
      )
      const names = isFirst && header && format === 'csv' ? csvRow(PAYMENT_COLUMNS) : ''
      await writer.write(names + page.payments.map((payment) => lineOf(payment, format)).join(''))
      state.rows += page.payments.length
      progress.at(state.rows)
      if (page.next === null) return
      state.next = page.next
    }
  } finally {
    progress.end()
  }
}

function lineOf(payment: z.output<typeof paymentsList.output>['payments'][number], format: Format): string {
  const values = PAYMENT_COLUMNS.map((column) => payment[column])
  if (format === 'csv') return csvRow(values)
  return `${JSON.stringify(Object.fromEntries(PAYMENT_COLUMNS.map((column, at) => [column, values[at]])))}\n`
}

async function discarded(writer: FileWriter, thrown: unknown): Promise<unknown> {
  await writer.discard()
  return thrown
}

async function kept(
  writer: FileWriter,
  thrown: unknown,
  { rows, next }: { rows: number; next: string | undefined },
): Promise<unknown> {
  const part = await writer.keep()
  if (!(thrown instanceof CommandFailure) || next === undefined) return thrown
  const where = part === undefined ? 'were printed' : `are in ${part}`
  return new CommandFailure(
    thrown.exitCode,
    `${thrown.message}\n${rows} payments ${where}. The rest, into another file: payments export … --no-header --before ${next}`,
    thrown.problem && { ...thrown.problem, rows, next, part: part ?? null },
  )
}

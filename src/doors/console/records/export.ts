// A table as a file: comma-separated values, or a JSON object a line. It is written as it is read, no faster than it is taken, so that a
// file of any length takes the memory of a page; what goes wrong in the middle ends the download instead of cutting it short unseen.
import { GatewayError } from '../../../core/errors.ts'
import { csvRow } from '../../../lib/csv.ts'
import type { SignedInRequest } from '../ports.ts'
import { drained } from './download.ts'

export const FORMATS = ['csv', 'jsonl'] as const
export type Format = (typeof FORMATS)[number]
type Fields = Readonly<Record<string, unknown>>

const TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/x-ndjson; charset=utf-8',
} satisfies Record<Format, string>

/** Rows that are read at once. */
export const EXPORT_ROWS = 500
/** Files that are written at once, of everybody: each keeps the store busy. */
const MOST_AT_ONCE = 4
/** Of one account: whoever takes a file slowly holds up nobody else's. */
const MOST_OF_ACCOUNT = 2
/** Accounts of the files that are being written, one entry for each. */
const running: string[] = []

/**
 * Sends the file as the answer to the form.
 * @param columns members of each row, in the order of the file
 * @throws {GatewayError} request_invalid, rate_limited
 */
export async function sendFile<C extends string>(
  {
    form,
    request,
    name,
    columns,
  }: {
    readonly form: URLSearchParams
    readonly request: SignedInRequest
    /** Of the file, without its ending. */
    readonly name: string
    readonly columns: readonly C[]
  },
  rows: AsyncIterable<readonly Readonly<Record<C, unknown>>[]>,
): Promise<{ goTo: string }> {
  const format = FORMATS.find((known) => known === form.get('format'))
  if (!format) throw new GatewayError('request_invalid', 'A table leaves as `csv` or as `jsonl`.')
  const { accountId } = request.signedIn
  if (running.length >= MOST_AT_ONCE || running.filter((its) => its === accountId).length >= MOST_OF_ACCOUNT)
    throw new GatewayError('rate_limited', 'Several files are being written already. Try again in a moment.')
  running.push(accountId)
  try {
    await write({ request, name, columns, format }, rows)
  } finally {
    running.splice(running.indexOf(accountId), 1)
  }
  // The answer is sent; nobody goes anywhere.
  return { goTo: '' }
}

async function write<C extends string>(
  {
    request,
    name,
    columns,
    format,
  }: {
    readonly request: SignedInRequest
    readonly name: string
    readonly columns: readonly C[]
    readonly format: Format
  },
  rows: AsyncIterable<readonly Readonly<Record<C, unknown>>[]>,
): Promise<void> {
  const { res } = request.exchange
  const day = new Date(request.console.now()).toISOString().slice(0, 10)
  const lineOf = (row: Fields) =>
    format === 'csv'
      ? csvRow(columns.map((column) => toCell(row[column])))
      : `${JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column] ?? null])))}\n`
  const iterator = rows[Symbol.asyncIterator]()
  // What cannot be read at all is a refusal that the page shows.
  let page = await iterator.next()
  res.writeHead(200, {
    'content-type': TYPES[format],
    'content-disposition': `attachment; filename="${name}-${day}.${format}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-request-id': request.visitor.requestId,
  })
  try {
    if (format === 'csv') res.write(csvRow(columns))
    while (!page.done && !res.destroyed) {
      if (!res.write(page.value.map(lineOf).join(''))) await drained(res)
      page = await iterator.next()
    }
    if (!res.destroyed) res.end()
  } catch (thrown) {
    request.console.log.error({ err: thrown, request_id: request.visitor.requestId }, 'a file was cut')
    res.destroy()
  } finally {
    await iterator.return?.()
  }
}

const toCell = (value: unknown): string | number | null =>
  value === null || value === undefined
    ? null
    : typeof value === 'string' || typeof value === 'number'
      ? value
      : JSON.stringify(value)

// `audit`: reading the audit log, keeping it elsewhere, and proving that nothing in it was changed or removed.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Command, Option } from 'commander'
import type { z } from 'zod'
import { auditEvents } from '../../tools/audit-events.ts'
import {
  type AuditFault,
  type AuditVerdict,
  readOpening,
  type SignedPlace,
  verifyHead,
  verifyLines,
} from '../audit/verify.ts'
import { EXPORT_PAGE, exportLines } from '../audit/export.ts'
import { isObject } from '../lib/json.ts'
import type { KeyDocument } from '../receipts/types.ts'
import { type Client, connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { type FileWriter, openWriter } from './file-writer.ts'
import { addConnectionOptions, addTableOptions, type ConnectionOptions, parseInteger } from './options.ts'
import { formatValue, printJson, printLine, printTable } from './output.ts'
import { patiently } from './patience.ts'
import { startProgress } from './progress.ts'
import { COMPACT_JWS, KEYS_PATH, parseJsonOrUndefined, readKeys } from './published-keys.ts'
import type { TableOptions } from './table.ts'

type Page = z.output<typeof auditEvents.output>
type Of = 'account' | 'installation'
type ReadOptions = ConnectionOptions & { of: Of; after: number }
type VerifyOptions = ConnectionOptions & { keys?: string; witness?: readonly string[] }

/** Characters that are written at once. */
const PIECE = 64 * 1024
const COLUMNS = ['seq', 'at', 'event', 'subject', 'actor', 'detail']

/** What is wrong with an export, for the person who was handed it. */
const WHY: Record<AuditFault, string> = {
  not_an_export: 'its first line is not that of an export (`agent-gateway audit export` writes one)',
  line_malformed:
    'a line is neither an event nor a signed head as an export writes it: it was changed, or says something twice',
  event_changed: 'an event was changed: its hash does not fit what it says',
  event_missing: 'an event was removed',
  event_out_of_order: 'events changed places, or one is there twice',
  event_of_another_chain: 'an event belongs to another account',
  beginning_missing: 'the first events are not there',
  head_invalid: 'a signed head does not verify',
  head_mismatch: 'the gateway signed another event at this place: the events were written anew',
  end_missing: 'events at the end were removed: the gateway signed for more',
  end_unsigned:
    'no signed head covers the last event: the end of the file was removed, or the keys are not those that signed',
}

const addReadOptions = (command: Command): Command =>
  addConnectionOptions(command)
    .addOption(
      new Option('--of <chain>', 'your account, or what belongs to none (administrators)')
        .choices(['account', 'installation'])
        .default('account'),
    )
    .option('--after <seq>', 'events behind this one', parseInteger(0, Number.MAX_SAFE_INTEGER), 0)

/** Adds `audit list`, `export` and `verify`. */
export function addAuditCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('security events, in a chain that shows what was changed or removed')

  addTableOptions(addReadOptions(audit.command('list')))
    .description('list events, oldest first')
    .option('--limit <number>', 'at most this many', parseInteger(1, EXPORT_PAGE), 100)
    .action(listEvents)

  addReadOptions(audit.command('export'))
    .description('write every event and signed head as JSON lines, with a fresh head at the end')
    .option('--out <file>', 'instead of stdout; readable by its owner alone, and there only once it is whole')
    .option('--verify', 'check the file when it is written, with the keys that the gateway publishes')
    .addHelpText(
      'after',
      `
Keep exports where whoever runs the database cannot reach them: that the end of the log is missing shows only against a head that is
kept elsewhere. Each is a witness for the next one (audit verify --witness).

It holds a page in memory, however long the log is. A file that is there already is never replaced, and one that breaks off leaves nothing
behind: run it again. --after SEQ goes on behind an earlier export, which is then its witness.

Examples, every night:
  agent-gateway audit export --out audit-$(date +%F).jsonl --verify
  agent-gateway audit export --of installation --after 4711 --out installation-$(date +%F).jsonl`,
    )
    .action(exportEvents)

  addConnectionOptions(audit.command('verify <file>'))
    .description('check that nothing in an export was changed, removed, reordered or cut off')
    .option('--keys <file>', `published keys (JWKS) saved from ${KEYS_PATH}: verifies offline`)
    .option(
      '--witness <file...>',
      'earlier exports, signed heads, or logs of the gateway (their lines audit_head): the export must hold what the gateway signed then',
    )
    .addHelpText(
      'after',
      `
- reads stdin. Without --keys the keys are fetched from the gateway; no service key is sent.
Exit code 0: it verifies. 1: it does not, and what is wrong where is printed.

Example:
  agent-gateway audit verify audit-2026-11-22.jsonl --keys keys.json --witness audit-2026-11-21.jsonl`,
    )
    .action(verifyFile)
}

async function listEvents(options: ReadOptions & TableOptions & { limit: number }): Promise<void> {
  const { of, after, limit } = options
  const page = await (await connect(options)).call(auditEvents, { of, after, limit })
  if (options.json) return printJson(page)
  const rows = page.events.map(({ subject, actor, detail, ...event }) => ({
    ...event,
    subject: subject && `${subject.type} ${subject.id}`,
    actor: [actor.kind, actor.id, actor.address].filter(Boolean).join(' '),
    detail: Object.entries(detail)
      .map(([name, value]) => `${name}=${formatValue(value)}`)
      .join(' '),
  }))
  printTable(rows, COLUMNS, 'No events.', options)
  if (page.next !== null) printLine(`\nmore: --after ${page.next}`)
  warnIfBroken(page)
}

function warnIfBroken({ intact }: Pick<Page, 'intact'>): void {
  if (!intact)
    process.stderr.write(
      'agent-gateway: the gateway itself finds that stored events were changed or removed. Export the log, verify it against an ' +
        'earlier export, and restore the database from a backup.\n',
    )
}

type ExportOptions = ReadOptions & { out?: string; verify?: true }

async function exportEvents(options: ExportOptions): Promise<void> {
  const { out, verify, ...read } = options
  if (verify && out === undefined)
    throw new CommandFailure(Exit.usage, 'Name the file that is verified afterwards: --out FILE.')
  const client = await connect(read)
  const writer = await openWriter(out)
  try {
    const { lines, last } = await writeExport(client, read, writer)
    await writer.finish()
    if (out !== undefined)
      process.stderr.write(
        `agent-gateway: ${lines} lines written to ${out}; the next export may begin behind them: --after ${last}\n`,
      )
  } catch (thrown) {
    await writer.discard()
    throw thrown
  }
  if (out !== undefined && verify) await verifyFile(out, read)
}

/** Holds a page of events at a time. @returns how many lines, and the last event */
async function writeExport(
  client: Client,
  { of, after, json }: ReadOptions,
  writer: FileWriter,
): Promise<{ lines: number; last: number }> {
  const progress = startProgress('audit events read', { json })
  let [lines, last, isIntact, piece] = [0, after, true, '']
  const read = (from: { readonly after: number; readonly limit: number }) =>
    patiently(() => client.call(auditEvents, { of, ...from }))
  const onPage = (page: { readonly last: number; readonly intact: boolean }) => {
    isIntact &&= page.intact
    last = page.last
    progress.at(last - after)
  }
  try {
    for await (const line of exportLines(read, { gateway: client.url, after, onPage })) {
      lines++
      piece += `${line}\n`
      if (piece.length < PIECE) continue
      await writer.write(piece)
      piece = ''
    }
    await writer.write(piece)
  } finally {
    progress.end()
  }
  warnIfBroken({ intact: isIntact })
  return { lines, last }
}

/** The lines of a file, or of stdin, one after the other. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const input = file === '-' ? process.stdin : createReadStream(file, 'utf8')
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      if (line.trim() !== '') yield line
  } catch {
    throw new CommandFailure(
      Exit.usage,
      `${file} cannot be read: it does not exist, or this user may not read it.`,
    )
  }
}

async function verifyFile(file: string, options: VerifyOptions): Promise<void> {
  const keys = await readKeys(options)
  const heads = new Map<string, readonly SignedPlace[]>()
  for (const witness of options.witness ?? []) heads.set(witness, await readWitness(witness, keys))
  const lines = linesOf(file)
  const { value: opening } = await lines.next()
  const chain = readOpening(opening ?? '')?.chain
  const witnesses = [...heads].flatMap(([witness, places]) => ofChain(chain, witness, places))
  const verdict = await verifyLines(withFirst(opening, lines), keys, witnesses)
  if (!verdict.ok) throw refuse(file, verdict)
  const signed = new Date(verdict.signedAt * 1000).toISOString()
  if (options.json)
    return printJson({ verified: true, ...verdict, ok: undefined, witnesses: witnesses.length })
  printLine(
    `This audit log verifies: ${verdict.events} events of ${verdict.chain}, none changed or missing from event ${verdict.after + 1} up to ` +
      `event ${verdict.seq}, for which key ${verdict.kid} signed at ${signed}.`,
  )
  if (!verdict.isBeginningWitnessed)
    printLine(
      `What came before event ${verdict.after + 1} is not shown: give the export that ends there with --witness.`,
    )
  const held = witnesses.filter(({ seq }) => seq >= verdict.after).length
  if (witnesses.length > 0) printLine(`It holds what ${held} heads of the witnesses say.`)
  else
    printLine(
      'Without --witness nobody can tell whether events were removed at the end before this file was written.',
    )
  if (verdict.ignoredHeads > 0)
    printLine(
      `${verdict.ignoredHeads} heads prove nothing: their key was revoked, or retired before they were signed.`,
    )
}

async function* withFirst(first: string | undefined, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first !== undefined) yield first
  yield* rest
}

/**
 * The heads that speak of a chain: a log of the gateway has those of all.
 * @param chain undefined where the file is no export, which is said when it is judged
 */
function ofChain(
  chain: string | undefined,
  witness: string,
  places: readonly SignedPlace[],
): readonly SignedPlace[] {
  const own = places.filter((place) => place.chain === chain)
  if (own.length > 0 || chain === undefined) return own
  const others = [...new Set(places.map((place) => place.chain))]
  const named = others.length > 3 ? `${others.slice(0, 3).join(', ')} and others` : others.join(', ')
  throw new CommandFailure(
    Exit.usage,
    `${witness} is no witness of this log: it has heads of ${named}, and the export is of ${chain}. Name an earlier export of the ` +
      'same log, or leave --witness out.',
  )
}

function refuse(file: string, verdict: Extract<AuditVerdict, { ok: false }>): CommandFailure {
  const { fault, line, seq, detail } = verdict
  const place = [line !== undefined && `line ${line}`, seq !== undefined && `event ${seq}`].filter(Boolean)
  const where = place.length > 0 ? ` (${place.join(', ')})` : ''
  const more = detail === undefined ? '' : ` [${detail}]`
  return new CommandFailure(
    Exit.failed,
    `${file} does NOT verify: ${WHY[fault]}${where}${more}. Keep it, and compare it with earlier exports.`,
    {
      verified: false,
      fault,
      line: line ?? null,
      seq: seq ?? null,
      detail: WHY[fault],
    },
  )
}

/**
 * The places that a file says were signed: an export, signed heads, one a line, or the log of a gateway, in which other lines stand between
 * them.
 * @throws {CommandFailure} where a head does not verify, or there is none
 */
export async function readWitness(file: string, keys: KeyDocument): Promise<SignedPlace[]> {
  const places: SignedPlace[] = []
  for await (const line of linesOf(file)) {
    const document = parseJsonOrUndefined(line)
    const jws = isObject(document) ? document['jws'] : COMPACT_JWS.exec(line.trim())?.[0]
    if (typeof jws !== 'string' || jws === '') continue
    const verdict = await verifyHead(jws, keys)
    if (verdict.ok) places.push(verdict.place)
    else if (!verdict.isWorthless)
      throw new CommandFailure(
        Exit.failed,
        `${file} is no witness: a head in it does not verify (${verdict.reason}). Name another export, or leave --witness out.`,
      )
  }
  if (places.length > 0) return places
  throw new CommandFailure(
    Exit.usage,
    `${file} holds no signed head that still proves something. Name another export, or leave --witness out.`,
  )
}

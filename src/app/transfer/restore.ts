// A restore: what is asked of the file, the keys and the place before anything is written, and what holds afterwards. All of it becomes the database at
// once, or nothing does.
import { basename } from 'node:path'
import type { Config } from '../../core/config.ts'
import { isObject } from '../../lib/json.ts'
import { type Fault, noFault } from '../../lib/fault-points.ts'
import { WINDOW_MS } from '../../payments/reorganisations.ts'
import { TABLE_VERSION } from '../../store/migrations.ts'
import {
  countLiving,
  countSettledSince,
  type Ended,
  type EndedOf,
  endWhatWorksOnce,
  type Living,
  noteArrival,
  revokeTokens,
} from '../../store/transfer/after-restore.ts'
import { type BackupHeader, readBackupFile, type Tallied } from '../../store/transfer/backup-file.ts'
import { carryFile, checkLoaded, findImbalances, openSink } from '../../store/transfer/carry.ts'
import { TransferFault } from '../../store/transfer/ports.ts'
import { tallyOf } from '../../store/transfer/tally.ts'
import { hashToken } from '../../lib/tokens.ts'
import { operatorKeyFile, readKey } from '../bootstrap.ts'
import { describeKey, examineKeys, type KeyFinding } from './keys.ts'
import { type ReceiptSample, sampleReceipts } from './receipts.ts'

/** Of many things that are wrong, so many are named. */
const NAMED = 3

/** How far it is, for people: the phase, and rows of about so many. */
export type OnPhase = (phase: string, rows: number, total: number | null) => void

/** What was done so that nothing happens twice, because data of before is in use again. */
export interface Aftermath {
  readonly ended: Ended
  readonly living: Living
  /** Payments that were settled so shortly before that a reorganisation may have taken them back since. */
  readonly settledLately: number
  /** Sellers are paid by hand until the operator has looked. */
  readonly payoutsHeld: boolean
}

export interface RestoreReport extends Aftermath {
  readonly header: BackupHeader
  readonly engine: 'sqlite' | 'postgres'
  readonly rows: number
  readonly tables: number
  readonly receipts: ReceiptSample
  /** Key files that are not there, of those that it goes without. */
  readonly keys: readonly KeyFinding[]
  /** What was wrong with the data already when it was backed up. */
  readonly findings: readonly string[]
}

/**
 * @param options.acceptFindings goes on where balances or receipts were wrong in the database that was backed up
 * @param options.revokeTokens ends every service key but the operator's own, and every capability
 * @throws {TransferFault} with what stands in the way; {ConfigError} where a gateway runs on the data directory
 */
export async function restore(options: {
  readonly config: Config
  readonly file: string
  readonly now: () => number
  readonly fault?: Fault
  readonly acceptFindings?: boolean | undefined
  readonly revokeTokens?: boolean | undefined
  readonly onPhase?: OnPhase | undefined
}): Promise<RestoreReport> {
  const { config, file, now, fault = noFault, acceptFindings = false, onPhase = () => {} } = options
  const keptKey = options.revokeTokens ? await readOperatorKey(config) : undefined
  const { header, tables } = await readWhole(file, config, onPhase)
  const keys = await examineKeys(header.keys, config)
  refuseWithoutKeys(keys)

  const total = rowsOf(tables)
  const sink = await openSink(config, header.schema_version, now())
  try {
    const carried = await carryFile(file, sink, (rows) => onPhase('writing', rows, total))
    onPhase('comparing what was written', total, total)
    await checkLoaded(sink, carried)
    const imbalances = await findImbalances(sink)
    await sink.upgrade(now())
    const receipts = await sampleReceipts(sink)
    const findings = [...imbalances, ...describeBroken(receipts.broken)]
    if (findings.length > 0 && !acceptFindings)
      throw new TransferFault(
        `The backup is what was in the database, and that was wrong: ${findings.join('; ')}. Nothing was kept. Take an earlier backup, or restore this one ` +
          'all the same with --accept-findings.',
      )
    const at = now()
    const of: EndedOf = new Map()
    const ended = await sink.run(() => endWhatWorksOnce(at, of))
    const revoked =
      keptKey === undefined ? undefined : await sink.run(() => revokeTokens(hashToken(keptKey), at, of))
    if (keptKey !== undefined && !revoked)
      throw new TransferFault(
        'The operator key is no live key of this backup, and --revoke-tokens would leave none. Name one that is in GATEWAY_OPERATOR_KEY; nothing was kept.',
      )
    const living = await sink.run(() => countLiving(at))
    const settledLately = await sink.run(() => countSettledSince(Date.parse(header.taken_at) - WINDOW_MS))
    const payoutsHeld = living.sellers > 0
    if (payoutsHeld) await sink.replaceDocument('market', payByHand)
    const detail = { taken_at: header.taken_at, gateway: header.gateway, rows: total, ...ended, ...revoked }
    await sink.run(
      noteArrival({
        now: at,
        event: 'backup.restored',
        id: basename(file),
        detail,
        of: { ended: of, since: header.taken_at },
      }),
    )
    await fault.at('after_rows_loaded')
    onPhase('keeping it', total, total)
    await sink.commit()
    const { engine } = sink
    return {
      header,
      engine,
      rows: total,
      tables: Object.keys(tables).length,
      receipts,
      keys,
      findings,
      ended,
      living,
      settledLately,
      payoutsHeld,
    }
  } finally {
    await sink.close()
  }
}

async function readOperatorKey(config: Config): Promise<string> {
  const key = config.operatorKey ?? (await readKey(operatorKeyFile(config.dataDir)))
  if (key === undefined)
    throw new TransferFault(
      `--revoke-tokens leaves the operator's own key alone, and there is none: set GATEWAY_OPERATOR_KEY, or put operator.key into ${config.dataDir}.`,
    )
  return key
}

/** Reads all of it once before anything is written, since a file may be damaged at its end. */
async function readWhole(file: string, config: Config, onPhase: OnPhase) {
  let before = 0
  return readBackupFile(file, {
    header(header) {
      refuseForeign(header, file, config)
    },
    async table(_table, _columns, pieces) {
      const { rows } = await tallyOf(pieces)
      before += rows
      onPhase('reading the file', before, null)
    },
  })
}

export const rowsOf = (tables: Tallied): number =>
  Object.values(tables).reduce((sum, { rows }) => sum + rows, 0)

function refuseForeign(header: BackupHeader, file: string, config: Config): void {
  if (header.schema_version > TABLE_VERSION)
    throw new TransferFault(
      `${file} was written by release ${header.gateway} (table version ${header.schema_version}), and this release knows ${TABLE_VERSION}: restore it with that release ` +
        'or a newer one.',
    )
  if (header.mode !== null && header.mode !== config.mode)
    throw new TransferFault(
      `${file} is of a gateway in ${header.mode} mode, and GATEWAY_MODE is ${config.mode}: its keys, credits and receipts are of that mode. Set ` +
        `GATEWAY_MODE=${header.mode}.`,
    )
}

function refuseWithoutKeys(keys: readonly KeyFinding[]): void {
  const needed = keys.filter(({ isNeeded }) => isNeeded)
  if (needed.length === 0) return
  throw new TransferFault(
    [
      'Of the key files that this data needs some are missing or cannot be used. Nothing was written.',
      ...needed.map((key) => `  ${describeKey(key)}`),
    ].join('\n'),
  )
}

function describeBroken(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return []
  const named = `${ids.slice(0, NAMED).join(', ')}${ids.length > NAMED ? ' …' : ''}`
  return [`of a sample of receipts ${ids.length} do not verify with the published keys (${named})`]
}

/** Nobody knows here which sellers were paid after the backup, and a schedule would pay them again. */
export function payByHand(json: string | undefined): string {
  const settings = parse(json)
  const payouts = isObject(settings['payouts']) ? settings['payouts'] : {}
  return `${JSON.stringify({ ...settings, payouts: { ...payouts, schedule: 'manual' } }, null, 2)}\n`
}

/** A document that a hand edit broke counted for nothing before, either. */
function parse(json: string | undefined): Record<string, unknown> {
  try {
    const document: unknown = JSON.parse(json ?? '{}')
    return isObject(document) ? document : {}
  } catch {
    return {}
  }
}

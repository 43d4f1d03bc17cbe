// Moves the data of a directory to PostgreSQL. Two gateways on two copies would each take payments, so the directory says from the first row on that its
// data is elsewhere, or may be; it is otherwise left as it is.
import { randomUUID } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../core/config.ts'
import { type Fault, noFault } from '../../lib/fault-points.ts'
import { isObject } from '../../lib/json.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import { WINDOW_MS } from '../../payments/reorganisations.ts'
import type { DocumentName } from '../../store/documents/names.ts'
import type { DatabaseAddress } from '../../store/postgres/pool.ts'
import { DirectoryInUse, lockDirectory } from '../../store/sqlite/lock.ts'
import { type Moved, movedFile, readMoved } from '../../store/sqlite/moved.ts'
import { refuseUnfinished } from '../../store/sqlite/open-failure.ts'
import {
  countLiving,
  countSettledSince,
  endWhatWorksOnce,
  type EndedOf,
  noteArrival,
} from '../../store/transfer/after-restore.ts'
import { carry, checkLoaded, findImbalances, openSink, openSource } from '../../store/transfer/carry.ts'
import { TransferFault } from '../../store/transfer/ports.ts'
import { changeInPlace } from '../../store/transfer/sqlite-in-place.ts'
import { type Aftermath, type OnPhase, payByHand, rowsOf } from './restore.ts'

export interface MigrationReport {
  /** Host, port and name of the database; no password. */
  readonly to: string
  /** Whether an earlier run had carried everything and was cut off after that. */
  readonly wasThere: boolean
  readonly rows: number
  readonly tables: number
  readonly seconds: number
  /** What was wrong with the data before, and is carried as it was. */
  readonly findings: readonly string[]
}

/** By this document a database says from which move its data came. */
const ORIGIN: DocumentName = 'moved-from'

/**
 * Carries everything, compares it, and marks the directory. A run that is cut off is begun anew by the next one.
 * @throws {TransferFault} with what stands in the way
 */
export async function migrateToPostgres(options: {
  readonly config: Pick<Config, 'dataDir'>
  readonly to: DatabaseAddress
  readonly now: () => number
  readonly fault?: Fault
  readonly acceptFindings?: boolean | undefined
  readonly onPhase?: OnPhase | undefined
}): Promise<MigrationReport> {
  const { config, to, now, fault = noFault, acceptFindings = false, onPhase = () => {} } = options
  const { dataDir } = config
  const place = placeOf(to)
  const lock = lockStopped(dataDir)
  try {
    refuseUnfinished(dataDir)
    const before = readMoved(dataDir)
    refuseOther(before, dataDir, place)
    if (before && (await hasArrived(to, before.move_id))) {
      await mark(dataDir, { ...before, state: 'moved' })
      return { to: place, wasThere: true, rows: 0, tables: 0, seconds: 0, findings: [] }
    }
    const startedAt = performance.now()
    const source = await openSource({ dataDir, databaseUrl: undefined })
    const note: Moved = {
      state: 'begun',
      move_id: before?.move_id ?? randomUUID(),
      to: place,
      at: toTimestamp(now()),
    }
    let isDecided = false
    try {
      await mark(dataDir, note)
      const config = { dataDir, databaseUrl: to.url, databaseDirectUrl: to.directUrl }
      const sink = await openSink(config, source.schemaVersion, now())
      try {
        const total = source.size.rows
        const carried = await carry(source, sink, (rows) => onPhase('writing', rows, total))
        onPhase('comparing what was written', total, total)
        await checkLoaded(sink, carried)
        const findings = await findImbalances(sink)
        if (findings.length > 0 && !acceptFindings)
          throw new TransferFault(
            `The data is carried as it was, and that is wrong: ${findings.join('; ')}. Nothing was kept; see \`agent-gateway doctor\`, or move it all the same with --accept-findings.`,
          )
        await sink.upgrade(now())
        await sink.replaceDocument(
          ORIGIN,
          () => `${JSON.stringify({ move_id: note.move_id, at: note.at })}\n`,
        )
        const rows = rowsOf(carried)
        const tables = Object.keys(carried).length
        await sink.run(
          noteArrival({ now: now(), event: 'data.moved', id: note.move_id, detail: { rows, tables } }),
        )
        await fault.at('after_rows_loaded')
        // From here on only the database knows whether it has everything.
        isDecided = true
        await sink.commit()
        await fault.at('after_rows_committed')
        await mark(dataDir, { ...note, state: 'moved' })
        const seconds = (performance.now() - startedAt) / 1000
        return { to: place, wasThere: false, rows, tables, seconds, findings }
      } finally {
        await sink.close()
      }
    } catch (thrown) {
      if (!isDecided && !before) await rm(movedFile(dataDir), { force: true })
      throw thrown
    } finally {
      await source.close()
    }
  } finally {
    lock.release()
  }
}

export interface MoveBackReport {
  /** Where the data had gone. */
  readonly moved: Moved
  /** Undefined where it had not arrived there: nobody can have used it, and the copy is as it was. */
  readonly aftermath: Aftermath | undefined
}

/**
 * Lets a gateway start on the copy of the directory again. Whatever was done in PostgreSQL since is not in it, so it is treated like
 * a backup that is restored. The note goes last: until then no gateway starts, and the same may be done again.
 * @param options.to where the data went, if it is known; where only a beginning was noted, that database says whether it arrived
 * @throws {TransferFault} where the data had not gone, or the copy is no more
 */
export async function moveBack(options: {
  readonly config: Pick<Config, 'dataDir'>
  readonly to?: DatabaseAddress | undefined
  readonly now: () => number
  readonly fault?: Fault
}): Promise<MoveBackReport> {
  const { config, to, now, fault = noFault } = options
  const { dataDir } = config
  const lock = lockStopped(dataDir)
  try {
    const moved = readMoved(dataDir)
    if (!moved)
      throw new TransferFault(`The data of ${dataDir} was not moved: a gateway starts there as before.`)
    const mayBeUsed = await mayHaveArrived(moved, to)
    const aftermath = mayBeUsed ? await protectCopy(dataDir, moved, now(), fault) : undefined
    await rm(movedFile(dataDir))
    await syncFolder(dataDir)
    return { moved, aftermath }
  } finally {
    lock.release()
  }
}

/** Whether a gateway may have run on what the move carried. A database that does not answer says nothing, so it may. */
async function mayHaveArrived(moved: Moved, to: DatabaseAddress | undefined): Promise<boolean> {
  if (moved.state === 'moved' || !to || placeOf(to) !== moved.to) return true
  return hasArrived(to, moved.move_id).catch(() => true)
}

async function protectCopy(dataDir: string, moved: Moved, at: number, fault: Fault): Promise<Aftermath> {
  const done = await changeInPlace(dataDir, { now: at, fault }, function* () {
    const of: EndedOf = new Map()
    const ended = yield* endWhatWorksOnce(at, of)
    const living = yield* countLiving(at)
    const settledLately = yield* countSettledSince(Date.parse(moved.at) - WINDOW_MS)
    const detail = { to: moved.to, moved_at: moved.at, ...ended }
    yield* noteArrival({
      now: at,
      event: 'data.moved_back',
      id: moved.move_id,
      detail,
      of: { ended: of, since: moved.at },
    })()
    return { ended, living, settledLately }
  })
  await fault.at('after_rows_committed')
  const payoutsHeld = done.living.sellers > 0
  if (payoutsHeld) await holdPayouts(dataDir)
  return { ...done, payoutsHeld }
}

async function holdPayouts(dataDir: string): Promise<void> {
  const name = `${'market' satisfies DocumentName}.json`
  const json = await readFile(join(dataDir, name), 'utf8').catch((thrown: unknown) => {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw thrown
  })
  await writeWhole(join(dataDir, name), payByHand(json))
  await syncFolder(dataDir)
}

/** Host, port and name: all that may be shown of the address. */
function placeOf({ url }: DatabaseAddress): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port || 5432}${pathname}`
}

function lockStopped(dataDir: string): { release(): void } {
  try {
    return lockDirectory(dataDir)
  } catch (thrown) {
    if (!(thrown instanceof DirectoryInUse)) throw thrown
    throw new TransferFault(
      `A gateway runs on ${dataDir}. Stop it first: what it wrote while its data moves would be lost.`,
    )
  }
}

function refuseOther(moved: Moved | undefined, dataDir: string, place: string): void {
  if (!moved) return
  if (moved.state === 'moved')
    throw new TransferFault(
      `The data of ${dataDir} was moved to ${moved.to} on ${moved.at} already. Start the gateway with that database; \`agent-gateway migrate --back\` makes this ` +
        'copy usable again.',
    )
  if (moved.to !== place)
    throw new TransferFault(
      `Moving the data of ${dataDir} to ${moved.to} was begun on ${moved.at} and did not end: all of it may be there. Run this again with that database, or ` +
        'decide for this copy with `agent-gateway migrate --back`.',
    )
}

/** Whether the database holds what an earlier run of this move carried there. */
async function hasArrived(to: DatabaseAddress, moveId: string): Promise<boolean> {
  const { connectForTransfer, queryRows } = await import('../../store/transfer/postgres-rows.ts')
  const client = await connectForTransfer(to)
  try {
    const [tables] = await queryRows<{ there: boolean }>(
      client,
      `SELECT to_regclass('documents') IS NOT NULL AS there`,
    )
    if (!tables?.there) return false
    const [row] = await queryRows<{ json: string }>(
      client,
      `SELECT json FROM documents WHERE name = '${ORIGIN}'`,
    )
    const origin: unknown = JSON.parse(row?.json ?? 'null')
    return isObject(origin) && origin['move_id'] === moveId
  } finally {
    await client.end()
  }
}

async function mark(dataDir: string, moved: Moved): Promise<void> {
  await writeWhole(movedFile(dataDir), `${JSON.stringify(moved)}\n`)
  await syncFolder(dataDir)
}

/** Either the old file or the new one is there after a crash. */
async function writeWhole(file: string, text: string): Promise<void> {
  const handle = await open(`${file}.tmp`, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.tmp`, file)
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

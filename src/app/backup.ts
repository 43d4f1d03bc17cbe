// A backup of everything that a gateway keeps, but for its keys: the database as it is committed at one moment, and the documents. It is made in the
// data directory and taken from there. Keys are backed up apart, because together with them a copy is all that a thief needs.
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Backup, BackupMade } from '../../tools/services.ts'
import { API_VERSION, type Config } from '../core/config.ts'
import { GatewayError } from '../core/errors.ts'
import { type Actor, currentActor } from '../lib/acting.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { INSTALLATION_CHAIN } from '../store/ports/audit.ts'
import { backUpAside } from '../store/transfer/backup-thread.ts'
import { TransferFault } from '../store/transfer/ports.ts'
import { operatorKeyFile } from './bootstrap.ts'
import type { Platform } from './platform.ts'

type Parts = Pick<Platform, 'config' | 'store' | 'now'>

const NAME = /^backup-[0-9T-]+Z\.gz$/
/** Of this release, and of the ones before. */
const BACKUP = /^backup-[0-9T-]+Z\.(?:gz|tar)$/
/** What is being written, or was cut off, by this release or one before. */
const PART = /^(?:\.backup-[0-9T-]+Z\.gz\..+\.part|backup-[0-9T-]+Z\.tar\.(?:part|db))$/
/** A part is written to all the time: one that was not for so long is of a process that ended. */
const STALE_PART_MS = 60 * 60_000

/** `backup-2026-11-29T12-00-00Z.gz` */
export const backupName = (now: number): string =>
  `backup-${toTimestamp(now).slice(0, 19).replaceAll(':', '-')}Z.gz`

export function createBackup({ config, store, now }: Parts): Backup {
  const folder = join(config.dataDir, 'backups')

  const note = (event: string, file: string, detail: Record<string, string | number>, acting: Actor) =>
    store.appendAuditEvents(
      [{ chain: INSTALLATION_CHAIN, at: now(), event, subject: { type: 'backup', id: file }, detail }],
      acting,
    )

  return {
    async describe() {
      const database = join(config.dataDir, 'gateway.db')
      const sizes = await Promise.all([database, `${database}-wal`].map(sizeOf))
      return {
        keys: keyFiles(config),
        bytes: store.engine === 'postgres' ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
      }
    },

    async make(report, signal): Promise<BackupMade> {
      const at = now()
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const before = (await readdir(folder)).filter((name) => BACKUP.test(name))
      const name = freeName(at, before)
      await removeStaleParts(folder)
      try {
        let total: number | null = null
        const { bytes, sha256, rows } = await backUpAside(
          { config, origin: { gateway: API_VERSION, taken_at: toTimestamp(at) }, to: join(folder, name) },
          (done, about) => {
            total = about.bytes
            report(shareOf(done, about), total)
          },
          signal,
        )
        // Each is as large as the data, so the newest alone is kept. One that a replica made meanwhile is not among these.
        for (const older of before) await rm(join(folder, older), { force: true })
        if (total !== null) report(total, total)
        await note('backup.made', name, { bytes, sha256, rows }, currentActor())
        return { file: name, bytes, sha256, rows }
      } catch (thrown) {
        if (thrown instanceof TransferFault) throw new GatewayError('state_conflict', thrown.message)
        throw thrown
      }
    },

    async open(file, by) {
      const path = join(folder, file)
      const size = NAME.test(file) ? await sizeOf(path) : null
      if (size === null)
        throw new GatewayError('not_found', 'This backup is not there any more. Make another one.')
      await note('backup.downloaded', file, { bytes: size }, { kind: 'person', id: by, door: 'console' })
      return { size, content: createReadStream(path) }
    },
  }
}

/** The second of the name is one that no backup has yet. */
function freeName(at: number, taken: readonly string[]): string {
  const name = backupName(at)
  return taken.includes(name) ? freeName(at + 1000, taken) : name
}

/** Those of processes that live stay: replicas may share the folder. */
async function removeStaleParts(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((found) => PART.test(found))) {
    const part = join(folder, name)
    const written = await stat(part).catch(() => undefined)
    if (written && Date.now() - written.mtimeMs > STALE_PART_MS) await rm(part, { force: true })
  }
}

/** The bytes of the database that the rows so far stand for. */
const shareOf = (done: number, about: { readonly rows: number; readonly bytes: number }): number =>
  Math.floor(about.bytes * Math.min(1, done / Math.max(1, about.rows)))

/** What no backup holds, and no restore can do without. */
export function keyFiles(
  config: Pick<Config, 'authorities' | 'authorityKeyFile' | 'dataDir' | 'operatorKey'>,
): readonly string[] {
  const { authorities, authorityKeyFile, dataDir, operatorKey } = config
  return [
    ...(authorities.some(({ kind }) => kind === 'file') ? [authorityKeyFile] : []),
    join(dataDir, 'signing.jwk'),
    join(dataDir, 'derivation.jwk'),
    ...(operatorKey === undefined ? [operatorKeyFile(dataDir)] : []),
  ]
}

const sizeOf = (file: string): Promise<number | null> =>
  stat(file).then(
    ({ size }) => size,
    () => null,
  )

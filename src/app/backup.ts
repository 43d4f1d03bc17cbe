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
/** Of this release, of the ones before, and what was cut off. */
const OURS = /^\.?backup-[0-9T-]+Z\.(?:gz|tar)/

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
      const name = backupName(at)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // One that was cut off, and older ones: the newest is kept, since each is as large as the data.
      for (const old of await readdir(folder))
        if (OURS.test(old)) await rm(join(folder, old), { force: true })
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

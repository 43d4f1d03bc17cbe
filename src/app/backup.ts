// A copy of everything that a gateway on SQLite keeps, but for its keys: the database as it is committed at one moment, and the documents beside it.
// It is made in the data directory and taken from there. Keys are backed up apart, because together with them a copy is all that a thief needs.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Backup, BackupMade } from '../../tools/services.ts'
import { GatewayError } from '../core/errors.ts'
import type { Report } from '../core/jobs.ts'
import { type Actor, currentActor } from '../lib/acting.ts'
import { tar, type TarEntry } from '../lib/tar.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { INSTALLATION_CHAIN } from '../store/ports/audit.ts'
import { runAside } from '../store/sqlite/aside.ts'
import { operatorKeyFile } from './bootstrap.ts'
import type { Platform } from './platform.ts'

type Parts = Pick<Platform, 'config' | 'store' | 'now'>

/** Notes of a process, which say nothing to the next one. */
const NOTES = ['gateway.json']
const NAME = /^backup-[0-9T-]+Z\.tar$/
const LOOK_MS = 100

export function createBackup({ config, store, now }: Parts): Backup {
  const { dataDir } = config
  const folder = join(dataDir, 'backups')
  const database = join(dataDir, 'gateway.db')

  const note = (event: string, file: string, detail: Record<string, string | number>, acting: Actor) =>
    store.appendAuditEvents(
      [{ chain: INSTALLATION_CHAIN, at: now(), event, subject: { type: 'backup', id: file }, detail }],
      acting,
    )

  /** JSON that operators and the gateway keep beside the database. */
  async function documents(): Promise<readonly string[]> {
    const names = await readdir(dataDir)
    return names.filter((name) => name.endsWith('.json') && !NOTES.includes(name)).toSorted()
  }

  /** Copies, and says how much of the file there was is written. */
  async function copy(to: string, report: Report, signal: AbortSignal): Promise<void> {
    const { size: total } = await stat(database)
    const timer = setInterval(() => {
      stat(to).then(
        ({ size }) => report(Math.min(size, total), total),
        () => undefined,
      )
    }, LOOK_MS)
    try {
      await runAside({ task: 'copy', file: database, to }, signal)
    } finally {
      clearInterval(timer)
    }
    if ((await runAside({ task: 'check', file: to }, signal)) !== 'ok')
      throw new GatewayError(
        'state_conflict',
        'The copy is damaged, and so may be the database: ask the doctor.',
      )
  }

  return {
    engine: store.engine,

    async describe() {
      if (store.engine === 'postgres') return { documents: [], keys: keyFiles(), bytes: null }
      const sizes = await Promise.all([database, `${database}-wal`].map(sizeOf))
      return {
        documents: await documents(),
        keys: keyFiles(),
        bytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
      }
    },

    async make(report, signal): Promise<BackupMade> {
      if (store.engine === 'postgres')
        throw new GatewayError(
          'state_conflict',
          'PostgreSQL has backups of its own: use pg_dump or its archive.',
        )
      const at = toTimestamp(now())
      const name = `backup-${at.slice(0, 19).replaceAll(':', '-')}Z.tar`
      const [db, part] = [join(folder, `${name}.db`), join(folder, `${name}.part`)]
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // One that was cut off, and older ones: the newest is kept, since each is as large as the database.
      for (const old of await readdir(folder)) await rm(join(folder, old), { force: true })
      try {
        await copy(db, report, signal)
        const files = [db, ...(await documents()).map((file) => join(dataDir, file))]
        const entries = await Promise.all(
          files.map((file) => entryOf(file, file === db ? 'gateway.db' : basename(file))),
        )
        const hash = createHash('sha256')
        let bytes = 0
        await pipeline(
          Readable.from(
            (async function* () {
              for await (const piece of tar(entries)) {
                hash.update(piece)
                bytes += piece.length
                yield piece
              }
            })(),
          ),
          createWriteStream(part, { mode: 0o600, flush: true }),
          { signal },
        )
        await rename(part, join(folder, name))
        const made = {
          file: name,
          bytes,
          sha256: hash.digest('hex'),
          contains: entries.map((entry) => entry.name),
        }
        await note('backup.made', name, { bytes, sha256: made.sha256 }, currentActor())
        return made
      } finally {
        await Promise.all([db, part].map((file) => rm(file, { force: true })))
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

  /** What no backup holds, and no restore can do without. */
  function keyFiles(): readonly string[] {
    return [
      ...(config.authorities.some(({ kind }) => kind === 'file') ? [config.authorityKeyFile] : []),
      join(dataDir, 'signing.jwk'),
      join(dataDir, 'derivation.jwk'),
      ...(config.operatorKey === undefined ? [operatorKeyFile(dataDir)] : []),
    ]
  }
}

/** The database is streamed; a document is read now, so that it is as long as its header says. */
async function entryOf(file: string, name: string): Promise<TarEntry> {
  const { size, mtimeMs } = await stat(file)
  const mtime = mtimeMs / 1000
  if (name === 'gateway.db') return { name, size, mtime, content: createReadStream(file) }
  const content = await readFile(file)
  return { name, size: content.length, mtime, content: Readable.from([content]) }
}

const sizeOf = (file: string): Promise<number | null> =>
  stat(file).then(
    ({ size }) => size,
    () => null,
  )

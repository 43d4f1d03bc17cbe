// A real PgBouncer in front of a database, in transaction mode: a session is whoever's transaction asks next.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from './remove-folder.ts'
import { freePort } from './free-port.ts'
import { untilOpen } from './open-port.ts'

/** PgBouncer refuses root. */
const UNPRIVILEGED = 65534

export interface TestPgBouncer {
  /** The database, through it. */
  readonly url: string
  readonly stop: () => Promise<void>
}

/**
 * @param url the database itself
 * @param sessions sessions there, which all share
 * @param settings further lines of its file
 */
export async function startPgBouncer(
  url: string,
  sessions: number,
  settings: readonly string[] = [],
): Promise<TestPgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(url)
  const folder = await mkdtemp(join(tmpdir(), 'gateway-pgbouncer-'))
  const own = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    [
      '[databases]',
      `gateway = host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${username} password=${password}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${own}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${sessions}`,
      'max_client_conn = 200',
      ...settings,
    ].join('\n'),
  )
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const path of [folder, file]) await chown(path, UNPRIVILEGED, UNPRIVILEGED)
  const child = spawn('/usr/sbin/pgbouncer', [file], {
    ...(isRoot && { uid: UNPRIVILEGED, gid: UNPRIVILEGED }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-5000)))
  const gone = once(child, 'exit')
  try {
    await untilOpen(own, () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`)
    })
  } catch (thrown) {
    child.kill('SIGKILL')
    throw thrown
  }
  return {
    url: `postgres://${username}:unused@127.0.0.1:${own}/gateway`,
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGTERM')
        await gone
      }
      await removeFolder(folder)
    },
  }
}

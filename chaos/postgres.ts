// A PostgreSQL of one scene, with a supervisor as operators have one: it can be stopped in each of its ways, killed, paused, copied to a
// standby, and put on a file system of its own.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../test/support/free-port.ts'
import { clusterArguments, reachableBinaries, UNPRIVILEGED } from '../test/support/postgres.ts'
import { removeFolder } from '../test/support/remove-folder.ts'

const run = promisify(execFile)
const RESTART_MS = 500
const isRoot = process.getuid?.() === 0
const user = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}

export interface Cluster {
  readonly port: number
  /** Of the database `gateway`, as a role that owns it and is nothing else. */
  readonly url: string
  start(): Promise<void>
  /** `fast` ends sessions and writes everything out; `immediate` does neither, as a crash. It stays down. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Every process of it at once. It stays down. */
  kill(): Promise<void>
  pause(): void
  resume(): void
  /** As a superuser, in the database `gateway`. */
  query<T extends pg.QueryResultRow>(text: string): Promise<readonly T[]>
  /** Another server with a copy of this one, which follows it through `port`. */
  standby(port: number): Promise<Cluster>
  /** Makes a standby a server that takes writes. */
  promote(): Promise<void>
  close(): Promise<void>
}

export interface ClusterOptions {
  /** `name=value` */
  readonly settings?: readonly string[]
  /** Where its data is put; a temporary folder unless given. */
  readonly folder?: string
}

export async function createCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const binaries = await mkdtemp(join(tmpdir(), 'chaos-postgres-'))
  await chmod(binaries, 0o755)
  const bin = await reachableBinaries(binaries, user)
  const folder = options.folder ?? join(binaries, 'server')
  await mkdir(folder, { recursive: true })
  const data = join(folder, 'data')
  const password = randomUUID()
  const passwordFile = join(binaries, 'password')
  await writeFile(passwordFile, `${password}\n`, { mode: 0o644 })
  if (isRoot) await chown(folder, UNPRIVILEGED, UNPRIVILEGED)
  await run(
    join(bin, 'initdb'),
    [
      ...clusterArguments(data, passwordFile),
      // Small segments, so that small disks will do.
      '--wal-segsize=1',
    ],
    { ...user, cwd: folder },
  )
  const cluster = await clusterAt({
    bin,
    data,
    password,
    settings: ['min_wal_size=2MB', 'max_wal_size=32MB', ...(options.settings ?? [])],
    remove: () => removeFolder(binaries),
  })
  await cluster.start()
  const admin = new pg.Client({
    connectionString: `postgres://postgres:${password}@127.0.0.1:${cluster.port}/postgres`,
  })
  await admin.connect()
  await admin.query(`CREATE ROLE gateway LOGIN PASSWORD '${password}'`)
  await admin.query('CREATE DATABASE gateway OWNER gateway')
  await admin.end()
  return cluster
}

interface Place {
  readonly bin: string
  readonly data: string
  readonly password: string
  readonly settings: readonly string[]
  remove(): Promise<void>
}

async function clusterAt(place: Place): Promise<Cluster> {
  const { bin, data, password, settings, remove } = place
  const port = await freePort()
  const standbys: Cluster[] = []
  let server: ChildProcess | undefined
  let isWanted = false

  const settingsOfAll = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings]
  function launch(): ChildProcess {
    const flags = settingsOfAll.flatMap((setting) => ['-c', setting])
    const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
      ...user,
      cwd: data,
      stdio: 'ignore',
    })
    server = child
    child.once('exit', () => {
      if (server === child) server = undefined
      if (isWanted) setTimeout(() => isWanted && launch(), RESTART_MS)
    })
    return child
  }
  async function gone(signal: NodeJS.Signals): Promise<void> {
    isWanted = false
    if (!server) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    if (!server?.pid) return
    // The first one before its children, lest it replaces them.
    for (const pid of [server.pid, ...(await childrenOf(server.pid))])
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended by itself.
      }
  }
  const addressOf = (role: string, database: string) =>
    `postgres://${role}:${password}@127.0.0.1:${port}/${database}`
  async function query<T extends pg.QueryResultRow>(text: string, database = 'gateway') {
    const client = new pg.Client({
      connectionString: addressOf('postgres', database),
      connectionTimeoutMillis: 5000,
      query_timeout: 20_000,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query<T>(text)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  /** Not before somebody can connect: with a standby, when it has caught up with its copy. */
  async function untilReady(): Promise<void> {
    for (let i = 0; ; i++)
      try {
        await query('SELECT 1', 'postgres')
        return
      } catch (thrown) {
        if (i === 600) throw thrown
        await sleep(100)
      }
  }

  const cluster: Cluster = {
    port,
    url: addressOf('gateway', 'gateway'),
    async start() {
      isWanted = true
      launch()
      await untilReady()
    },
    stop: (mode) => gone(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    async kill() {
      isWanted = false
      if (!server) return
      const exited = once(server, 'exit')
      await signalAll('SIGKILL')
      await exited
    },
    pause: () => void signalAll('SIGSTOP'),
    resume: () => void signalAll('SIGCONT'),
    query: (text) => query(text),
    async standby(through) {
      const copy = join(data, '..', 'standby')
      const client = new pg.Client({ connectionString: addressOf('postgres', 'postgres') })
      await client.connect()
      await client.query("SELECT pg_backup_start('standby', true)")
      await run('cp', ['-a', data, copy])
      const { rows } = await client.query<{ labelfile: string }>(
        'SELECT labelfile FROM pg_backup_stop(false)',
      )
      await client.end()
      await rm(join(copy, 'postmaster.pid'), { force: true })
      const source = `host=127.0.0.1 port=${through} user=postgres password=${password} application_name=standby`
      for (const [name, text] of [
        ['backup_label', rows[0]?.labelfile ?? ''],
        ['standby.signal', ''],
        ['postgresql.auto.conf', `primary_conninfo = '${source}'\n`],
      ] as const) {
        await writeFile(join(copy, name), text)
        if (isRoot) await chown(join(copy, name), UNPRIVILEGED, UNPRIVILEGED)
      }
      const standby = await clusterAt({ ...place, data: copy, remove: async () => {} })
      standbys.push(standby)
      await standby.start()
      return standby
    },
    async promote() {
      await query('SELECT pg_promote(true, 60)', 'postgres')
    },
    async close() {
      await Promise.all(standbys.map((standby) => standby.close()))
      await signalAll('SIGCONT')
      await gone('SIGQUIT')
      await remove()
    },
  }
  return cluster
}

async function childrenOf(pid: number): Promise<number[]> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return listed.split(' ').filter(Boolean).map(Number)
}

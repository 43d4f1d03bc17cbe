// The leak gate against answers that are dear to search: what twenty calls at once, 1 MiB each, do to the event loop of the gateway
// and to another client. Storm, upstream and gateway are processes of their own. `node bench/leaks.ts`
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newToken } from '../src/lib/tokens.ts'
import { createTestCa } from '../test/support/ca.ts'
import { startDnsServer } from '../test/support/dns-server.ts'
import { adversarialBodies } from '../test/support/adversarial-bodies.ts'
import { createClient } from '../test/support/gateway.ts'
import {
  closedLoop,
  percentile,
  printTable,
  type ServerProcess,
  type Shot,
  START_FLAGS,
  startServer,
} from './support.ts'
import type { Turns } from './turns.ts'

const HOST = 'api.example.com'
const SECRET = 'bench-secret-0123456789-abcdefghij'
const REQUESTS = 600
const here = (path: string) => new URL(path, import.meta.url).pathname
const operatorKey = newToken('sk')
const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const turnsFile = join(directory, 'turns')
const ca = await createTestCa()
const leaf = await ca.leaf(HOST, '127.0.0.1')
const caFile = await ca.write(directory)
await writeFile(join(directory, 'leaf.key'), leaf.key)
await writeFile(join(directory, 'leaf.pem'), leaf.cert)
const dns = await startDnsServer({ [HOST]: { A: ['127.0.0.1'], ttl: 60 } })
const servers: ServerProcess[] = []

async function start(file: string, env: Record<string, string>, flags: readonly string[] = []) {
  const server = await startServer(here(file), env, flags)
  servers.push(server)
  return server
}

/** How the gateway's loop did since it was asked last. */
async function readTurns(gateway: ServerProcess): Promise<Turns> {
  process.kill(gateway.pid, 'SIGUSR2')
  await new Promise((resolve) => setTimeout(resolve, 200))
  return JSON.parse(readFileSync(turnsFile, 'utf8').trim().split('\n').at(-1) ?? '{}') as Turns
}

/** Runs `measured` while twenty of `shot` are in flight. @returns also how many of them were answered, by status */
async function underStorm<T>(gateway: ServerProcess, shot: Shot, measured: () => Promise<T>) {
  const answers = new Map<number, number>()
  const storm = fork(here('./peers/storm.ts'))
  storm.on('message', (status: number) => answers.set(status, (answers.get(status) ?? 0) + 1))
  storm.send({ ...shot, url: gateway.url + shot.path })
  await new Promise((resolve) => setTimeout(resolve, 1000))
  try {
    return { result: await measured(), answers }
  } finally {
    const exited = once(storm, 'exit')
    storm.kill('SIGKILL')
    await exited
    // What it left behind ends first.
    await new Promise((resolve) => setTimeout(resolve, 3000))
  }
}

try {
  const upstream = await start('./peers/hostile-upstream.ts', {
    TLS_KEY: join(directory, 'leaf.key'),
    TLS_CERT: join(directory, 'leaf.pem'),
    SECRET,
  })
  const { port } = new URL(upstream.url)
  const gateway = await start(
    '../test/support/loopback-gateway.ts',
    {
      PORT: '0',
      GATEWAY_DATA_DIR: join(directory, 'data'),
      GATEWAY_LOG_LEVEL: 'error',
      GATEWAY_RATE_LIMIT: '0',
      GATEWAY_DNS_SERVERS: dns.address,
      GATEWAY_EGRESS_PORTS: port,
      GATEWAY_SERVICE_KEY_CREDITS: '100000000',
      GATEWAY_OPERATOR_KEY: operatorKey,
      NODE_EXTRA_CA_CERTS: caFile,
      TURNS_FILE: turnsFile,
    },
    [...START_FLAGS, '--import', here('./peers/turn-report.ts')],
  )
  const client = createClient(gateway.url, { operatorKey })
  const { capability } = await client.grant({ secret: SECRET })
  const fetchOf = (path: string): Shot => ({
    path: '/v1/egress/fetch',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${capability}` },
    body: JSON.stringify({ method: 'GET', url: `https://${HOST}:${port}${path}` }),
  })
  const other = () => closedLoop(gateway, fetchOf('/v1/items'), { connections: 2, requests: REQUESTS })
  for (let i = 0; i < 4; i++) await other()

  const rows: string[][] = []
  const add = (
    name: string,
    latenciesMs: readonly number[],
    turns: Turns,
    answers = new Map<number, number>(),
  ) =>
    rows.push([
      name,
      percentile(latenciesMs, 0.5).toFixed(1),
      percentile(latenciesMs, 0.99).toFixed(1),
      turns.maxDelayMs.toFixed(1),
      turns.p99DelayMs.toFixed(1),
      turns.longestWaitedMs.toFixed(1),
      turns.maxOwnMs.toFixed(1),
      [...answers].map(([status, count]) => `${count} x ${status}`).join(', '),
    ])
  await readTurns(gateway)
  const { latenciesMs } = await other()
  add('nobody else', latenciesMs, await readTurns(gateway))
  const wanted = process.argv.slice(2)
  for (const [number, name] of Object.keys(adversarialBodies(8, SECRET)).entries()) {
    if (wanted.length > 0 && !wanted.includes(name)) continue

    const { result, answers } = await underStorm(gateway, fetchOf(`/v1/hostile/${number}`), async () => {
      await readTurns(gateway)
      const load = await other()
      return { load, turns: await readTurns(gateway) }
    })
    add(`20 x 1 MiB of ${name}`, result.load.latenciesMs, result.turns, answers)
  }
  printTable(
    'Another client while twenty answers of 1 MiB are always in flight, ms (targets: delay under 20, p99 at most twice that of "nobody else")',
    ['', 'p50', 'p99', 'max delay', 'p99 delay', 'of the longest no core', 'own CPU of a turn', 'answered'],
    rows,
  )
} finally {
  await Promise.all(servers.map((server) => server.stop()))
  await dns.close()
  await rm(directory, { recursive: true, force: true })
}

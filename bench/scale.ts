// Past one machine: what an egress fetch costs on PostgreSQL, in the gateway and in the database, at one account and at many; what the
// store's part of it does alone; and what a second replica adds. Gateways, upstream and database are processes of their own on this
// machine. `node bench/scale.ts`
import { join } from 'node:path'
import pg from 'pg'
import { loadConfig } from '../src/app/config.ts'
import { newId } from '../src/lib/ids.ts'
import { createLogger } from '../src/lib/log.ts'
import { newToken } from '../src/lib/tokens.ts'
import { openStore } from '../src/store/index.ts'
import type { Store } from '../src/store/ports.ts'
import { createClient } from '../test/support/gateway.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { addSetting, ending, reservation, type Setting } from '../test/support/store.ts'
import {
  closedLoop,
  cpuSecondsOfFamily,
  createServers,
  type LoadResult,
  median,
  percentile,
  printTable,
  type ServerProcess,
  type Shot,
  START_FLAGS,
} from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'

const HOST = 'api.example.com'
const BOOT = 'bench'
const CLIENTS = 64
const ACCOUNTS = 64
const ROUNDS = 5
const ROUND_MS = 2000
const REQUESTS = 3000
const MOST_GATEWAY_MS = 0.7
const MOST_DATABASE_MS = 0.25

type Work = (store: Store, setting: Setting) => Promise<void>

/** The debit is durable when this answers. */
const debit: Work = async (store, setting) => {
  const result = await store.reserveAttempt(reservation(setting, BOOT, { id: newId('att') }))
  if (!result.ok) throw new Error(result.reason)
}
/** All that the store does for a fetch: the debit with the attempt, and its end with the receipt. */
const fetchWork: Work = async (store, setting) => {
  const input = reservation(setting, BOOT, { id: newId('att'), state: 'sending', sendingAt: Date.now() })
  const result = await store.reserveAttempt(input)
  if (!result.ok) throw new Error(result.reason)
  const end = ending(input.attempt, BOOT)
  const { ok } = await store.finishAttempt({ ...end, receipt: { ...end.receipt, id: newId('rcp') } })
  if (!ok) throw new Error('not finished')
}

const behind = await prepareTlsUpstream(HOST)
const { directory, caFile, dns } = behind
const servers = createServers()
const database = await startPostgres()
const databasePid = database.pid
if (databasePid === undefined)
  throw new Error('the CPU of a database elsewhere cannot be read: unset GATEWAY_TEST_DATABASE_URL')
const databaseCpu = () => cpuSecondsOfFamily(databasePid)
const operatorKey = newToken('sk')

try {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const { port } = new URL(upstream.url)
  const environment = {
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'gateway'),
    GATEWAY_DATABASE_URL: database.url,
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
    GATEWAY_SERVICE_KEY_CREDITS: '100000000',
    GATEWAY_OPERATOR_KEY: operatorKey,
    GATEWAY_DNS_SERVERS: dns.address,
    GATEWAY_EGRESS_PORTS: port,
    NODE_EXTRA_CA_CERTS: caFile,
  }
  await benchStore()

  const replicas: ServerProcess[] = []
  for (let i = 0; i < 2; i++)
    replicas.push(await servers.start('../test/support/loopback-gateway.ts', environment, START_FLAGS))
  const [first] = replicas as [ServerProcess, ServerProcess]
  const capabilities = await grantEach(first.url, ACCOUNTS)
  const shotBy = (capability: string): Shot => ({
    path: '/v1/egress/fetch',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${capability}` },
    body: JSON.stringify({ method: 'GET', url: `https://${HOST}:${port}/v1/items` }),
  })
  let turn = 0
  const shots = capabilities.map(shotBy)
  const ways: readonly Way[] = [
    { name: 'one account', replicas: [first], shot: () => shots[0]! },
    { name: `${ACCOUNTS} accounts`, replicas: [first], shot: () => shots[turn++ % shots.length]! },
    { name: 'one account, two replicas', replicas, shot: () => shots[0]! },
    { name: `${ACCOUNTS} accounts, two replicas`, replicas, shot: () => shots[turn++ % shots.length]! },
  ]
  for (const replica of replicas)
    await closedLoop(replica, () => shots[turn++ % shots.length]!, { connections: CLIENTS, requests: 4000 })
  const runs = new Map<Way, Run[]>(ways.map((way) => [way, []]))
  for (let round = 0; round < ROUNDS; round++) for (const way of ways) runs.get(way)!.push(await load(way))
  printTable(
    `Egress fetch on PostgreSQL, ${CLIENTS} connections to each replica, medians of ${ROUNDS} interleaved rounds (target: at most ${MOST_GATEWAY_MS} ms CPU in the gateway and ${MOST_DATABASE_MS} ms in the database)`,
    ['', 'gateway CPU ms', 'database CPU ms', 'requests/s', 'p50 ms', 'p99 ms'],
    [...runs].map(([way, of]) => [
      way.name,
      median(of.map((run) => run.gatewayMs)).toFixed(2),
      median(of.map((run) => run.databaseMs)).toFixed(2),
      median(of.map((run) => run.perSecond)).toFixed(0),
      median(of.map((run) => run.p50)).toFixed(1),
      median(of.map((run) => run.p99)).toFixed(1),
    ]),
  )
  const single: Run[] = []
  for (let round = 0; round < ROUNDS; round++) single.push(await load(ways[0]!, 1, 500))
  printTable(
    'The same from one connection',
    ['', 'gateway CPU ms', 'database CPU ms', 'p50 ms'],
    [
      [
        'one account',
        median(single.map((run) => run.gatewayMs)).toFixed(2),
        median(single.map((run) => run.databaseMs)).toFixed(2),
        median(single.map((run) => run.p50)).toFixed(2),
      ],
    ],
  )
} finally {
  await servers.stop()
  await database.stop()
  await behind.close()
}

interface Way {
  readonly name: string
  readonly replicas: readonly ServerProcess[]
  readonly shot: () => Shot
}
interface Run {
  readonly gatewayMs: number
  readonly databaseMs: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** As many connections to each replica, and as many requests of each: what one has to do does not change with the second. */
async function load({ replicas, shot }: Way, connections = CLIENTS, requests = REQUESTS): Promise<Run> {
  const before = databaseCpu()
  const started = performance.now()
  const results: LoadResult[] = await Promise.all(
    replicas.map((replica) =>
      closedLoop(replica, shot, {
        connections,
        requests,
      }),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  const latencies = results.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b)
  return {
    gatewayMs: results.reduce((sum, { cpuUs, requests: n }) => sum + cpuUs * n, 0) / 1000 / latencies.length,
    databaseMs: ((databaseCpu() - before) * 1000) / latencies.length,
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }
}

/** A capability of each of so many accounts. */
async function grantEach(url: string, count: number): Promise<string[]> {
  const capabilities: string[] = []
  for (let i = 0; i < count; i++) {
    const operator = createClient(url, { operatorKey })
    const made = await operator.rest('POST', '/v1/keys', { account: 'new', name: `account ${i}` })
    const owner = createClient(url, { operatorKey: made.body.key })
    capabilities.push((await owner.grant()).capability)
  }
  return capabilities
}

async function anotherDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const url = new URL(database.url)
  url.pathname = `/${name}`
  return url.href
}

async function benchStore(): Promise<void> {
  const store = await openStore({
    config: loadConfig({
      GATEWAY_DATA_DIR: join(directory, 'store'),
      GATEWAY_DATABASE_URL: await anotherDatabase('store'),
    }),
    log: createLogger('silent'),
    bootId: BOOT,
  })
  const settings: Setting[] = []
  for (let i = 0; i < ACCOUNTS; i++) settings.push(await addSetting(store, 1_000_000_000))
  const works: readonly (readonly [name: string, work: Work, accounts: number])[] = [
    ['debit, one account', debit, 1],
    [`debit, ${ACCOUNTS} accounts`, debit, ACCOUNTS],
    ["a fetch's work, one account", fetchWork, 1],
    [`a fetch's work, ${ACCOUNTS} accounts`, fetchWork, ACCOUNTS],
  ]
  const rounds = new Map<string, (readonly number[])[]>(works.map(([name]) => [name, []]))
  for (let round = -1; round < ROUNDS; round++)
    for (const [name, work, accounts] of works) {
      const figures = await timeStore(store, settings.slice(0, accounts), work)
      if (round >= 0) rounds.get(name)!.push(figures)
    }
  await store.close()
  printTable(
    `The store's part on PostgreSQL, ${CLIENTS} callers in one process, medians of ${ROUNDS} rounds (target: 8,000 debits a second, 4,000 fetches' work)`,
    ['', 'a second', 'client CPU us', 'database CPU us', 'p50 ms', 'p99 ms'],
    [...rounds].map(([name, of]) => [
      name,
      ...[0, 1, 2].map((column) => median(of.map((figures) => figures[column]!)).toFixed(0)),
      ...[3, 4].map((column) => median(of.map((figures) => figures[column]!)).toFixed(1)),
    ]),
  )
}

/** @returns operations a second, CPU of this process and of the database for each in microseconds, and p50 and p99 in milliseconds */
async function timeStore(
  store: Store,
  settings: readonly Setting[],
  work: Work,
): Promise<readonly [number, number, number, number, number]> {
  const latencies: number[] = []
  const cpu = process.cpuUsage()
  const before = databaseCpu()
  const started = performance.now()
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, i) => {
      while (performance.now() < started + ROUND_MS) {
        const at = performance.now()
        await work(store, settings[i % settings.length]!)
        latencies.push(performance.now() - at)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  latencies.sort((a, b) => a - b)
  return [
    latencies.length / seconds,
    (user + system) / latencies.length,
    ((databaseCpu() - before) * 1e6) / latencies.length,
    percentile(latencies, 0.5),
    percentile(latencies, 0.99),
  ]
}

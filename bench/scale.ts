// Past one machine: what an egress fetch costs on PostgreSQL, in the gateway and in the database, at one account and at many; what the
// store's part of it does alone; and what a second replica adds. Gateways, upstream and database are processes of their own on this
// machine. `node bench/scale.ts`; with BENCH_STATEMENTS_URL, of a database on a server that loads pg_stat_statements, also what each
// statement of a fetch costs there.
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
import { addSetting, ending, receiptFor, reservation, type Setting } from '../test/support/store.ts'
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
import { demandOf, type FetchCosts } from './scale-model.ts'
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
/** A call that costs credits and goes nowhere: the debit, and its end with the receipt. */
const pricedCall: Work = async (store, { accountId }) => {
  const transactionId = newId('txn')
  const debited = { accountId, amount: 1, transactionId, bootId: BOOT, reference: 'bench', now: Date.now() }
  if (!(await store.debitCredits(debited)).ok) throw new Error('not debited')
  const receipt = { ...receiptFor(accountId), id: newId('rcp') }
  if (!(await store.settleDebit({ transactionId, receipt }))) throw new Error('not settled')
}

const servers = createServers()
const database = await startPostgres()
const databasePid = database.pid
if (databasePid === undefined)
  throw new Error('the CPU of a database elsewhere cannot be read: unset GATEWAY_TEST_DATABASE_URL')
const databaseCpu = () => cpuSecondsOfFamily(databasePid)
const operatorKey = newToken('sk')

try {
  const environment = await startUpstream()
  await benchStore()
  const statementsUrl = process.env['BENCH_STATEMENTS_URL']
  if (statementsUrl !== undefined) await benchStatements(environment, statementsUrl)
  const replicas: ServerProcess[] = []
  for (let i = 0; i < 2; i++)
    replicas.push(await servers.start('../test/support/loopback-gateway.ts', environment, START_FLAGS))
  const [first] = replicas as [ServerProcess, ServerProcess]
  const capabilities = await grantEach(first.url, ACCOUNTS)
  let turn = 0
  const shots = capabilities.map((capability) => shotBy(capability, environment))
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
  printModel(await costsOf(ways[1]!, runs.get(ways[1]!)!))
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

/** @returns the environment of a gateway that reaches it */
async function startUpstream() {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  return {
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'gateway'),
    GATEWAY_DATABASE_URL: database.url,
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
    GATEWAY_SERVICE_KEY_CREDITS: '100000000',
    GATEWAY_OPERATOR_KEY: operatorKey,
    GATEWAY_DNS_SERVERS: dns.address,
    GATEWAY_EGRESS_PORTS: new URL(upstream.url).port,
    NODE_EXTRA_CA_CERTS: caFile,
  }
}
type Environment = Awaited<ReturnType<typeof startUpstream>>

/** One egress fetch. */
function shotBy(capability: string, { GATEWAY_EGRESS_PORTS: port }: Environment): Shot {
  return {
    path: '/v1/egress/fetch',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${capability}` },
    body: JSON.stringify({ method: 'GET', url: `https://${HOST}:${port}/v1/items` }),
  }
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

/** Which statements a fetch is, as the server counts them. */
async function benchStatements(environment: Environment, url: string): Promise<void> {
  const gateway = await servers.start(
    '../test/support/loopback-gateway.ts',
    { ...environment, GATEWAY_DATABASE_URL: url, GATEWAY_DATA_DIR: join(directory, 'statements') },
    START_FLAGS,
  )
  const capabilities = await grantEach(gateway.url, ACCOUNTS)
  const shots = capabilities.map((capability) => shotBy(capability, environment))
  let next = 0
  const send = (requests: number) =>
    closedLoop(gateway, () => shots[next++ % shots.length]!, { connections: CLIENTS, requests })
  await send(REQUESTS)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  await client.query('SELECT pg_stat_statements_reset()')
  await send(REQUESTS)
  const { rows } = await client.query<{
    query: string
    calls: string
    ms: number
    rows: string
    wal: string
  }>(
    `SELECT query, calls, total_exec_time AS ms, rows, wal_bytes AS wal FROM pg_stat_statements
     JOIN pg_database ON oid = dbid WHERE datname = current_database() AND calls > 20 ORDER BY total_exec_time DESC LIMIT 8`,
  )
  await client.end()
  await gateway.stop()
  printTable(
    `Statements of ${REQUESTS} egress fetches of ${ACCOUNTS} accounts at ${CLIENTS} connections, by pg_stat_statements`,
    ['statement', 'times', 'for each fetch', 'us for each fetch', 'rows', 'bytes of the log for each fetch'],
    rows.map(({ query, calls, ms, rows: found, wal }) => [
      nameOf(query),
      Number(calls),
      (Number(calls) / REQUESTS).toFixed(3),
      ((ms * 1000) / REQUESTS).toFixed(0),
      Number(found),
      (Number(wal) / REQUESTS).toFixed(0),
    ]),
  )
}

/** What it writes, or how it begins. */
function nameOf(query: string): string {
  const writes = query.matchAll(/\b(UPDATE|INSERT INTO|DELETE FROM) (\w+)/g)
  const named = Array.from(writes, ([, verb = '', table]) => `${verb.toLowerCase()} ${table}`).join(', ')
  return named || query.replace(/\s+/g, ' ').slice(0, 60)
}

/** What one fetch leaves in the log and in the tables, of one more round. */
async function costsOf(way: Way, of: readonly Run[]): Promise<FetchCosts> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const look = async () => {
    const { rows } = await client.query<{ wal: string; commits: string; rows: string }>(
      `SELECT pg_current_wal_insert_lsn() - '0/0' AS wal, xact_commit AS commits, tup_inserted - tup_deleted AS rows
       FROM pg_stat_database WHERE datname = current_database()`,
    )
    return rows[0]!
  }
  // The counters of a session come with its next idle moment.
  const settled = () => new Promise((resolve) => setTimeout(resolve, 2000))
  await settled()
  const before = await look()
  await load(way)
  await settled()
  const after = await look()
  await client.end()
  const each = (name: keyof typeof before) => (Number(after[name]) - Number(before[name])) / REQUESTS
  return {
    gatewayMs: median(of.map((run) => run.gatewayMs)),
    databaseMs: median(of.map((run) => run.databaseMs)),
    walBytes: each('wal'),
    commits: each('commits'),
    rows: each('rows'),
  }
}

function printModel(costs: FetchCosts): void {
  printTable(
    `Many replicas on one database: a model, from ${costs.gatewayMs.toFixed(2)} ms in the gateway, ${costs.databaseMs.toFixed(2)} ms in the database, ${(costs.walBytes / 1000).toFixed(1)} kB of its log, ${costs.commits.toFixed(2)} commits and ${costs.rows.toFixed(1)} rows a fetch, every core 70 % busy`,
    [
      'replicas, a core each',
      'fetches/s',
      "database's cores",
      'mean wait there ms',
      'log MB/s',
      'commits/s',
      'rows a day, millions',
    ],
    [1, 10, 100, 1000].map((replicas) => {
      const demand = demandOf(replicas, costs)
      return [
        replicas,
        demand.perSecond.toFixed(0),
        demand.cores,
        demand.waitMs.toFixed(2),
        demand.walMbPerSecond.toFixed(1),
        demand.commitsPerSecond.toFixed(0),
        (demand.rowsPerDay / 1e6).toFixed(0),
      ]
    }),
  )
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
    ["a priced call's work, one account", pricedCall, 1],
    [`a priced call's work, ${ACCOUNTS} accounts`, pricedCall, ACCOUNTS],
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

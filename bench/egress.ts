// Egress fetch with everything on (durable debit, unwrap, decrypt, leak gate, signed receipt, TLS upstream) against a bare
// undici forward in node:http: same TLS upstream, same keep-alive, same client, and the same logging: a line per call on
// both sides, which is how a gateway runs unless told otherwise, and no line on either. `node bench/egress.ts`
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { issueCapability } from './capability.ts'
import { newToken } from '../src/lib/tokens.ts'
import { preload } from './preload.ts'
import {
  closedLoop,
  createServers,
  type LoadResult,
  median,
  openLoop,
  percentile,
  printTable,
  residentMb,
  type ServerProcess,
  type Shot,
  START_FLAGS,
} from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'

const HOST = 'api.example.com'
const ROUNDS = 5
const BUSY_ROUNDS = 15
const operatorKey = newToken('sk')

const behind = await prepareTlsUpstream(HOST)
const { directory, caFile, dns } = behind
const servers = createServers()

try {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const port = new URL(upstream.url).port
  const target = `https://${HOST}:${port}/v1/items`
  const startBare = (level: string) =>
    servers.start('./peers/undici-forward.ts', { NODE_EXTRA_CA_CERTS: caFile, LOG_LEVEL: level })
  const environment = (data: string, level: string) => ({
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, data),
    GATEWAY_LOG_LEVEL: level,
    GATEWAY_RATE_LIMIT: '0',
    GATEWAY_DNS_SERVERS: dns.address,
    GATEWAY_EGRESS_PORTS: port,
    GATEWAY_SERVICE_KEY_CREDITS: '100000000',
    GATEWAY_OPERATOR_KEY: operatorKey,
    NODE_EXTRA_CA_CERTS: caFile,
  })
  const startGateway = (data: string, level = 'error') =>
    servers.start('../test/support/loopback-gateway.ts', environment(data, level), START_FLAGS)
  const body = JSON.stringify({ method: 'GET', url: target })
  const json = { 'content-type': 'application/json' }
  const fetchThrough = async (server: ServerProcess): Promise<Shot> => ({
    path: '/v1/egress/fetch',
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${await issueCapability(server, operatorKey, HOST)}` },
    body,
  })

  const bareShot: Shot = { path: '/', method: 'POST', headers: json, body }
  const pairOf = async (level: string, how: string): Promise<[Contender, Contender]> => {
    const server = await startGateway(`data-${level}`, level)
    return [
      [`bare undici forward, ${how}`, await startBare(level), bareShot],
      [`gateway egress fetch, ${how}`, server, await fetchThrough(server)],
    ]
  }
  const logging = await pairOf('info', 'a log line per call')
  const silent = await pairOf('error', 'no log lines')
  const everyone = [...logging, ...silent]

  // Until the compiler has seen everything: what is measured is a server that has been up for a minute.
  for (const [, server, shot] of everyone)
    await closedLoop(server, shot, { connections: 16, requests: 12_000 })

  // As long for one as for the other: a shared machine has slow seconds, and a short round falls between them.
  const isBare = new Set([logging[0][1], silent[0][1]])
  const busy = await rounds(
    everyone,
    (server, shot) =>
      closedLoop(server, shot, { connections: 16, requests: isBare.has(server) ? 15_000 : 3000 }),
    BUSY_ROUNDS,
  )
  report(
    `16 connections, closed loop, medians of ${BUSY_ROUNDS} interleaved rounds (target: at most 6.50x the CPU)`,
    busy,
    2,
  )

  const single = await rounds(silent, (server, shot) =>
    closedLoop(server, shot, { connections: 1, requests: 500 }),
  )
  report('1 connection, closed loop (target: added p50 under 5 ms)', single)

  const [, gateway, shot] = silent[1]
  const underKeys = () => ({ ...shot, headers: { ...shot.headers, 'idempotency-key': randomUUID() } })
  // The code of keys has not run yet.
  await closedLoop(gateway, underKeys, { connections: 16, requests: 12_000 })
  const keyed = await rounds<Shot | (() => Shot)>(
    [
      ['gateway egress fetch, without a key', gateway, shot],
      ['gateway egress fetch, each under a key of its own', gateway, underKeys],
    ],
    (server, next) => closedLoop(server, next, { connections: 16, requests: 3000 }),
    BUSY_ROUNDS,
  )
  report("16 connections, a caller's Idempotency-Key (target: at most 1.10x the CPU)", keyed)

  const saturation = median(busy.get(silent[1][0])!.map((run) => run.requests / run.seconds))
  const perSecond = Math.round(saturation * 0.3)
  const open = await rounds(silent, (server, shot) =>
    openLoop(server, shot, { connections: 64, perSecond, requests: perSecond * 3 }),
  )
  report(
    `open loop at 30 % of saturation, ${perSecond} requests a second (target: added p50 under 5 ms)`,
    open,
  )

  const filled: Contender[] = []
  for (const size of [10_000, 1_000_000]) {
    const data = `data-${size}`
    // Started once for its tables, filled while nobody has the file open, and started again.
    await (await startGateway(data)).stop()
    preload(join(directory, data), size)
    const server = await startGateway(data)
    filled.push([`${size.toLocaleString('en')} attempts stored`, server, await fetchThrough(server)])
  }
  for (const [, server, shot] of filled) await closedLoop(server, shot, { connections: 4, requests: 1000 })
  const stored = await rounds(filled, (server, shot) =>
    closedLoop(server, shot, { connections: 1, requests: 500 }),
  )
  report('1 connection, attempts in the store (target: p50 within 20 %)', stored)
  console.log(`\nresident memory of the gateway afterwards: ${residentMb(silent[1][1].pid).toFixed(0)} MB`)
} finally {
  await servers.stop()
  await behind.close()
}

type Contender = readonly [name: string, server: ServerProcess, shot: Shot]

async function rounds<S>(
  contenders: readonly (readonly [name: string, server: ServerProcess, shot: S])[],
  run: (server: ServerProcess, shot: S) => Promise<LoadResult>,
  count = ROUNDS,
): Promise<Map<string, LoadResult[]>> {
  const results = new Map<string, LoadResult[]>(contenders.map(([name]) => [name, []]))
  for (let round = 0; round < count; round++)
    for (const [name, server, shot] of contenders) results.get(name)!.push(await run(server, shot))
  return results
}

/** @param every how many rows share the first of them as their measure; all of them unless given */
function report(
  title: string,
  results: ReadonlyMap<string, readonly LoadResult[]>,
  every = results.size,
): void {
  const rows = [...results].map(([name, runs]) => ({
    name,
    cpuUs: median(runs.map((run) => run.cpuUs)),
    perSecond: median(runs.map((run) => run.requests / run.seconds)),
    p50: median(runs.map((run) => percentile(run.latenciesMs, 0.5))),
    p99: median(runs.map((run) => percentile(run.latenciesMs, 0.99))),
  }))
  const baseOf = (at: number) => rows[at - (at % every)]!
  printTable(
    title,
    ['', 'CPU us/request', 'ratio', 'requests/s', 'p50 ms', 'p99 ms', 'added p50 ms'],
    rows.map((row, at) => [
      row.name,
      row.cpuUs.toFixed(0),
      `${(row.cpuUs / baseOf(at).cpuUs).toFixed(2)}x`,
      row.perSecond.toFixed(0),
      row.p50.toFixed(2),
      row.p99.toFixed(2),
      (row.p50 - baseOf(at).p50).toFixed(2),
    ]),
  )
}

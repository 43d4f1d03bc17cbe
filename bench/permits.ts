// What a permit and the edge cost beside an egress fetch of the same request: the same gateway, the same TLS upstream, every
// attempt durable and receipted. Then the edge beside calling the merchant directly, and permits with a million used ones in
// the store. `node bench/permits.ts`
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { newToken } from '../src/lib/tokens.ts'
import { preloadPermits } from './preload.ts'
import {
  closedLoop,
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

const HOST = 'shop.example.com'
const ROUNDS = 5
const BUSY_ROUNDS = 15
const BUSY_REQUESTS = 2000
const WARM_ROUNDS = 5
const WARM_REQUESTS = 2500
const SINGLE_REQUESTS = 500
const operatorKey = newToken('sk')
const SCOPE = { hosts: [HOST], path_prefixes: ['/v1'], methods: ['POST'] }
const json = { 'content-type': 'application/json' }
const body = JSON.stringify({ item: 'tea', quantity: 2, note: 'x'.repeat(100) })

const behind = await prepareTlsUpstream(HOST, 3600)
const { directory, caFile, dns } = behind
const caPem = behind.ca.pem
const servers = createServers()

interface Client {
  readonly server: ServerProcess
  readonly credentialId: string
  readonly post: (path: string, body: unknown, status?: number) => Promise<Record<string, string>>
}

try {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const port = new URL(upstream.url).port
  const url = `https://${HOST}:${port}/v1/orders`
  const startGateway = (data: string) =>
    servers.start(
      '../test/support/loopback-gateway.ts',
      {
        PORT: '0',
        GATEWAY_DATA_DIR: join(directory, data),
        GATEWAY_LOG_LEVEL: 'error',
        GATEWAY_RATE_LIMIT: '0',
        GATEWAY_DNS_SERVERS: dns.address,
        GATEWAY_EDGE_NAME: 'edge.example.net',
        GATEWAY_EGRESS_PORTS: port,
        GATEWAY_SERVICE_KEY_CREDITS: '100000000',
        GATEWAY_OPERATOR_KEY: operatorKey,
        NODE_EXTRA_CA_CERTS: caFile,
      },
      START_FLAGS,
    )

  const client = await prepareClient(await startGateway('data'))
  const { server } = client
  const fetchShot = await fetchOf(client, url)
  const edgeShot = await edgeOf(client, port)
  const contenders: readonly Contender[] = [
    ['egress fetch', async () => fetchShot],
    ['permit execution', (count) => permitsFor(client, url, count)],
    ['edge call', async () => edgeShot],
  ]
  // Until the compiler has seen everything: what is measured is a server that has been up for a minute. Of the three, the edge
  // has the most code; after 7,500 calls of it the compiler's threads still took a tenth of its CPU.
  await rounds(server, contenders, { connections: 16, requests: WARM_REQUESTS }, WARM_ROUNDS)

  report(
    `16 connections, closed loop, medians of ${BUSY_ROUNDS} interleaved rounds (targets: permit at most 1.35x, edge at most 1.35x the CPU of a fetch)`,
    await rounds(server, contenders, { connections: 16, requests: BUSY_REQUESTS }, BUSY_ROUNDS),
  )
  report(
    '1 connection, closed loop (the same targets)',
    await rounds(server, contenders, { connections: 1, requests: SINGLE_REQUESTS }, ROUNDS),
  )

  const direct: LoadResult[] = []
  const edge: LoadResult[] = []
  const directShot: Shot = { path: '/v1/orders', method: 'POST', headers: json, body }
  const single = { connections: 1, requests: SINGLE_REQUESTS }
  await closedLoop(upstream, directShot, { ...single, ca: caPem })
  for (let round = 0; round < ROUNDS; round++) {
    direct.push(await closedLoop(upstream, directShot, { ...single, ca: caPem }))
    edge.push(await closedLoop(server, edgeShot, single))
  }
  const commit = commitMs(directory)
  const p50 = (runs: readonly LoadResult[]) => median(runs.map((run) => percentile(run.latenciesMs, 0.5)))
  const added = p50(edge) - p50(direct)
  printTable(
    'edge beside a direct call, 1 connection, consent remembered (target: adds at most 3 ms p50 and the time of its 2 commits)',
    ['', 'p50 ms'],
    [
      ['the merchant directly', p50(direct).toFixed(2)],
      ['through the edge', p50(edge).toFixed(2)],
      ['added', added.toFixed(2)],
      ['one durable commit on this disk', commit.toFixed(2)],
      ['added beyond 2 commits', (added - 2 * commit).toFixed(2)],
    ],
  )

  const filled: [string, Client][] = []
  for (const size of [10_000, 1_000_000]) {
    const data = `data-${size}`
    // Started once for its tables, filled while nobody has the file open, and started again.
    await (await startGateway(data)).stop()
    preloadPermits(join(directory, data), size)
    filled.push([
      `${size.toLocaleString('en')} permits stored`,
      await prepareClient(await startGateway(data)),
    ])
  }
  const stored = new Map<string, LoadResult[]>(filled.map(([name]) => [name, []]))
  for (let round = -1; round < ROUNDS; round++)
    for (const [name, one] of filled) {
      const result = await closedLoop(one.server, await permitsFor(one, url, SINGLE_REQUESTS), single)
      if (round >= 0) stored.get(name)!.push(result)
    }
  report('1 connection, permits ever issued (target: the same)', stored)
} finally {
  await servers.stop()
  await behind.close()
}

async function prepareClient(server: ServerProcess): Promise<Client> {
  const post: Client['post'] = async (path, input, status = 201) => {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${operatorKey}` },
      body: JSON.stringify(input),
    })
    if (answer.status !== status) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, string>
  }
  const credential = await post('/v1/egress/credentials', {
    provider: 'custom',
    label: 'bench',
    secret: 'bench-secret-bench-secret',
    ...SCOPE,
  })
  return { server, post, credentialId: credential['credential_id']! }
}

/** Prepared before the round, which executes them: every shot is another permit. */
async function permitsFor(client: Client, url: string, count: number): Promise<() => Shot> {
  const request = { url, method: 'POST', headers: json, body }
  const { mandate_id } = await client.post('/v1/actions/mandates', {
    purpose: 'bench',
    credential_id: client.credentialId,
    host: HOST,
    path_prefix: '/v1',
    methods: ['POST'],
    max_calls: 1_000_000,
    expires_at: new Date(Date.now() + 24 * 3600 * 1000).toISOString(),
  })
  const bodies: string[] = []
  const prepare = async () => {
    const { permit } = await client.post('/v1/actions/permits', {
      credential_id: client.credentialId,
      request,
      mandate_id,
    })
    bodies.push(JSON.stringify({ permit, request }))
  }
  for (let left = count; left > 0; left -= 16)
    await Promise.all(Array.from({ length: Math.min(16, left) }, prepare))
  return () => ({ path: '/v1/actions/execute', method: 'POST', headers: json, body: bodies.pop()! })
}

async function fetchOf(client: Client, url: string): Promise<Shot> {
  const { capability } = await client.post('/v1/egress/capabilities', {
    credential_id: client.credentialId,
    ttl_seconds: 86_400,
    ...SCOPE,
  })
  return {
    path: '/v1/egress/fetch',
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${capability}` },
    body: JSON.stringify({ url, method: 'POST', headers: json, body }),
  }
}

async function edgeOf(client: Client, port: string): Promise<Shot> {
  const host = `${HOST}:${port}`
  const { expected } = await client.post('/v1/edge/check', { host }, 200)
  dns.set(`_agent-gateway.${HOST}`, { TXT: [expected!], ttl: 3600 })
  // What was absent just now is remembered; asking again replaces it.
  await client.post('/v1/edge/check', { host }, 200)
  return { path: `/edge/${host}/v1/orders`, method: 'POST', headers: json, body }
}

type Contender = readonly [name: string, shots: (count: number) => Promise<Shot | (() => Shot)>]

async function rounds(
  server: ServerProcess,
  contenders: readonly Contender[],
  options: { connections: number; requests: number },
  count: number,
): Promise<Map<string, LoadResult[]>> {
  const results = new Map<string, LoadResult[]>(contenders.map(([name]) => [name, []]))
  for (let round = 0; round < count; round++)
    for (const [name, shots] of contenders)
      results.get(name)!.push(await closedLoop(server, await shots(options.requests), options))
  return results
}

function report(title: string, results: ReadonlyMap<string, readonly LoadResult[]>): void {
  const [first = []] = results.values()
  const rows = [...results].map(([name, runs]) => ({
    name,
    cpuUs: median(runs.map((run) => run.cpuUs)),
    // Of neighbours in time, which a slow minute of the machine hits alike.
    ratios: runs.map((run, round) => run.cpuUs / first[round]!.cpuUs),
    perSecond: median(runs.map((run) => run.requests / run.seconds)),
    p50: median(runs.map((run) => percentile(run.latenciesMs, 0.5))),
    p99: median(runs.map((run) => percentile(run.latenciesMs, 0.99))),
  }))
  const base = rows[0]!
  printTable(
    title,
    ['', 'CPU us/request', 'ratio', 'round by round', 'requests/s', 'p50 ms', 'p99 ms'],
    rows.map((row) => [
      row.name,
      row.cpuUs.toFixed(0),
      `${(row.cpuUs / base.cpuUs).toFixed(2)}x`,
      `${median(row.ratios).toFixed(2)}x`,
      row.perSecond.toFixed(0),
      row.p50.toFixed(2),
      row.p99.toFixed(2),
    ]),
  )
}

/** Median of one-row commits as the store makes them: WAL, synchronous=FULL, the same disk. */
function commitMs(folder: string): number {
  const db = new DatabaseSync(join(folder, 'commit.db'))
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)',
  )
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)')
  const times = Array.from({ length: 300 }, () => {
    const at = performance.now()
    insert.run('x'.repeat(1000))
    return performance.now() - at
  })
  db.close()
  return median(times)
}

// What the proxy door adds for an unmodified program: its requests opened, with a credential, searched and receipted, against the same client
// through a tunnel of the same door that is not opened. Gateway and upstream are processes of their own. `node bench/programs.ts`
import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createBudget } from '../src/egress/leak/budget.ts'
import { createLeakSearch, type Searched } from '../src/egress/leak/search.ts'
import { createScanner } from '../src/egress/relay/scanner.ts'
import { Secret } from '../src/lib/secret.ts'
import { newToken } from '../src/lib/tokens.ts'
import { createClient } from '../test/support/gateway.ts'
import { basic, exchange, sendConnect, startTls } from '../test/support/proxy-client.ts'
import {
  cpuSeconds,
  createServers,
  median,
  percentile,
  printTable,
  residentMb,
  type ServerProcess,
  START_FLAGS,
} from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'
import { freePort } from '../test/support/free-port.ts'

const OPENED = 'api.example.com'
const TUNNELLED = 'other.example.com'
const SECRET = 'bench-secret-0123456789-abcdefghij'
/** As services make them. */
const KEY = 'sk_live_8fQ2vXzr7KpLw3TnYb5MdJcHs6GaUe9R'
const ROUNDS = 5
const REQUESTS = 400
const CONNECTIONS = 100
/** Programs that are busy at once. */
const TOGETHER = 16
const EVENTS = 20
const IDLE = 256
/** What one capability, and one account, may have under way. */
const PER_CAPABILITY = 32
const CAPABILITIES_PER_ACCOUNT = 4

const operatorKey = newToken('sk')
const behind = await prepareTlsUpstream(OPENED)
const { directory, caFile, dns, ca } = behind
const servers = createServers()

/** One way through the door. */
interface Way {
  readonly name: string
  readonly host: string
  readonly ca: string
}

try {
  const { key, cert } = await ca.leaf(OPENED, TUNNELLED)
  await Promise.all([writeFile(behind.env.TLS_KEY, key), writeFile(behind.env.TLS_CERT, cert)])
  dns.set(TUNNELLED, { A: ['127.0.0.1'], ttl: 60 })
  const { port } = new URL((await servers.start('./peers/streams.ts', behind.env)).url)
  const proxy = `http://127.0.0.1:${await freePort()}`
  const gateway = await servers.start(
    '../test/support/loopback-gateway.ts',
    {
      PORT: '0',
      GATEWAY_PROXY_PORT: new URL(proxy).port,
      GATEWAY_PROXY_UNKNOWN: 'tunnel',
      GATEWAY_DATA_DIR: join(directory, 'data'),
      GATEWAY_LOG_LEVEL: 'error',
      GATEWAY_RATE_LIMIT: '0',
      GATEWAY_DNS_SERVERS: dns.address,
      GATEWAY_EGRESS_PORTS: port,
      GATEWAY_SERVICE_KEY_CREDITS: '100000000',
      GATEWAY_OPERATOR_KEY: operatorKey,
      NODE_EXTRA_CA_CERTS: caFile,
    },
    START_FLAGS,
  )
  const client = createClient(gateway.url, { operatorKey })
  const grantOf = { secret: SECRET, credential: { hosts: [`${OPENED}:${port}`] } }
  const { capability } = await client.grant(grantOf)
  const trusted = await (await fetch(`${proxy}/ca.pem`)).text()
  const tunnel: Way = { name: 'a tunnel', host: TUNNELLED, ca: ca.pem }
  const opened: Way = { name: 'opened, with a credential', host: OPENED, ca: trusted }
  const ways = [tunnel, opened]

  const connect = async (way: Way, token = capability) => {
    const { status, socket } = await sendConnect(proxy, `${way.host}:${port}`, [basic(token)])
    if (status !== 200) throw new Error(`${way.name}: CONNECT was answered with ${status}`)
    return await startTls(socket, { ca: way.ca, servername: way.host })
  }
  const textOf = (way: Way, path: string) => `GET ${path} HTTP/1.1\r\nHost: ${way.host}:${port}\r\n\r\n`

  /** @param clients that each wait for their answer before they ask again */
  async function keptAlive(way: Way, requests: number, clients: number): Promise<Measured> {
    const sockets = await Promise.all(Array.from({ length: clients }, () => connect(way)))
    const before = cpuSeconds(gateway.pid)
    const latencies = await Promise.all(
      sockets.map((socket) =>
        timed(requests, async () => {
          const { status } = await exchange(socket, textOf(way, '/items'))
          if (status !== 200) throw new Error(`${way.name}: answered with ${status}`)
        }),
      ),
    )
    const cpuMs = ((cpuSeconds(gateway.pid) - before) * 1000) / (requests * clients)
    for (const socket of sockets) socket.destroy()
    return { cpuMs, p50: median(latencies.flat()) }
  }
  const anew = (way: Way, connections: number): Promise<Measured> =>
    measure(gateway, connections, async () => {
      const socket = await connect(way)
      await exchange(socket, textOf(way, '/items'))
      socket.destroy()
    })

  for (const way of ways) await keptAlive(way, REQUESTS * 3, 1)
  for (const [title, run, count] of [
    [
      'a request on a kept connection (target: at most 0.70 ms CPU and 0.50 ms p50 more)',
      (way: Way, count: number) => keptAlive(way, count, 1),
      REQUESTS,
    ],
    [
      `a request on one of ${TOGETHER} kept connections that are busy at once`,
      (way: Way, count: number) => keptAlive(way, count / TOGETHER, TOGETHER),
      REQUESTS * 4,
    ],
    ['a request on a new connection (target: at most 1.50 ms more than on a kept one)', anew, CONNECTIONS],
  ] as const) {
    const results = new Map<Way, Measured[]>(ways.map((way) => [way, []]))
    for (let round = 0; round < ROUNDS; round++)
      for (const way of ways) results.get(way)!.push(await run(way, count))
    const rows = ways.map((way) => {
      const all = results.get(way)!
      return { way, cpu: median(all.map(({ cpuMs }) => cpuMs)), p50: median(all.map(({ p50 }) => p50)) }
    })
    const [base] = rows
    printTable(
      `Unmodified programs: ${title}, medians of ${ROUNDS} interleaved rounds`,
      ['way', 'CPU ms', 'p50 ms', 'CPU ms more', 'p50 ms more'],
      rows.map(({ way, cpu, p50 }) => [
        way.name,
        cpu.toFixed(2),
        p50.toFixed(2),
        (cpu - base!.cpu).toFixed(2),
        (p50 - base!.p50).toFixed(2),
      ]),
    )
  }

  const streams: (string | number)[][] = []
  for (const way of ways) {
    const delays: number[] = []
    const gaps: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const arrived = await readEvents(await connect(way), textOf(way, `/events?count=${EVENTS}`))
      const first = arrived[0]!
      delays.push(first.at - first.sent)
      for (const [i, { at }] of arrived.entries()) if (i > 0) gaps.push(at - arrived[i - 1]!.at)
    }
    const sorted = gaps.toSorted((a, b) => a - b)
    streams.push([
      way.name,
      median(delays).toFixed(2),
      median(sorted).toFixed(2),
      percentile(sorted, 0.05).toFixed(2),
      percentile(sorted, 0.95).toFixed(2),
    ])
  }
  printTable(
    `Unmodified programs: a stream of ${EVENTS} events, one sent every 50 ms (target: the first less than 2.00 ms later than through a tunnel)`,
    ['way', 'first event after ms', 'gap p50 ms', 'gap p5 ms', 'gap p95 ms'],
    streams,
  )

  await holdStreams()
  await scan()

  async function holdStreams(): Promise<void> {
    const tokens: string[] = []
    while (tokens.length * PER_CAPABILITY < IDLE) {
      const { body } = await client.rest('POST', '/v1/keys', {
        account: 'new',
        name: `idle-${tokens.length}`,
      })
      const other = createClient(gateway.url, { operatorKey: body.key })
      for (let i = 0; i < CAPABILITIES_PER_ACCOUNT; i++) tokens.push((await other.grant(grantOf)).capability)
    }
    const before = residentMb(gateway.pid)
    const sockets = []
    for (let i = 0; i < IDLE; i++) {
      const socket = await connect(opened, tokens[Math.floor(i / PER_CAPABILITY)])
      const begun = new Promise<void>((resolve) => {
        let text = ''
        socket.on('data', (chunk: Buffer) => {
          if ((text += chunk.toString()).includes('data: ')) resolve()
        })
      })
      socket.write(textOf(opened, '/idle'))
      await begun
      sockets.push(socket)
    }
    const after = residentMb(gateway.pid)
    for (const socket of sockets) socket.destroy()
    printTable(
      `Unmodified programs: ${IDLE} streams that stay open and silent (target: less than 60 MB)`,
      ['', 'MB'],
      [
        ['before', before.toFixed(0)],
        ['with them', after.toFixed(0)],
        ['more', (after - before).toFixed(0)],
      ],
    )
  }
} finally {
  await servers.stop()
  await behind.close()
}

/** The scanner alone, on one core; beside it what the machine does with the same bytes, so that figures can be compared. */
async function scan(): Promise<void> {
  const words = 'the gateway passes an answer on while it arrives and looks at every piece of it first '
  const size = 4 * 1024 * 1024
  const bodies: readonly (readonly [string, Buffer])[] = [
    ['prose', Buffer.from(words.repeat(Math.ceil(size / words.length)).slice(0, size))],
    ['JSON', Buffer.from(jsonOf(size))],
    ['base64', Buffer.from(randomBytes(Math.ceil((size * 3) / 4)).toString('base64'))],
    ['random bytes', randomBytes(size)],
  ]
  const speed = async (bytes: number, work: () => unknown) => {
    await work()
    const rounds: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      rounds.push(bytes / (user + system))
    }
    return median(rounds).toFixed(0)
  }
  const rows: (string | number)[][] = []
  for (const [name, body, secret] of [
    ...bodies.map(([name, body]) => [name, body, KEY] as const),
    ...bodies.map(([name, body]) => [`${name}, for a secret of words and rows`, body, SECRET] as const),
  ]) {
    const sought = { secrets: [new Secret(secret)], scheme: 'Bearer' }
    const all = [sought.secrets]
    const search = createLeakSearch(sought)
    const pass = async () => {
      const gate = { inspect: async (response: Searched) => search.inspect(response, createBudget(1e9)) }
      const scanner = createScanner({ gate, sought: () => all }, sought.scheme)
      for (let at = 0; at < body.length; at += 16_384)
        await scanner.push(body.subarray(at, at + 16_384), false)
      const end = await scanner.end()
      if (!end.ok) throw new Error('found what is not there')
    }
    rows.push([
      name,
      await speed(body.length, pass),
      await speed(body.length, () => createHash('sha256').update(body).digest()),
    ])
  }
  const json = bodies[1]![1].toString()
  rows.push(['for comparison: JSON.parse of that JSON', await speed(json.length, () => JSON.parse(json)), ''])
  printTable(
    'Unmodified programs: searching a stream in pieces of 16 KiB, MB for a second of CPU (target: 100)',
    ['stream', 'searched', 'SHA-256'],
    rows,
  )
}

function jsonOf(size: number): string {
  const items: unknown[] = []
  for (let i = 0; items.length * 150 < size; i++)
    items.push({
      id: i,
      name: `item-${i}`,
      url: `https://api.example.com/items/${i}?page=2`,
      created_at: '2026-01-26T19:01:12Z',
      text: `A "quoted" text\nof item ${i}`,
    })
  return JSON.stringify(items)
}

interface Measured {
  /** Of the gateway, for one operation. */
  readonly cpuMs: number
  readonly p50: number
}

async function measure(
  { pid }: ServerProcess,
  count: number,
  operation: () => Promise<void>,
): Promise<Measured> {
  const before = cpuSeconds(pid)
  const latencies = await timed(count, operation)
  return { cpuMs: ((cpuSeconds(pid) - before) * 1000) / count, p50: median(latencies) }
}

async function timed(count: number, operation: () => Promise<void>): Promise<number[]> {
  const latencies: number[] = []
  for (let i = 0; i < count; i++) {
    const started = performance.now()
    await operation()
    latencies.push(performance.now() - started)
  }
  return latencies
}

interface Arrived {
  readonly sent: number
  readonly at: number
}

async function readEvents(
  socket: Awaited<ReturnType<typeof startTls>>,
  request: string,
): Promise<readonly Arrived[]> {
  const arrived: Arrived[] = []
  let text = ''
  const done = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      const at = performance.timeOrigin + performance.now()
      text += chunk.toString('latin1')
      for (const [all, sent] of text.matchAll(/data: ([\d.]+)\n\n/g)) {
        text = text.slice(text.indexOf(all) + all.length)
        arrived.push({ sent: Number(sent), at })
      }
      if (arrived.length === EVENTS) resolve()
    })
  })
  socket.write(request)
  await done
  socket.destroy()
  return arrived
}

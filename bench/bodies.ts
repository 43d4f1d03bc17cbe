// The largest bodies that strangers may send: what a storm of them does to the health of the gateway, asked by another process, and to
// its event loop. Storm, prober and gateway are processes of their own. `node bench/bodies.ts [seconds of each row but the first]`
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_JSON_ITEMS } from '../src/doors/http/body.ts'
import type { BodyStorm, BodyStormEnd } from './peers/body-storm.ts'
import {
  percentile,
  printTable,
  residentMb,
  type ServerProcess,
  START_FLAGS,
  startServer,
} from './support.ts'
import type { Turns } from './turns.ts'

const TARGET_MS = 50
const REQUESTS = 10_000
const CONNECTIONS = 40
const EVERY_MS = 20
const LARGEST = 640 * 1024
const seconds = Number(process.argv[2] ?? 1.5)
const here = (path: string) => new URL(path, import.meta.url).pathname

const INSPECT = '{"target":"https://example.com/pay","method":"POST","headers":{},"body":'
const DOORS: Readonly<Record<string, (input: string) => string>> = {
  '/v1/inspect': (input) => input,
  '/mcp': (input) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gateway_inspect","arguments":${input}}}`,
  '/a2a': (input) =>
    `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","metadata":{"skillId":"inspect-transaction"},"parts":[{"data":${input}}]}}}`,
}
/** What costs most to parse, as much as one body may have of it. */
const FILLINGS: Readonly<Record<string, string>> = {
  'a long text': '',
  'empty lists': '[],'.repeat(MAX_JSON_ITEMS - 100),
  'members of as many names': Array.from(
    { length: MAX_JSON_ITEMS - 100 },
    (_, i) => `"${i.toString(36)}":1,`,
  ).join(''),
}

/** A body of the largest size at this door; what its filling leaves is one long text. */
function bodyOf(path: string, what: string): string {
  const filling = FILLINGS[what] ?? ''
  const [open, last, close] = filling.startsWith('"') ? ['{', '"last":"', '"}'] : ['[', '"', '"]']
  const [head = '', tail = ''] = (DOORS[path] ?? String)(`${INSPECT}${open}@@${close}}`).split('@@')
  const start = head + filling + last
  return start + 'x'.repeat(LARGEST - start.length - tail.length) + tail
}

interface Row {
  readonly name: string
  readonly path: string
  readonly body: string
  /** By the default limits; else nobody is refused for how often it sends, as if each came from another address. */
  readonly isLimited: boolean
}
const ROWS: readonly Row[] = [
  {
    name: `${REQUESTS} to /v1/inspect, a long text`,
    path: '/v1/inspect',
    body: bodyOf('/v1/inspect', 'a long text'),
    isLimited: true,
  },
  ...Object.keys(FILLINGS).flatMap((what) =>
    Object.keys(DOORS).map((path) => ({
      name: `limits off: ${path}, ${what}`,
      path,
      body: bodyOf(path, what),
      isLimited: false,
    })),
  ),
]

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const servers: ServerProcess[] = []
const peers: ChildProcess[] = []
const peer = (file: string) => {
  const child = fork(here(`./peers/${file}.ts`))
  peers.push(child)
  return child
}

async function startGateway(name: string, env: Record<string, string>) {
  const turnsFile = join(directory, `${name}.turns`)
  const gateway = await startServer(
    here('../test/support/loopback-gateway.ts'),
    {
      PORT: '0',
      GATEWAY_DATA_DIR: join(directory, name),
      GATEWAY_LOG_LEVEL: 'error',
      TURNS_FILE: turnsFile,
      ...env,
    },
    [...START_FLAGS, '--import', here('./peers/turn-report.ts')],
  )
  servers.push(gateway)
  const lines = () => readFileSync(turnsFile, { encoding: 'utf8', flag: 'a+' }).split('\n')
  return {
    ...gateway,
    async turns(): Promise<Turns> {
      const { length } = lines()
      process.kill(gateway.pid, 'SIGUSR2')
      while (lines().length === length) await wait(10)
      return JSON.parse(lines().at(-2) ?? '{}') as Turns
    },
  }
}
type Measured = Awaited<ReturnType<typeof startGateway>>
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function answerOf<T>(child: ChildProcess, sent: object | 'stop'): Promise<T> {
  const said = once(child, 'message')
  child.send(sent)
  const [answer] = (await said) as [T]
  return answer
}

const storm = peer('body-storm')
const prober = peer('health-probe')

async function underProbe<T>(gateway: Measured, work: () => Promise<T>) {
  await gateway.turns()
  prober.send({ origin: gateway.url, path: '/healthz', everyMs: EVERY_MS })
  const result = await work()
  const latenciesMs = await answerOf<number[]>(prober, 'stop')
  return { result, latenciesMs, turns: await gateway.turns() }
}

const inWords = (latenciesMs: readonly number[], { maxOwnMs, longestMs }: Turns) => [
  percentile(latenciesMs, 0.5).toFixed(1),
  percentile(latenciesMs, 0.99).toFixed(1),
  (latenciesMs.at(-1) ?? Number.NaN).toFixed(1),
  maxOwnMs.toFixed(1),
  longestMs.toFixed(1),
]

try {
  const limited = await startGateway('limited', {})
  const unlimited = await startGateway('unlimited', { GATEWAY_RATE_LIMIT: '0' })
  const rows: string[][] = []
  for (const gateway of [limited, unlimited]) await underProbe(gateway, () => wait(500))
  const alone = await underProbe(limited, () => wait(2000))
  rows.push([
    'nobody else',
    ...inWords(alone.latenciesMs, alone.turns),
    '',
    '',
    residentMb(limited.pid).toFixed(0),
  ])
  for (const { name, path, body, isLimited } of ROWS) {
    const gateway = isLimited ? limited : unlimited
    const shot: BodyStorm = {
      origin: gateway.url,
      path,
      headers: { 'a2a-version': '1.0' },
      body,
      connections: CONNECTIONS,
      requests: isLimited ? REQUESTS : Number.MAX_SAFE_INTEGER,
      seconds: isLimited ? 30 : seconds,
    }
    const { result, latenciesMs, turns } = await underProbe(gateway, () =>
      answerOf<BodyStormEnd>(storm, shot),
    )
    const answers = Object.entries(result.answers).map(([status, count]) => `${count} x ${status}`)
    const perSecond = Object.values(result.answers).reduce((sum, count) => sum + count, 0) / result.seconds
    rows.push([
      name,
      ...inWords(latenciesMs, turns),
      answers.join(', '),
      perSecond.toFixed(0),
      residentMb(gateway.pid).toFixed(0),
    ])
  }
  printTable(
    `GET /healthz while ${CONNECTIONS} connections send bodies of ${LARGEST} bytes, milliseconds (target: p99 under ${TARGET_MS})`,
    ['storm', 'p50', 'p99', 'max', 'own CPU of a turn', 'longest turn', 'answers', 'a second', 'MB'],
    rows,
  )
} finally {
  for (const child of peers) if (child.connected) child.disconnect()
  await Promise.all(servers.map((server) => server.stop()))
  await rm(directory, { recursive: true })
}

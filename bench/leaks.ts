// The leak gate against answers that are dear to search: what twenty calls at once, 1 MiB each, do to the event loop of the gateway
// and to another client. Storm, upstream and gateway are processes of their own. `node bench/leaks.ts`
import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newToken } from '../src/lib/tokens.ts'
import { adversarialBodies } from '../test/support/adversarial-bodies.ts'
import { createClient } from '../test/support/gateway.ts'
import {
  closedLoop,
  cpuSeconds,
  createServers,
  median,
  percentile,
  printTable,
  type ServerProcess,
  type Shot,
  START_FLAGS,
} from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'
import type { Turns } from './turns.ts'

const HOST = 'api.example.com'
const SECRET = 'bench-secret-0123456789-abcdefghij'
/** Of each row: so many, or what is answered in that time. */
const MEASURED = { connections: 4, requests: 600, seconds: 1.3 }
const SETTLED_MS = 400
const here = (path: string) => new URL(path, import.meta.url).pathname
const operatorKey = newToken('sk')
const behind = await prepareTlsUpstream(HOST)
const { directory, caFile, dns } = behind
const turnsFile = join(directory, 'turns')
const servers = createServers()
const storm = fork(here('./peers/storm.ts'))

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** How the gateway's loop did since it was asked last. */
async function readTurns(gateway: ServerProcess): Promise<Turns> {
  const lines = () => readFileSync(turnsFile, { encoding: 'utf8', flag: 'a+' }).split('\n')
  const { length } = lines()
  process.kill(gateway.pid, 'SIGUSR2')
  while (lines().length === length) await wait(10)
  return JSON.parse(lines().at(-2) ?? '{}') as Turns
}

/** Runs `measured` while twenty of `shot` are in flight. @returns also how many of them were answered, by status */
async function underStorm<T>(gateway: ServerProcess, shot: Shot, measured: () => Promise<T>) {
  const answers = new Map<number, number>()
  const count = (status: number) => answers.set(status, (answers.get(status) ?? 0) + 1)
  storm.on('message', count)
  storm.send({ ...shot, url: gateway.url + shot.path })
  await wait(300)
  try {
    return { result: await measured(), answers }
  } finally {
    storm.off('message', count)
    storm.send('stop')
    await settle(gateway)
  }
}

/** What a storm left behind ends first, or goes on behind the next one: that has an account of its own, so it does not wait. */
async function settle(gateway: ServerProcess): Promise<void> {
  const until = performance.now() + SETTLED_MS
  for (
    let before = 0, now = cpuSeconds(gateway.pid);
    performance.now() < until;
    now = cpuSeconds(gateway.pid)
  ) {
    if (now === before) return
    before = now
    await wait(100)
  }
}

try {
  const upstream = await servers.start('./peers/hostile-upstream.ts', { ...behind.env, SECRET })
  const { port } = new URL(upstream.url)
  const gateway = await servers.start(
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
  const bare = await servers.start('./peers/undici-forward.ts', {
    NODE_EXTRA_CA_CERTS: caFile,
    LOG_LEVEL: 'error',
  })
  const client = createClient(gateway.url, { operatorKey })
  const shotOf = (capability: string, path: string): Shot => ({
    path: '/v1/egress/fetch',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${capability}` },
    body: JSON.stringify({ method: 'GET', url: `https://${HOST}:${port}${path}` }),
  })
  const { capability } = await client.grant({ secret: SECRET })
  const other = () => closedLoop(gateway, shotOf(capability, '/v1/items'), MEASURED)
  for (let i = 0; i < 2; i++) await other()

  interface Row {
    readonly name: string
    readonly latenciesMs: readonly number[]
    readonly turns: Turns
    readonly answers?: ReadonlyMap<number, number>
  }
  const alone: Row[] = []
  async function measureAlone(): Promise<void> {
    await readTurns(gateway)
    const { latenciesMs } = await other()
    alone.push({ name: 'nobody else', latenciesMs, turns: await readTurns(gateway) })
  }
  const stormy: Row[] = []
  async function measureStorm(name: string, number: number): Promise<void> {
    const { body: made } = await client.rest('POST', '/v1/keys', { account: 'new', name })
    const stranger = await createClient(gateway.url, { operatorKey: made.key }).grant({ secret: SECRET })
    const shot = shotOf(stranger.capability, `/v1/hostile/${number}`)
    const { result, answers } = await underStorm(gateway, shot, async () => {
      await readTurns(gateway)
      const load = await other()
      return { load, turns: await readTurns(gateway) }
    })
    const { load, turns } = result
    stormy.push({ name: `20 x 1 MiB of ${name}`, latenciesMs: load.latenciesMs, turns, answers })
  }

  const wanted = process.argv.slice(2)
  const bodies = Object.keys(adversarialBodies(8, SECRET))
  const chosen = [...bodies.entries()].filter(([, name]) => wanted.length === 0 || wanted.includes(name))
  await measureAlone()
  for (const [i, [number, name]] of chosen.entries()) {
    await measureStorm(name, number)
    // How fast the machine is changes within a minute.
    if (i === chosen.length >> 1) await measureAlone()
  }
  await measureAlone()

  // The same storm and the same other client at a forwarder that searches, stores and signs nothing: what two cores do to anybody.
  const bareShotOf = (path: string): Shot => ({
    ...shotOf('none', path),
    path: '/',
  })
  const otherAtBare = () => closedLoop(bare, bareShotOf('/v1/items'), MEASURED)
  await otherAtBare()
  const bareAlone = [await otherAtBare(), await otherAtBare(), await otherAtBare()]
  const bareStormy: { readonly name: string; readonly latenciesMs: readonly number[] }[] = []
  for (const [number, name] of chosen) {
    const { result } = await underStorm(bare, bareShotOf(`/v1/hostile/${number}`), otherAtBare)
    bareStormy.push({ name: `20 x 1 MiB of ${name}`, latenciesMs: result.latenciesMs })
  }

  const p99 = ({ latenciesMs }: Pick<Row, 'latenciesMs'>) => percentile(latenciesMs, 0.99)
  const usual = median(alone.map(p99))
  const rows = [...alone, ...stormy].map((row) => [
    row.name,
    percentile(row.latenciesMs, 0.5).toFixed(1),
    p99(row).toFixed(1),
    `${(p99(row) / usual).toFixed(2)}x`,
    row.turns.maxDelayMs.toFixed(1),
    row.turns.p99DelayMs.toFixed(1),
    row.turns.longestWaitedMs.toFixed(1),
    row.turns.maxOwnMs.toFixed(1),
    [...(row.answers ?? [])].map(([status, count]) => `${count} x ${status}`).join(', '),
  ])
  printTable(
    'Another client while twenty answers of 1 MiB are always in flight, ms (targets: delay under 20, p99 at most twice the median of "nobody else")',
    [
      '',
      'p50',
      'p99',
      'ratio',
      'max delay',
      'p99 delay',
      'of the longest no core',
      'own CPU of a turn',
      'answered',
    ],
    rows,
  )

  const bareUsual = median(bareAlone.map(p99))
  const controls = [...bareAlone.map((load) => ({ ...load, name: 'nobody else' })), ...bareStormy]
  printTable(
    'Control: the same at a bare undici forward, which reads an answer and sends it on unsearched, ms',
    ['', 'p50', 'p99', 'ratio'],
    controls.map((row) => [
      row.name,
      percentile(row.latenciesMs, 0.5).toFixed(1),
      p99(row).toFixed(1),
      `${(p99(row) / bareUsual).toFixed(2)}x`,
    ]),
  )
} finally {
  storm.disconnect()
  await servers.stop()
  await behind.close()
}

// Several buyers at once: what three pages each, over real TLS and DNS, do to the event loop of the gateway. The pages come
// from a process of their own, and so do the analyses. `node bench/bursts.ts [small] [large] [plain] [bomb]`
import { neverGone } from '../src/core/priced-run.ts'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createAddressPolicy } from '../src/egress/address.ts'
import { createResolver } from '../src/egress/adapters/dns.ts'
import { createSender } from '../src/egress/adapters/undici.ts'
import { noFault } from '../src/lib/fault-points.ts'
import { createAnalyserPool } from '../src/outcomes/adapters/pool.ts'
import { createTargets } from '../src/outbound/targets.ts'
import { createTestOutcomes } from '../test/support/outcomes.ts'
import type { World } from './peers/sources.ts'
import { percentile, printTable } from './support.ts'
import { createTurnMeter, type Turns } from './turns.ts'

const TARGET_MS = 50
const ROUNDS = 5
const ALL_KINDS: readonly (readonly [kind: string, label: string])[] = [
  ['small', '128 KiB'],
  ['large', '2 MiB, gzip'],
  ['plain', '2 MiB, as they are'],
  ['bomb', '64 MiB bombs'],
]
const wanted = process.argv.slice(2)
const KINDS = wanted.length === 0 ? ALL_KINDS : ALL_KINDS.filter(([kind]) => wanted.includes(kind))
const BUYERS = [1, 3, 10]

const meter = createTurnMeter()

interface Round {
  readonly turns: Turns
  readonly ms: number
  readonly delivered: number
  readonly refused: number
}

const worst = (rounds: readonly Round[], of: (turns: Turns) => number) =>
  Math.max(...rounds.map(({ turns }) => of(turns))).toFixed(1)
const middle = (values: readonly number[]) =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  )

/** The longest turn of all rounds, and how much of it the thread only waited for a core. */
function longestOf(rounds: readonly Round[]): readonly [string, string] {
  const { longestMs, longestWaitedMs } = rounds
    .map(({ turns }) => turns)
    .reduce((a, b) => (b.longestMs > a.longestMs ? b : a))
  return [longestMs.toFixed(1), longestWaitedMs.toFixed(1)]
}

async function measureBursts({ host, port, dnsAddress, ca }: World): Promise<void> {
  const policy = createAddressPolicy(['127.0.0.1/32'])
  const sender = createSender({ fault: noFault, policy, ca: [ca] })
  const analyser = createAnalyserPool()
  const outcomes = createTestOutcomes({
    sender,
    analyser,
    targets: createTargets({
      resolver: createResolver([dnsAddress]),
      policy,
      allowSandboxName: false,
      checkHost: async () => ({ ok: true }),
    }),
    rules: { ports: [port], allowSandboxName: false },
    now: Date.now,
  })
  let number = 0
  const buy = (kind: string) =>
    outcomes
      .plan({
        capability: 'web-extraction',
        arguments: {
          urls: [1, 2, 3].map(() => `https://${host}:${port}/${kind}/${number++}`),
          query: 'how hot is the water for green tea',
        },
      })
      .run({ signal: neverGone })

  async function measure(kind: string, buyers: number): Promise<Round> {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 200))
    const started = performance.now()
    meter.start()
    const bought = await Promise.allSettled(Array.from({ length: buyers }, () => buy(kind)))
    const turns = meter.stop()
    const delivered = bought.filter(({ status }) => status === 'fulfilled').length
    return { turns, ms: performance.now() - started, delivered, refused: buyers - delivered }
  }

  for (const [kind] of KINDS) for (let i = 0; i < 4; i++) await measure(kind, 2)
  const rows: string[][] = []
  for (const [kind, label] of KINDS)
    for (const buyers of BUYERS) {
      const rounds: Round[] = []
      for (let i = 0; i < ROUNDS; i++) rounds.push(await measure(kind, buyers))
      rows.push([
        `${buyers} x 3 of ${label}`,
        worst(rounds, ({ maxDelayMs }) => maxDelayMs),
        middle(rounds.map(({ turns }) => turns.maxDelayMs)).toFixed(1),
        worst(rounds, ({ p99DelayMs }) => p99DelayMs),
        ...longestOf(rounds),
        worst(rounds, ({ maxOwnMs }) => maxOwnMs),
        (middle(rounds.map(({ turns }) => turns.cpuMs)) / buyers).toFixed(1),
        middle(rounds.map(({ ms }) => ms)).toFixed(0),
        `${rounds.reduce((sum, { delivered }) => sum + delivered, 0)} / ${rounds.reduce((sum, { refused }) => sum + refused, 0)}`,
      ])
    }
  printTable(
    `Purchases of three pages at once, ${ROUNDS} rounds each, milliseconds (target: delay under ${TARGET_MS})`,
    [
      '',
      'max delay',
      'median of max',
      'p99',
      'longest turn',
      'of it no core',
      'own CPU of a turn',
      'own CPU each',
      'wall',
      'delivered / refused',
    ],
    rows,
  )
  await Promise.all([analyser.close(), sender.close()])
}

/** What this machine does to a loop without a gateway in it, while other processes compute. */
async function measureControl(): Promise<void> {
  const rows: string[][] = []
  for (const [label, processes, turnMs] of [
    ['idle loop, idle machine', 0, 0],
    ['idle loop, 2 busy processes', 2, 0],
    ['turns of 5 ms, 2 busy processes', 2, 5],
    ['turns of 5 ms, 3 busy processes', 3, 5],
  ] as const) {
    const busy = Array.from({ length: processes }, () =>
      fork(new URL('./peers/busy.ts', import.meta.url), { stdio: 'ignore' }),
    )
    await Promise.all(busy.map((child) => once(child, 'spawn')))
    await new Promise((resolve) => setTimeout(resolve, 300))
    const until = performance.now() + 3000
    meter.start()
    while (performance.now() < until) {
      const end = performance.now() + turnMs
      while (performance.now() < end);
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const turns = meter.stop()
    await Promise.all(busy.map(stop))
    rows.push([
      label,
      turns.maxDelayMs.toFixed(1),
      turns.p99DelayMs.toFixed(1),
      turns.longestMs.toFixed(1),
      turns.longestWaitedMs.toFixed(1),
      turns.maxOwnMs.toFixed(1),
    ])
  }
  printTable(
    'The same without a gateway, 3 seconds each: what the scheduler alone does',
    ['', 'max delay', 'p99', 'longest turn', 'of it no core', 'own CPU of a turn'],
    rows,
  )
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

const world = fork(new URL('./peers/sources.ts', import.meta.url))
try {
  const [said] = (await once(world, 'message')) as [World]
  if (wanted.length === 0) await measureControl()
  await measureBursts(said)
} finally {
  meter.close()
  await stop(world)
}

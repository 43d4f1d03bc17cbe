// Reports (POST /v1/test) and inspections (POST /v1/inspect): CPU in this process over every fixture, bodies of 16 to 256 KiB,
// and what the REST door gives per CPU-second. `node bench/commerce.ts`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transaction } from '../schemas/commerce.ts'
import { createCommerce } from '../src/commerce/index.ts'
import { createLogger } from '../src/log.ts'
import { SAMPLES } from '../test/data/commerce/samples.ts'
import { wire } from '../test/support/commerce.ts'
import { closedLoop, median, percentile, printTable, START_FLAGS, type Shot, startServer } from './support.ts'

const WARM_UP = 300
const RUNS = 300
const TARGET_US = 1000
const TARGET_64_KIB_US = 10_000
const TARGET_PER_CPU_SECOND = 1500

const commerce = createCommerce({
  documents: { read: async ({ initial }) => ({ value: initial }) },
  log: createLogger('silent'),
  now: Date.now,
})
type Work = (sample: Transaction) => unknown
const WORKS: readonly (readonly [string, Work])[] = [
  ['report', (sample) => commerce.test(sample, {})],
  ['inspection', (sample) => commerce.inspect(sample, undefined)],
]

/** Sorted, microseconds of CPU of single runs, collection of garbage included: others on the machine do not count. */
async function measure(work: Work, sample: Transaction, runs = RUNS): Promise<number[]> {
  for (let i = 0; i < Math.min(WARM_UP, runs); i++) await work(sample)
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const before = process.cpuUsage()
    await work(sample)
    const { user, system } = process.cpuUsage(before)
    times.push(user + system)
  }
  return times.toSorted((a, b) => a - b)
}

const us = (value: number) => value.toFixed(0)

const samples = Object.entries(SAMPLES).map(([name, sample]) => [name, wire(sample)] as const)
const p50s: number[] = []
const rows: string[][] = []
for (const [name, sample] of samples) {
  const row = [name]
  for (const [, work] of WORKS) {
    const times = await measure(work, sample)
    p50s.push(percentile(times, 0.5))
    row.push(us(percentile(times, 0.5)), us(percentile(times, 0.99)))
  }
  rows.push(row)
}
printTable(
  `CPU per sample, us (target: p50 under ${TARGET_US}; worst here ${us(Math.max(...p50s))})`,
  ['sample', ...WORKS.flatMap(([name]) => [`${name} p50`, 'p99'])],
  rows,
)

const KIB = 1024
/** Text that is neither a secret nor a repetition of one letter. */
const filler = (bytes: number) =>
  'Prices of tea, by country and year. '.repeat(Math.ceil(bytes / 36)).slice(0, bytes)
const LARGE: readonly (readonly [string, (bytes: number) => Transaction])[] = [
  [
    'HTTP body, raw',
    (bytes) => ({ ...wire(SAMPLES['x402-http']!), body: JSON.stringify({ query: filler(bytes) }) }),
  ],
  ['MCP arguments', (bytes) => callWith({ text: filler(bytes) })],
  [
    'MCP arguments, many members',
    (bytes) =>
      callWith(Object.fromEntries(Array.from({ length: bytes / 32 }, (_, i) => [`member-${i}`, filler(14)]))),
  ],
  [
    'nested lists',
    (bytes) =>
      callWith({ list: Array.from({ length: bytes / 16 }, (_, i) => [[[[String(i).padStart(8, '0')]]]]) }),
  ],
  [
    'mandates',
    (bytes) => {
      const { body, ...rest } = wire(SAMPLES['ap2-payment']!)
      const chain = (body as { payment_mandate_chain: string }).payment_mandate_chain
      const count = Math.max(1, Math.floor(bytes / chain.length))
      return {
        ...rest,
        body: Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}_mandate`, chain])),
      }
    },
  ],
  [
    'a text without end',
    (bytes) => ({ target: 'https://shop.example/', method: 'POST', body: filler(bytes) }),
  ],
]

function callWith(given: unknown): Transaction {
  const { body, ...rest } = wire(SAMPLES['mcp-2026']!)
  const rpc = body as { params: object }
  return { ...rest, body: { ...rpc, params: { ...rpc.params, arguments: given } } }
}

const sizes = [16, 64, 255] as const
for (const [what, work] of WORKS) {
  const large: string[][] = []
  for (const [name, make] of LARGE) {
    const times: number[] = []
    for (const size of sizes) times.push(percentile(await measure(work, make(size * KIB), 40), 0.5))
    large.push([name, ...times.map(us), (times[2]! / times[0]!).toFixed(1)])
  }
  printTable(
    `${what}, large bodies, p50 us (target: 64 KiB under ${TARGET_64_KIB_US}; 255/16 of a linear one: up to 16)`,
    ['body', ...sizes.map((size) => `${size} KiB`), '255/16'],
    large,
  )
}

// The median sample of the fixtures, by what it costs.
const costs = rows.map(([name, , , inspection]) => ({ name: name!, cost: Number(inspection) }))
const middle = costs.toSorted((a, b) => a.cost - b.cost)[Math.floor(costs.length / 2)]!.name
const sample = samples.find(([name]) => name === middle)![1]

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const server = await startServer(
  new URL('../src/main.ts', import.meta.url).pathname,
  {
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'data'),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
  },
  START_FLAGS,
)
try {
  const shotAt = (path: string): Shot => ({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(sample),
  })
  const door: string[][] = []
  for (const path of ['/v1/inspect', '/v1/test']) {
    await closedLoop(server, shotAt(path), { connections: 8, requests: 4000 })
    const rounds = []
    for (let round = 0; round < 5; round++)
      rounds.push(await closedLoop(server, shotAt(path), { connections: 8, requests: 2000 }))
    const cpuUs = median(rounds.map((result) => result.cpuUs))
    door.push([
      path,
      us(cpuUs),
      (1e6 / cpuUs).toFixed(0),
      percentile(rounds[2]!.latenciesMs, 0.5).toFixed(2),
      percentile(rounds[2]!.latenciesMs, 0.99).toFixed(2),
    ])
  }
  printTable(
    `REST door, sample ${middle}, 8 connections (target: at least ${TARGET_PER_CPU_SECOND} inspections per CPU-second)`,
    ['path', 'CPU us', 'per CPU-second', 'p50 ms', 'p99 ms'],
    door,
  )
} finally {
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}

// What a body costs by its size, measured with the flags the server runs with; bench/commerce.ts starts it.
// `node --max-semi-space-size=4 --no-parallel-scavenge bench/commerce-large.ts`
import type { Transaction } from '../schemas/commerce.ts'
import { SAMPLES } from '../test/data/commerce/samples.ts'
import { wire } from '../test/support/commerce.ts'
import { WORKS, type Work } from './commerce-works.ts'
import { median, printTable } from './support.ts'

const KIB = 1024
/** Each twice as large as the one before, so that the growth of every doubling is seen. */
const SIZES_KIB = [16, 32, 64, 128, 255] as const
const ROUNDS = 5
/** Of every size, in one round: the same number of characters and not of runs, so that as much garbage falls to each. */
const ROUND_CHARS = 3 * 1024 * KIB
const TARGET_64_KIB_US = 10_000

/** Text that is neither a secret nor a repetition of one letter. */
const filler = (bytes: number) =>
  'Prices of tea, by country and year. '.repeat(Math.ceil(bytes / 36)).slice(0, bytes)
const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

const BODIES: readonly (readonly [string, (bytes: number) => Transaction])[] = [
  [
    'HTTP body, raw',
    (bytes) => ({ ...wire(SAMPLES['x402-http']!), body: JSON.stringify({ query: filler(bytes) }) }),
  ],
  ['MCP arguments', (bytes) => callWith({ text: filler(bytes) })],
  [
    'MCP arguments, many members',
    (bytes) => callWith(Object.fromEntries(repeat(bytes / 32, (i) => [`member-${i}`, filler(14)]))),
  ],
  // Thousands of members of one object: V8 keeps them in a table of its own.
  ['one wide object', (bytes) => callWith(Object.fromEntries(repeat(bytes / 16, (i) => [`k${i}`, i])))],
  ['short texts', (bytes) => callWith({ list: repeat(bytes / 8, () => 'tea 1') })],
  [
    'nested lists',
    (bytes) => callWith({ list: repeat(bytes / 16, (i) => [[[[String(i).padStart(8, '0')]]]]) }),
  ],
  [
    'mandates',
    (bytes) => {
      const { body, ...rest } = wire(SAMPLES['ap2-payment']!)
      const chain = (body as { payment_mandate_chain: string }).payment_mandate_chain
      const count = Math.max(1, Math.floor(bytes / chain.length))
      return { ...rest, body: Object.fromEntries(repeat(count, (i) => [`m${i}_mandate`, chain])) }
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

interface Cost {
  /** Microseconds of CPU. */
  readonly mean: number
  readonly p50: number
}

async function runRound(work: Work, transaction: Transaction, runs: number): Promise<Cost> {
  const times: number[] = []
  const start = process.cpuUsage()
  for (let i = 0; i < runs; i++) {
    const before = process.cpuUsage()
    await work(transaction)
    const { user, system } = process.cpuUsage(before)
    times.push(user + system)
  }
  const { user, system } = process.cpuUsage(start)
  return { mean: (user + system) / runs, p50: median(times) }
}

/** Sizes take turns, upwards and downwards, so that none always pays for the garbage of the same other one. */
async function measure(work: Work, make: (bytes: number) => Transaction): Promise<Cost[]> {
  const sizes = SIZES_KIB.map((size) => ({ transaction: make(size * KIB), chars: size * KIB }))
  const rounds: Cost[][] = sizes.map(() => [])
  for (let round = -1; round < ROUNDS; round++) {
    const order = [...sizes.keys()]
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      const { transaction, chars } = sizes[index]!
      const cost = await runRound(work, transaction, Math.ceil(ROUND_CHARS / chars))
      // The first is for the compiler.
      if (round >= 0) rounds[index]!.push(cost)
    }
  }
  return rounds.map((costs) => ({
    mean: median(costs.map(({ mean }) => mean)),
    p50: median(costs.map(({ p50 }) => p50)),
  }))
}

const last = SIZES_KIB.length - 1
for (const [what, work] of WORKS) {
  const rows: string[][] = []
  for (const [name, make] of BODIES) {
    const costs = await measure(work, make)
    const ratio = (of: keyof Cost) => (costs[last]![of] / costs[0]![of]).toFixed(1)
    rows.push([name, ...costs.map(({ mean }) => mean.toFixed(0)), ratio('mean'), ratio('p50')])
  }
  // The mean is judged: garbage is collected in one small run of many and in every large one, so that the p50 of small runs
  // leaves out what that of large ones holds. What an inspection costs is the sum over all, collections included.
  printTable(
    `${what}, large bodies, mean CPU us (target: 64 KiB under ${TARGET_64_KIB_US}; linear: the mean of 255 KiB at most ` +
      '16 times that of 16 KiB; p50 beside it)',
    ['body', ...SIZES_KIB.map((size) => `${size} KiB`), '255/16', 'p50 255/16'],
    rows,
  )
}

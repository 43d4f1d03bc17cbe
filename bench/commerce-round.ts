// One round of the comparison of commerce-base.ts: inspects every fixture with the code of one checkout, which has the process to itself.
// `node bench/commerce-round.ts CHECKOUT` prints JSON: by sample, microseconds of CPU an inspection takes, and what was recognised.
import { join, resolve } from 'node:path'
import type { InspectResult } from '../schemas/commerce.ts'
import { SAMPLES } from '../test/data/commerce/samples.ts'
import { wire } from '../test/support/commerce.ts'
import type { Work } from './commerce-works.ts'
import { median } from './support.ts'

export interface RoundOfSample {
  readonly us: number
  /** Protocol, its version and the stage, as one text. */
  readonly recognised: string
}

const WARM_UP = 200
const BLOCKS = 11
/** The clock of CPU counts in microseconds and costs one itself: a block is long enough for neither to matter. */
const RUNS_IN_BLOCK = 20

const checkout = resolve(process.argv[2] ?? '.')
const { WORKS } = (await import(join(checkout, 'bench/commerce-works.ts'))) as {
  WORKS: readonly (readonly [string, Work])[]
}
const inspect = new Map(WORKS).get('inspection')!
const samples = Object.entries(SAMPLES).map(([name, sample]) => ({
  name,
  sample: wire(sample),
  times: [] as number[],
}))

// A gateway sees all kinds in turns, and so does this: what was compiled for one kind alone would be compiled anew in earnest.
for (let i = 0; i < WARM_UP; i++) for (const { sample } of samples) await inspect(sample)
for (let block = 0; block < BLOCKS; block++)
  for (const { sample, times } of samples) {
    const before = process.cpuUsage()
    for (let i = 0; i < RUNS_IN_BLOCK; i++) await inspect(sample)
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / RUNS_IN_BLOCK)
  }

const found: Record<string, RoundOfSample> = {}
for (const { name, sample, times } of samples) {
  const { protocol, version, stage } = (await inspect(sample)) as InspectResult
  found[name] = { us: median(times), recognised: [protocol, version, stage].join(' ') }
}
console.log(JSON.stringify(found))

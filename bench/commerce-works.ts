// What the benchmarks of inspection and scoring measure.
import type { Transaction } from '../schemas/commerce.ts'
import { createCommerce } from '../src/commerce/index.ts'
import { createLogger } from '../src/lib/log.ts'

const commerce = createCommerce({
  documents: { read: async ({ initial }) => ({ value: initial }) },
  log: createLogger('silent'),
  now: Date.now,
})

export type Work = (sample: Transaction) => unknown

export const WORKS: readonly (readonly [string, Work])[] = [
  ['report', (sample) => commerce.test(sample, {})],
  ['inspection', (sample) => commerce.inspect(sample, undefined)],
]

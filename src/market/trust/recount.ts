// Figures agree with the ledger: what it holds and nobody counted is counted. A process that died had outcomes in its memory; a payment
// that settled later than its call, or under another process, was told to no recorder at all.
import type { Logger } from '../../lib/log.ts'
import type { Store } from '../../store/ports.ts'

export interface RecountParts {
  readonly store: Pick<Store, 'countMissedSales'>
  readonly now: () => number
  readonly log: Logger
}

/** Until then a sale is with the recorder of the process that made it, which also knows how long it took. */
export const PATIENCE_MS = 5_000
/** One transaction holds the rows of so many. */
const PAGE = 200

/** @returns counts what was missed, once whoever else counts it too; resolves with how many sales it found */
export function createRecount({ store, now, log }: RecountParts): () => Promise<number> {
  return async () => {
    let total = 0
    for (let found = PAGE; found === PAGE;) {
      const at = now()
      found = await store.countMissedSales({ settledBefore: at - PATIENCE_MS, limit: PAGE, now: at })
      total += found
    }
    if (total > 0) log.info({ event: 'market_sales_recounted', sales: total }, 'market: missed sales counted')
    return total
  }
}

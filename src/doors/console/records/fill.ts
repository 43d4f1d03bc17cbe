// Fills a page of a table. The store looks at so many rows at once and no more, so that calls go on in between; a filter that fits few
// rows takes several looks. After some, or after some time, the page says how far it came.
import type { Page } from '../../../store/model.ts'
import type { SearchRequest } from '../../../store/ports.ts'

/** Rows that each look goes through: most filters fill a page from the first, and for the rest 100,000 rows are looked through. */
const LOOKS = [2_000, 18_000, 20_000, 20_000, 20_000, 20_000] as const
/** No look is begun after so long, so that a page is there within 50 ms whatever it is narrowed by. */
const MOST_MS = 30

/** Rows of a page. */
export const PAGE_ROWS = 50

export interface Filled<T> extends Page<T> {
  /** Rows that were looked through where more may fit behind them; else null. */
  readonly looked: number | null
}

/**
 * @param now milliseconds
 * @returns at most `limit` rows, newest first
 */
export async function fill<T>(
  search: (request: SearchRequest) => Promise<Page<T>>,
  {
    before,
    now,
    limit = PAGE_ROWS,
  }: {
    readonly before: string | undefined
    readonly now: () => number
    readonly limit?: number
  },
): Promise<Filled<T>> {
  const startedAt = now()
  const items: T[] = []
  let [next, looked] = [before, 0]
  for (const lookAt of LOOKS) {
    const page = await search({ limit: limit - items.length, before: next, lookAt })
    items.push(...page.items)
    next = page.next ?? undefined
    if (next === undefined || items.length >= limit) return { items, next: page.next, looked: null }
    looked += lookAt
    if (now() - startedAt > MOST_MS) break
  }
  return { items, next: next ?? null, looked }
}

/** Every row that fits, newest first, a page at a time. */
export async function* pages<T>(
  search: (request: SearchRequest) => Promise<Page<T>>,
  limit: number,
): AsyncGenerator<readonly T[]> {
  let before: string | undefined
  do {
    const page = await search({ limit, before })
    if (page.items.length > 0) yield page.items
    before = page.next ?? undefined
  } while (before !== undefined)
}

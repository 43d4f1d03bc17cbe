// Fills a page of a table. The store looks at so many rows at once and no more, so that calls go on in between; a filter that fits few
// rows takes several looks, and after some the page says how far it came.
import type { Page } from '../../../store/model.ts'
import type { SearchRequest } from '../../../store/ports.ts'

/** With 20,000 rows a look, 100,000 are looked through for a page. */
const MOST_LOOKS = 5

/** Rows of a page. */
export const PAGE_ROWS = 50

export interface Filled<T> extends Page<T> {
  /** There may be more that fits behind what was looked at. */
  readonly isCut: boolean
}

/** @returns at most `limit` rows, newest first */
export async function fill<T>(
  search: (request: SearchRequest) => Promise<Page<T>>,
  before: string | undefined,
  limit = PAGE_ROWS,
): Promise<Filled<T>> {
  const items: T[] = []
  let next = before
  for (let look = 0; look < MOST_LOOKS; look++) {
    const page = await search({ limit: limit - items.length, before: next })
    items.push(...page.items)
    next = page.next ?? undefined
    if (next === undefined || items.length >= limit) return { items, next: page.next, isCut: false }
  }
  return { items, next: next ?? null, isCut: true }
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

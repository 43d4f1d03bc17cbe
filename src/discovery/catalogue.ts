// Reads one catalogue: its /discovery/resources, page by page, within bounds. What was read stays read when a later page
// fails; nothing of it is believed before entry.ts has looked at it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject, parseJson } from '../lib/json.ts'
import { memberOf } from './data.ts'
import { type Entry, readEntry } from './entry.ts'
import type { Outbound, OutboundReason } from './outbound.ts'

export interface CatalogueReading {
  readonly entries: readonly Entry[]
  /** Entries that were not valid or not public, and repetitions. */
  readonly dropped: number
  /** `complete`, or why there is no more: then `entries` is what came before. */
  readonly end: 'complete' | 'limit' | 'malformed' | `status_${number}` | OutboundReason
}

export interface CatalogueLimits {
  readonly pages: number
  readonly entries: number
  readonly pageBytes: number
  readonly pageMs: number
  readonly totalMs: number
}

export const CATALOGUE_LIMITS: CatalogueLimits = {
  pages: 60,
  entries: 5_000,
  pageBytes: 2 * 1024 * 1024,
  pageMs: 8_000,
  totalMs: 30_000,
}

const PAGE = 100
/** Entries between two turns of the event loop. */
const AT_ONCE = 25
const PATH = '/discovery/resources'

export interface CatalogueParts {
  readonly outbound: Outbound
  readonly now: () => number
}

/** Never throws. */
export async function readCatalogue(
  source: string,
  { outbound, now }: CatalogueParts,
  signal: AbortSignal,
  limits: CatalogueLimits = CATALOGUE_LIMITS,
): Promise<CatalogueReading> {
  const started = now()
  const entries = new Map<string, Entry>()
  let seen = 0
  let dropped = 0
  const finish = (end: CatalogueReading['end']): CatalogueReading => ({
    entries: [...entries.values()],
    dropped,
    end,
  })

  for (let page = 0; page < limits.pages; page++) {
    const left = limits.totalMs - (now() - started)
    if (left <= 0) return finish('timeout')
    const result = await outbound.get({
      url: pageUrl(source, seen),
      timeoutMs: Math.min(limits.pageMs, left),
      maxBytes: limits.pageBytes,
      signal,
      isConfigured: true,
    })
    if (!result.ok) return finish(result.reason)
    if (result.response.status !== 200) return finish(`status_${result.response.status}`)
    const read = readPage(result.response.body)
    if (!read) return finish('malformed')

    const sizeBefore = entries.size
    for (const [i, item] of read.items.slice(0, limits.entries - seen).entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await nextTurn()
      const verdict = readEntry(item, now())
      if (verdict.ok && !entries.has(verdict.entry.key)) entries.set(verdict.entry.key, verdict.entry)
      else dropped++
    }
    seen += read.items.length
    if (seen >= limits.entries && (read.total === undefined || read.total > limits.entries))
      return finish('limit')
    const isLast = read.total === undefined ? read.items.length < PAGE : seen >= read.total
    if (isLast || read.items.length === 0) return finish('complete')
    // A page that says nothing new is the same page again: this catalogue does not know `offset`.
    if (entries.size === sizeBefore && page > 0) return finish('complete')
  }
  return finish('limit')
}

/** The catalogue's own query (an access key, say) stays. */
function pageUrl(source: string, offset: number): string {
  const url = new URL(source)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith(PATH) ? path : path + PATH
  url.searchParams.set('limit', String(PAGE))
  url.searchParams.set('offset', String(offset))
  return url.href
}

function readPage(body: Buffer): { items: readonly unknown[]; total: number | undefined } | undefined {
  let page: unknown
  try {
    page = parseJson(body.toString('utf8'))
  } catch {
    return undefined
  }
  if (!isObject(page)) return undefined
  const items = memberOf(page, 'items') ?? memberOf(page, 'resources')
  if (!Array.isArray(items)) return undefined
  const total = memberOf(page, 'pagination', 'total')
  return {
    items,
    total: typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 ? total : undefined,
  }
}

/** The catalogue as it is shown: without the query, which may hold an access key. */
export function nameSource(source: string): string {
  const url = new URL(source)
  return url.origin + url.pathname.replace(/\/+$/, '')
}

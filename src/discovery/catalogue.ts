// Reads one catalogue: its /discovery/resources, page by page, within bounds. What was read stays read when a later page
// fails; nothing of it is believed before entry.ts has looked at it. A page that cannot be read is asked for again in smaller
// ones, down to a single entry, so that the entry at fault costs itself alone.
import { createHash, type Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { memberOf } from './data.ts'
import { type Entry, type EntryRefusal, readEntry } from './entry.ts'
import type { Outbound, OutboundReason } from './outbound.ts'
import { type Page, type ParseFailure, parseEntry, splitPage } from './page.ts'

/** Why an entry is not listed. `repeated`: the catalogue lists the same resource before; `own_address`: only we speak for that. */
export type DropReason = EntryRefusal | ParseFailure | 'repeated' | 'own_address'

export interface CatalogueReading {
  readonly entries: readonly Entry[]
  /** Entries that are not listed, by the reason. */
  readonly dropped: ReadonlyMap<DropReason, number>
  /** `complete`, or why there is no more: then `entries` is what came before. */
  readonly end: 'complete' | 'limit' | 'malformed' | `status_${number}` | OutboundReason
}

export interface CatalogueLimits {
  readonly pages: number
  /** Requests for less than a whole page, all of them together. */
  readonly smallPages: number
  readonly entries: number
  readonly pageBytes: number
  readonly pageMs: number
  readonly totalMs: number
}

export const CATALOGUE_LIMITS: CatalogueLimits = {
  pages: 60,
  // One entry that nobody can read takes about fifteen: seven halvings, and as many steps back to whole pages.
  smallPages: 120,
  entries: 5_000,
  pageBytes: 2 * 1024 * 1024,
  pageMs: 8_000,
  totalMs: 30_000,
}

const PAGE = 100
/** Entries in a row that may be unreadable on their own: more of them is a catalogue that heeds no `limit`. */
const MAX_UNREADABLE = 8
/** Entries between two turns of the event loop. */
const AT_ONCE = 25
const PATH = '/discovery/resources'

export interface CatalogueParts {
  readonly outbound: Outbound
  /** Whether an entry speaks for an address of ours that we do not list ourselves. */
  readonly isImpostor: (entry: Entry) => boolean
  readonly now: () => number
}

type Asked =
  | { readonly ok: true; readonly page: Page }
  | { readonly ok: false; readonly end: CatalogueReading['end']; readonly mayBeAnEntry: boolean }

/** Never throws. */
export async function readCatalogue(
  source: string,
  { outbound, isImpostor, now }: CatalogueParts,
  signal: AbortSignal,
  limits: CatalogueLimits = CATALOGUE_LIMITS,
): Promise<CatalogueReading> {
  const started = now()
  const entries = new Map<string, Entry>()
  const dropped = new Map<DropReason, number>()
  const drop = (reason: DropReason, count = 1) => dropped.set(reason, (dropped.get(reason) ?? 0) + count)
  const finish = (end: CatalogueReading['end']): CatalogueReading => ({
    entries: [...entries.values()],
    dropped,
    end,
  })
  let seen = 0

  async function ask(limit: number, left: number): Promise<Asked> {
    const result = await outbound.get({
      url: pageUrl(source, { limit, offset: seen }),
      timeoutMs: Math.min(limits.pageMs, left),
      maxBytes: limits.pageBytes,
      signal,
      isConfigured: true,
    })
    if (!result.ok) return { ok: false, end: result.reason, mayBeAnEntry: result.reason === 'too_large' }
    const { status, body } = result.response
    if (status !== 200) return { ok: false, end: `status_${status}`, mayBeAnEntry: false }
    const read = splitPage(body, limits.entries - seen)
    return read.ok ? read : { ok: false, end: 'malformed', mayBeAnEntry: read.reason === 'damaged' }
  }

  /** @returns how many entries were new, and the resources of the page as one digest */
  async function take(page: Page): Promise<{ readonly added: number; readonly digest: string }> {
    const hash = createHash('sha256')
    const sizeBefore = entries.size
    for (const [i, bytes] of page.entries.entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await nextTurn()
      const parsed = parseEntry(bytes)
      const value = parsed.ok ? parsed.value : undefined
      const verdict = parsed.ok ? readEntry(value, now()) : parsed
      if (!verdict.ok) {
        drop(verdict.reason)
        hash.update(bytes)
        continue
      }
      const { entry } = verdict
      hashEntry(hash, entry, memberOf(value, 'resource'))
      if (entries.has(entry.key)) drop('repeated')
      else if (isImpostor(entry)) drop('own_address')
      else entries.set(entry.key, entry)
    }
    return { added: entries.size - sizeBefore, digest: hash.digest('base64') }
  }

  let limit = PAGE
  let lastDigest = ''
  let unreadable = 0
  let failure: CatalogueReading['end'] = 'limit'
  for (let pages = 0, smallPages = 0; pages < limits.pages && smallPages < limits.smallPages;) {
    const left = limits.totalMs - (now() - started)
    if (left <= 0) return finish('timeout')
    if (limit === PAGE) pages++
    else smallPages++
    const asked = await ask(limit, left)
    if (!asked.ok) {
      failure = asked.end
      if (!asked.mayBeAnEntry || signal.aborted) return finish(failure)
      if (limit > 1) {
        limit = Math.floor(limit / 2)
        continue
      }
      // This one entry is what nobody can read.
      if (++unreadable > MAX_UNREADABLE) return finish(failure)
      drop(failure === 'too_large' ? 'too_large' : 'malformed')
      seen++
      continue
    }
    const { page } = asked
    const { added, digest } = await take(page)
    seen += page.count
    if (seen >= limits.entries && (page.total === undefined || page.total > limits.entries))
      return finish('limit')
    const isLast = page.total === undefined ? page.count < limit : seen >= page.total
    if (isLast || page.count === 0) return finish('complete')
    // The very page of before is the same page again: this catalogue does not know `offset`.
    if (added === 0 && page.count > 1 && digest === lastDigest) return finish('complete')
    lastDigest = digest
    unreadable = 0
    limit = Math.min(PAGE, limit * 2)
  }
  // Where small pages are used up, what comes behind the unreadable entries is not known.
  return finish(limit < PAGE ? failure : 'limit')
}

/** Resources as the catalogue spells them: what it lists twice it spells twice, and a page that comes again it spells alike. */
function hashEntry(hash: Hash, { key }: Entry, spelt: unknown): void {
  hash.update(`${key}\0${typeof spelt === 'string' ? spelt : ''}\0`)
}

/** The catalogue's own query (an access key, say) stays. */
function pageUrl(source: string, { limit, offset }: { limit: number; offset: number }): string {
  const url = new URL(source)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith(PATH) ? path : path + PATH
  url.searchParams.set('limit', String(limit))
  url.searchParams.set('offset', String(offset))
  return url.href
}

/** The catalogue as it is shown: without the query, which may hold an access key. */
export function nameSource(source: string): string {
  const url = new URL(source)
  return url.origin + url.pathname.replace(/\/+$/, '')
}

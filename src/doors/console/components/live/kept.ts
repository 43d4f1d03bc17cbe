// What the live log shows of all that it hears: the newest, as far as they fit the filter.
import type { Decision } from '../../../../core/live-events.ts'

/** What the reader wants to see; an empty text is everything. */
export interface LiveFilter {
  readonly tool: string
  /** A code, `ok`, or `refused` for every other one. */
  readonly code: string
  /** Part of an id or a host, or a door. */
  readonly caller: string
}

/** A row that has come. Several decisions of one request would have one id, so rows are numbered. */
export type Row = Decision & { readonly n: number }

export interface Gap {
  readonly n: number
  /** Null: nobody knows how many. */
  readonly missed: number | null
}

export const isGap = (entry: Row | Gap): entry is Gap => 'missed' in entry

/** More than anybody scrolls through. */
export const KEPT = 1000
export const SHOWN = 200

/** The newest entries, oldest first. */
export const keep = (before: readonly (Row | Gap)[], news: readonly (Row | Gap)[]): readonly (Row | Gap)[] =>
  [...before, ...news].slice(-KEPT)

/** Newest first. */
export function shown(entries: readonly (Row | Gap)[], filter: LiveFilter): readonly (Row | Gap)[] {
  const found: (Row | Gap)[] = []
  for (let at = entries.length - 1; at >= 0 && found.length < SHOWN; at--) {
    const entry = entries[at]
    if (entry && (isGap(entry) || fits(entry, filter))) found.push(entry)
  }
  return found
}

/** Whether the reader wants to see this decision. */
export function fits(row: Decision, { tool, code, caller }: LiveFilter): boolean {
  if (tool !== '' && row.tool !== tool) return false
  if (code === 'refused' ? row.code === 'ok' : code !== '' && row.code !== code) return false
  const part = caller.trim().toLowerCase()
  return (
    part === '' ||
    row.door === part ||
    (row.caller?.includes(part) ?? false) ||
    (row.host?.includes(part) ?? false)
  )
}

const NAMES = ['tool', 'code', 'caller'] as const

/** The filter that an address asks for. */
export const filterIn = (query: URLSearchParams): LiveFilter => ({
  tool: query.get('tool')?.slice(0, 128) ?? '',
  code: query.get('code')?.slice(0, 64) ?? '',
  caller: query.get('caller')?.slice(0, 128) ?? '',
})

/** The query of an address that asks for it, with its question mark; empty for everything. */
export function queryOf(filter: LiveFilter): string {
  const query = new URLSearchParams()
  for (const name of NAMES) if (filter[name] !== '') query.set(name, filter[name])
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

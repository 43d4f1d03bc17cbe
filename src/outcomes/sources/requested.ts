// Decides which sources a request names, however it names them: `url`, `urls` and `sources` are one list. URLs that stand in
// the words of the request are in `urls` by then (resolve.ts). Whether an address is any good is found out when it is read.
import { MAX_SOURCES } from '../limits.ts'
import { toUSVString } from 'node:util'
import { parseTarget } from '../../egress/target.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ClaimField } from '../claims.ts'
import type { SourceRequest } from '../ports.ts'

export type SourcesReading =
  | { readonly ok: true; readonly sources: readonly SourceRequest[] }
  | { readonly ok: false; readonly reason: 'too_many' | 'two_fallbacks' }

const DETAILS = {
  too_many: `url, urls and sources together may name at most ${MAX_SOURCES} different sources.`,
  two_fallbacks: 'The same source is named with two different fallbacks. Keep one.',
} as const

/**
 * The sources of a request in its order: `url`, then `urls`, then `sources`, each address once.
 * @returns none where the request names none
 * @throws {GatewayError} input_invalid for more than three, input_conflict for one source with two fallbacks
 */
export function requestedSources(claims: ReadonlyMap<ClaimField, unknown>): readonly SourceRequest[] {
  const reading = readSources(claims)
  if (reading.ok) return reading.sources
  throw new GatewayError(
    reading.reason === 'too_many' ? 'input_invalid' : 'input_conflict',
    DETAILS[reading.reason],
  )
}

/** The same as a verdict. */
export function readSources(claims: ReadonlyMap<ClaimField, unknown>): SourcesReading {
  const merged = new Map<string, SourceRequest>()
  for (const { url, fallbacks } of listSources(claims)) {
    const key = toKey(url)
    const before = merged.get(key)
    const fallback = fallbacks.find((other) => toKey(other) !== key)
    const source = {
      // The spelling that can be fetched is kept of two.
      url: before && isTarget(before.url) ? before.url : toCanonicalUrl(url),
      fallbacks: fallback === undefined ? (before?.fallbacks ?? []) : [toCanonicalUrl(fallback)],
    }
    const [earlier, chosen] = [before?.fallbacks[0], source.fallbacks[0]]
    if (earlier !== undefined && chosen !== undefined && toKey(earlier) !== toKey(chosen))
      return { ok: false, reason: 'two_fallbacks' }
    merged.set(key, source)
  }
  if (merged.size > MAX_SOURCES) return { ok: false, reason: 'too_many' }
  return { ok: true, sources: [...merged.values()] }
}

function listSources(claims: ReadonlyMap<ClaimField, unknown>): SourceRequest[] {
  const url = claims.get('url') as string | undefined
  const urls = (claims.get('urls') ?? []) as readonly string[]
  const sources = (claims.get('sources') ?? []) as readonly (
    string | (Pick<SourceRequest, 'url'> & Partial<SourceRequest>)
  )[]
  return [
    ...(url === undefined ? [] : [{ url, fallbacks: [] }]),
    ...urls.map((each) => ({ url: each, fallbacks: [] })),
    ...sources.map((source) =>
      typeof source === 'string'
        ? { url: source, fallbacks: [] }
        : { url: source.url, fallbacks: source.fallbacks ?? [] },
    ),
  ]
}

/**
 * Gives the address that is sent, which is the one that was signed: a target in its one spelling, anything else as written,
 * as UTF-8 and without a password.
 */
export function toCanonicalUrl(url: string): string {
  const target = parseAny(url)
  return target.ok ? target.url.href : toUSVString(hideUserinfo(url))
}

const isTarget = (url: string) => parseAny(url).ok

/** Ports are the operator's choice, and looked at when the source is read. */
function parseAny(url: string) {
  const port = URL.canParse(url) ? new URL(url).port : ''
  return parseTarget(url, { ports: [port === '' ? 443 : Number(port)], allowSandboxName: true })
}

/** A password in an address makes it no target; the answer, the quote and the log show that, but not the password. */
const hideUserinfo = (url: string) =>
  url
    .replace(/^(\s*[a-z][a-z\d+.-]*:[\\/]*)[^\\/?#]*@/i, '$1***@')
    // `https://https://name:password@host`
    .replace(/([\\/]{2})[^\\/?#]*@/g, '$1***@')

/** Equal for two spellings of one address: the lenient parse, without what is never sent. */
export function toKey(url: string): string {
  if (!URL.canParse(url)) return url
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

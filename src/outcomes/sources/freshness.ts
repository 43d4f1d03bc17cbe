// Decides whether an answer may be kept, and how long it may be served (RFC 9111), for a cache that many callers share.
// Every request is sent without credentials and with the same headers, so that what varies by them does not vary here.
import type { OutboundResponse } from '../../egress/ports.ts'
import { headerOf, listOf } from '../../outbound/public-request.ts'

type Head = Pick<OutboundResponse, 'status' | 'headers'>

export interface Freshness {
  readonly isStorable: boolean
  /** Explicit lifetime; null where the source says nothing. 0: asked again every time. */
  readonly lifetimeSeconds: number | null
  /** How old the answer was when it came, as caches on the way count it. */
  readonly ageSeconds: number
}

const MAX_SECONDS = 2 ** 31

/** The rules of RFC 9111 for one answer. */
export function readFreshness(head: Head): Freshness {
  const directives = readDirectives(listOf(head, 'cache-control'))
  const has = (name: string) => head.headers.some((entry) => entry.name === name)
  const isPersonal = has('set-cookie') || has('www-authenticate') || has('authentication-info')
  const isStorable =
    head.status === 200 &&
    !isPersonal &&
    !directives.has('no-store') &&
    !directives.has('private') &&
    !listOf(head, 'vary').includes('*')
  return { isStorable, lifetimeSeconds: lifetimeOf(head, directives), ageSeconds: ageOf(head) }
}

function lifetimeOf(head: Head, directives: ReadonlyMap<string, string>): number | null {
  if (directives.has('no-cache')) return 0
  const stated = directives.get('s-maxage') ?? directives.get('max-age')
  // A lifetime that cannot be read is over (RFC 9111, 4.2.1).
  if (stated !== undefined) return readSeconds(stated) ?? 0
  const expires = headerOf(head, 'expires')
  if (expires === undefined) return directives.size === 0 && isPragmaNoCache(head) ? 0 : null
  const until = readHttpDate(expires)
  const from = readHttpDate(headerOf(head, 'date') ?? '')
  if (until === undefined || from === undefined) return 0
  return Math.max(0, Math.floor((until - from) / 1000))
}

const isPragmaNoCache = (head: Head) => /(?:^|[\s,])no-cache(?:$|[\s,])/i.test(listOf(head, 'pragma'))

/** The form that is sent today is the only one: what is older, or not a date, is in the past. */
function readHttpDate(text: string): number | undefined {
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text.trim())) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

const ageOf = (head: Head): number => readSeconds(headerOf(head, 'age') ?? '') ?? 0

function readSeconds(text: string): number | undefined {
  const digits = /^\s*"?(\d+)"?\s*$/.exec(text)?.[1]
  return digits === undefined ? undefined : Math.min(Number(digits), MAX_SECONDS)
}

/** Names in lower case; of two that are alike the stricter reading: the first. */
function readDirectives(header: string): Map<string, string> {
  const directives = new Map<string, string>()
  for (const [, name = '', quoted, plain] of header.matchAll(
    /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,]*)))?/g,
  )) {
    const key = name.toLowerCase()
    if (!directives.has(key)) directives.set(key, quoted ?? plain ?? '')
  }
  return directives
}

// Headers that cross the gateway. Both ways are allow-lists; a request header that is not on it is refused by name,
// never dropped in silence, because an agent that believes it was sent would draw wrong conclusions.
import { GatewayError } from '../core/errors.ts'

const MAX_HEADER_BYTES = 8 * 1024
const USER_AGENT = 'agent-gateway/5'

/** Headers that choose a version or a format. None of them can carry an identity, a target or a part of a body. */
const REQUEST_HEADERS = new Set([
  'accept',
  'accept-language',
  'content-language',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'prefer',
  'user-agent',
  'anthropic-beta',
  'anthropic-version',
  'notion-version',
  'openai-beta',
  'stripe-version',
  // An agent's own trace: it names a span, and neither a caller nor a target.
  'traceparent',
  'tracestate',
  'x-github-api-version',
])

/** Headers that frame the message or that the gateway sets: nothing else may stand in them. */
const RESERVED_HEADERS = new Set(
  (
    'accept-encoding connection content-encoding content-length date expect host idempotency-key keep-alive range te ' +
    'trailer transfer-encoding upgrade'
  ).split(' '),
)

/** Lower-case name of a header that neither a secret nor a list of an operator may name. */
export const isReservedHeader = (name: string): boolean => RESERVED_HEADERS.has(name)

/** Lower-case name of a header that a caller may set. */
export const isCallersHeader = (name: string): boolean => REQUEST_HEADERS.has(name)

/** Sentences for refusals that need one. The names are a caller's, and may be those of an object's members: hence a map. */
const EXPLAINED: ReadonlyMap<string, string> = new Map([
  ['authorization', 'the gateway adds the credential'],
  ['proxy-authorization', 'the gateway adds the credential'],
  ['x-api-key', 'the gateway adds the credential'],
  ['cookie', 'the gateway adds the credential and keeps no session'],
  ['idempotency-key', 'the gateway sends its own and names it in the answer'],
  ['host', 'the URL names the host'],
  ['range', 'answers are only taken whole'],
  ['accept-encoding', 'answers are only taken unencoded'],
  ['content-length', 'the gateway counts the body'],
])

const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const VALUE = /^[\t -~\u00a0-\u00ff]*$/

export type HeaderPairs = readonly (readonly [name: string, value: string])[]

const NONE: Readonly<Record<string, string>> = {}
/** What a request without headers of its own sends, by the defaults of its provider: most reads are such. */
const ofBareRequest = new WeakMap<Readonly<Record<string, string>>, HeaderPairs>()

/**
 * The headers to send, lower-case names sorted, with the gateway's own defaults added.
 * @param defaults version headers of the provider, sent where the caller gives none
 * @param listed further names that the provider or the credential allows
 * @throws {GatewayError} header_forbidden naming the header
 */
export function pickRequestHeaders(
  given: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = NONE,
  listed: readonly string[] = [],
): HeaderPairs {
  const isBare = Object.keys(given).length === 0
  const known = isBare ? ofBareRequest.get(defaults) : undefined
  if (known) return known
  const forbidden = (name: string, why: string) => forbiddenHeader(name, why, listed)
  const picked = new Map<string, string>()
  let bytes = 0
  for (const [rawName, value] of Object.entries(given)) {
    const name = rawName.toLowerCase()
    if (!TOKEN.test(rawName)) throw forbidden(rawName, 'it is not a valid header name')
    if (!REQUEST_HEADERS.has(name) && !listed.includes(name))
      throw forbidden(name, EXPLAINED.get(name) ?? 'it is not on the list of headers that may be sent')
    if (picked.has(name)) throw forbidden(name, 'it is given twice')
    if (!VALUE.test(value)) throw forbidden(name, 'its value may hold visible Latin-1 characters only')
    if (value !== value.trim()) throw forbidden(name, 'its value begins or ends with a space')
    bytes += name.length + value.length
    if (bytes > MAX_HEADER_BYTES)
      throw forbidden(name, `all headers together may have ${MAX_HEADER_BYTES} bytes`)
    picked.set(name, value)
  }
  const added = { accept: '*/*', 'user-agent': USER_AGENT, ...defaults }
  for (const [name, value] of Object.entries(added)) if (!picked.has(name)) picked.set(name, value)
  // It is on no list of what a caller or a provider may set.
  picked.set('accept-encoding', 'identity')
  const sorted = [...picked].toSorted(([a], [b]) => (a < b ? -1 : 1))
  if (isBare) ofBareRequest.set(defaults, sorted)
  return sorted
}

function forbiddenHeader(name: string, why: string, listed: readonly string[]): GatewayError {
  // The name is the caller's own text: quoted and cut, so that it cannot write into a log line or a terminal.
  const quoted = JSON.stringify(name.slice(0, 64))
  return new GatewayError('header_forbidden', `Leave out the request header ${quoted}: ${why}.`, {
    reason: 'request_header',
    extras: { header: name.slice(0, 64), allowed: [...REQUEST_HEADERS, ...listed] },
  })
}

const RESPONSE_HEADERS = new Set([
  'age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-language',
  'content-type',
  'date',
  'deprecation',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'retry-after',
  'sunset',
  'vary',
  'warning',
  'request-id',
  'x-request-id',
  'cf-ray',
  'idempotent-replayed',
  'mistral-correlation-id',
  'notion-version',
  'openai-model',
  'openai-processing-ms',
  'openai-version',
  'stripe-should-retry',
  'stripe-version',
  'x-github-api-version-selected',
  'x-github-media-type',
  'x-github-request-id',
  'x-notion-request-id',
  'x-slack-req-id',
])
const RATE_LIMIT = /^(?:x-|anthropic-)?rate-?limit(?:-[a-z\d-]{1,48})?$/
/** Paging and pacing, as the many spell them: a count, a page or a time, and nothing that identifies anybody. */
const PAGING =
  /^(?:x-(?:total(?:-count|-pages)?|(?:next|prev|per)-page|page(?:-(?:count|size|number|token))?|next-cursor|has-more)|retry-after-ms|x-retry-after(?:-ms)?|docker-content-digest|total-count|x-wp-total(?:pages)?)$/

type ReceivedHeaders = readonly {
  readonly name: string
  readonly value: string
  readonly trailer?: boolean
}[]

const isPassedOn = (name: string) => RESPONSE_HEADERS.has(name) || RATE_LIMIT.test(name) || PAGING.test(name)

/**
 * Picks what of an upstream's headers may be passed on, and joins repeated ones. Trailers never are, and neither is anything
 * that sets state or asks for a credential (`Set-Cookie`, `WWW-Authenticate`).
 * @param listed further names that the provider or the credential allows
 */
export function pickResponseHeaders(
  received: ReceivedHeaders,
  listed: readonly string[] = [],
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const { name, value, trailer } of received) {
    if (trailer || !(isPassedOn(name) || listed.includes(name))) continue
    const before = picked[name]
    picked[name] = before === undefined ? value : `${before}, ${value}`
  }
  return picked
}

/**
 * A web server in front of the gateway obeys them and does not pass them on. With `X-Accel-Redirect` nginx asks the gateway for another address
 * with the headers of the same request, with `X-Sendfile` others answer with a file of theirs.
 */
const TO_WEB_SERVER =
  /^x-(?:accel-.*|sendfile2?|lighttpd-send-(?:temp)?file|litespeed-location|reproxy-(?:url|file))$/

/** Whether a header, by its lower-case name, is an order to the web server in front of whoever sends it. */
export const commandsWebServer = (name: string): boolean => TO_WEB_SERVER.test(name)

const MAX_DROPPED = 32
/** They are of one connection and say nothing about the answer (RFC 9110, 7.6.1). */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'trailer'])

/** Names that the upstream sent and the caller does not get: it can ask its operator for them. */
export function namesDropped(
  received: ReceivedHeaders,
  picked: Readonly<Record<string, string>>,
): readonly string[] {
  const dropped = new Set<string>()
  for (const { name } of received)
    if (name.length <= 64 && !Object.hasOwn(picked, name) && !OF_CONNECTION.has(name)) dropped.add(name)
  return [...dropped].toSorted().slice(0, MAX_DROPPED)
}

// Headers that cross the edge, both ways. Those of one connection end here, those that the gateway knows better are its
// own, cookies are carried in neither direction (the buyer's origin is the gateway's); everything else passes untouched, in
// order and repetition, because payments and signatures are made over it.
import { isIP } from 'node:net'
import { commandsWebServer } from '../egress/headers.ts'
import type { OutboundResponse } from '../egress/ports.ts'
import { GatewayError } from '../core/errors.ts'
import { findToken } from '../lib/tokens.ts'

export type HeaderPairs = readonly (readonly [name: string, value: string])[]

/** @param name in lower case */
export const valuesOf = (headers: HeaderPairs, name: string): string[] =>
  headers.filter(([other]) => other === name).map(([, value]) => value)

/** The things about this gateway that a merchant is told. */
export interface Hop {
  /** Address of the buyer. */
  readonly client: string
  readonly baseUrl: string
  /** The name of this gateway in `Via`. */
  readonly name: string
}

export const MAX_HEADER_BYTES = 16 * 1024

/** RFC 9110, section 7.6.1; those of older hops too. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const isHopByHop = (name: string) => HOP_BY_HOP.has(name) || name.startsWith('proxy-')

/** The URL names the host, the gateway counts the body and says who asks. */
const GATEWAYS_OWN = new Set(['content-length', 'cookie', 'cookie2', 'forwarded', 'host', 'x-real-ip'])

const isKeptBack = (name: string) =>
  isHopByHop(name) ||
  GATEWAYS_OWN.has(name) ||
  name.startsWith('x-forwarded-') ||
  name.startsWith('x-gateway-')

/** Servers that keep headers as variables (CGI, WSGI, Rack) do not tell `X_Forwarded_For` from `X-Forwarded-For`. */
export const asServersRead = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name)

/** Obsolete text too: bytes above ASCII are the merchant's to read. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/

/**
 * @param received as it came, repeated ones apart
 * @returns lower-case names
 * @throws {GatewayError} header_forbidden naming the header, headers_too_large, target_blocked for a request in a circle
 */
export function headersToMerchant(received: HeaderPairs, hop: Hop): HeaderPairs {
  const named = namedByConnection(received)
  const passed: (readonly [string, string])[] = []
  for (const [rawName, value] of received) {
    const name = rawName.toLowerCase()
    // The name is not quoted: it would be written down where it is refused.
    if (findToken(rawName)) throw forbidden('…', 'its name holds a token of this gateway')
    if (!NAME.test(rawName)) throw forbidden(rawName, 'it is not a valid header name')
    if (!VALUE.test(value)) throw forbidden(name, 'its value holds a control character')
    if (holdsToken(value))
      throw forbidden(
        name,
        'it carries a token of this gateway, which no merchant may see. The edge takes none',
      )
    if (name === 'authorization' && /^(?:negotiate|ntlm)\b/i.test(value))
      throw forbidden(name, 'it authenticates a connection, and buyers share those to a merchant')
    if (name === 'via' && passedThrough(value, hop.name)) throw circular()
    if (named.has(name) || isKeptBack(asServersRead(name))) continue
    passed.push([name, value])
  }
  passed.push(['forwarded', forwardedBy(hop)], ['via', `1.1 ${hop.name}`])
  let bytes = 0
  for (const [name, value] of passed) bytes += name.length + value.length + 4
  if (bytes > MAX_HEADER_BYTES)
    throw new GatewayError('headers_too_large', `Send at most ${MAX_HEADER_BYTES} bytes of headers.`)
  return passed
}

/** Headers that a browser would keep for the gateway's own origin, or that would speak for the gateway. */
const NOT_RELEASED = new Set([
  'alt-svc',
  'clear-site-data',
  'content-length',
  'nel',
  'public-key-pins',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  'x-content-type-options',
  'x-request-id',
])

/**
 * Picks the merchant's headers that the buyer gets: lower-case names, in order and repetition, never a trailer.
 * @param url of the request: what a reference of the answer is relative to, which is nothing behind the gateway's own address
 */
export function headersToBuyer(received: OutboundResponse['headers'], url: URL): HeaderPairs {
  const sent = received.filter(({ trailer }) => !trailer).map(({ name, value }) => [name, value] as const)
  const named = namedByConnection(sent)
  const released: (readonly [string, string])[] = []
  for (const pair of sent) {
    const [name, value] = pair
    if (isHopByHop(name) || named.has(name) || NOT_RELEASED.has(name)) continue
    if (speaksForGateway(name) || commandsWebServer(name)) continue
    if (!NAME.test(name) || !VALUE.test(value)) continue
    released.push(REFERENCES.has(name) ? [name, absolute(value, url)] : pair)
  }
  return released
}

/**
 * A buyer's framework keeps headers as variables, in which every character but letters and digits becomes one and the same: a forged
 * `X_Gateway_Receipt` or `X.Gateway.Receipt` of a merchant would stand where ours does.
 */
const speaksForGateway = (name: string): boolean => /^x[^a-z0-9]+gateway(?:[^a-z0-9]|$)/i.test(name)

/** Joins repeated headers into one list, which is what they mean. */
export function joinPairs(pairs: HeaderPairs): Record<string, string> {
  const joined = new Map<string, string>()
  for (const [name, value] of pairs) {
    const before = joined.get(name)
    joined.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  // Unlike an assignment, this makes a member of `__proto__` as well.
  return Object.fromEntries(joined)
}

/** A relative one would lead a client, its payment with it, to another address of the gateway. */
const REFERENCES = new Set(['location', 'content-location'])

/** `https:/x` is none: to whoever is at https it is a path. */
const WHOLE = /^https?:\/\/[^/\\]/i

function absolute(reference: string, url: URL): string {
  if (WHOLE.test(reference) || !URL.canParse(reference, url.href)) return reference
  const { protocol, href } = new URL(reference, url)
  return /^https?:$/.test(protocol) ? href : reference
}

/** RFC 9110, section 7.6.1: headers that `Connection` names end here as well. */
const namedByConnection = (pairs: HeaderPairs): ReadonlySet<string> =>
  new Set(
    pairs
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map((one) => one.trim().toLowerCase()),
  )

/** A token may stand as it is, or in the password of Basic credentials, where some clients put it. */
function holdsToken(value: string): boolean {
  if (findToken(value)) return true
  const basic = /^basic +([\w+/=-]+) *$/i.exec(value)?.[1]
  return basic !== undefined && findToken(Buffer.from(basic, 'base64').toString('latin1'))
}

const passedThrough = (via: string, name: string) =>
  via.split(',').some((hop) => hop.trim().split(/\s+/)[1]?.toLowerCase() === name.toLowerCase())

/** RFC 7239. */
function forwardedBy({ client, baseUrl }: Hop): string {
  const address = client.replace(/^::ffff:(?=[\d.]+$)/i, '')
  const family = isIP(address)
  const node = family === 4 ? address : family === 6 ? `"[${address}]"` : 'unknown'
  const { host, protocol } = new URL(baseUrl)
  return `for=${node};host="${host}";proto=${protocol.slice(0, -1)}`
}

const circular = () =>
  new GatewayError(
    'target_blocked',
    'This request has come through this gateway before: it would go in a circle. Call the merchant behind it.',
    { reason: 'circular' },
  )

function forbidden(name: string, why: string): GatewayError {
  // The name is the caller's own text: quoted and cut, so that it cannot write into a log line or a terminal.
  const quoted = JSON.stringify(name.slice(0, 64))
  return new GatewayError('header_forbidden', `Leave out the request header ${quoted}: ${why}.`, {
    reason: 'request_header',
    extras: { header: name.slice(0, 64) },
  })
}

// Comparisons that bindings are made of, the payment firewall's among them: what agrees with what is decided here alone.
import type { Numeral } from './decode/value.ts'
import type { Binding, Place } from './ports.ts'

export type Verdict = Binding['verdict']

/** A binding as a value. The verdict is about the statement at `at` against the one at `other`. */
export const bind = (
  kind: Binding['kind'],
  verdict: Verdict,
  at: Place,
  other: Place,
  message: string,
): Binding => ({ kind, verdict, at, with: other, message })

/** EVM addresses differ in case without differing; nothing else does. */
export function isSameAddress(one: string, other: string): boolean {
  const isEvm = /^0x[\da-f]{40}$/i.test(one)
  return isEvm ? one.toLowerCase() === other.toLowerCase() : one === other
}

/** Undefined where one of them is no integer. At most 78 digits each. */
export function compareIntegers(one: Numeral, other: Numeral): -1 | 0 | 1 | undefined {
  if (!one.isInteger || !other.isInteger) return undefined
  const [a, b] = [BigInt(one.value), BigInt(other.value)]
  return a < b ? -1 : a > b ? 1 : 0
}

/** A signed amount against the one asked for: `exact` means just that, `upto` may be more; partial where others are more. */
export function compareAmounts(signed: bigint, asked: bigint, scheme: string): Verdict {
  if (signed === asked) return 'match'
  if (scheme === 'exact' || signed < asked) return 'mismatch'
  return scheme === 'upto' ? 'match' : 'partial'
}

/** Undefined where the text is no absolute URL. */
export function toUrl(text: string): URL | undefined {
  return URL.parse(text) ?? undefined
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** `host[:port]` as a URL writes it, the port left out where it is the scheme's own. Undefined where it is no host. */
export function normaliseAuthority(text: string, protocol: string): string | undefined {
  if (text === '' || /[\s/?#@\\]/.test(text)) return undefined
  const base = DEFAULT_PORTS[protocol] === undefined ? 'https:' : protocol
  return toUrl(`${base}//${text}`)?.host
}

/** Text that names a host, a URL or an origin: its host. Undefined where it is a name for people. */
export function readHostName(text: string, protocol: string): string | undefined {
  const url = /^https?:\/\//i.test(text) ? toUrl(text) : undefined
  if (url !== undefined) return url.host
  return /^(?:[\w-]+\.)+[\w-]+(?::\d+)?$/.test(text) || /^localhost(?::\d+)?$/i.test(text)
    ? normaliseAuthority(text, protocol)
    : undefined
}

/** The same host, a host below it, or another one. */
export function compareHosts(target: URL, host: string): Verdict {
  if (target.host === host) return 'match'
  const name = host.replace(/:.*/s, '')
  if (target.hostname === name) return 'partial'
  return target.hostname.endsWith(`.${name}`) && name.includes('.') ? 'partial' : 'mismatch'
}

/**
 * Same resource: user, origin, path and query; partial where query or scheme differ alone, and where the path may be the same as
 * somebody behind a router sees it.
 */
export function compareResources(target: URL, resource: URL): Verdict {
  if (target.username !== resource.username || target.password !== resource.password) return 'mismatch'
  if (target.hostname !== resource.hostname) return 'mismatch'
  const paths = comparePaths(target.pathname, resource.pathname)
  if (paths === 'mismatch' || target.protocol !== resource.protocol)
    return paths === 'mismatch' ? 'mismatch' : 'partial'
  if (target.port !== resource.port) return 'mismatch'
  return target.search === resource.search ? paths : 'partial'
}

/**
 * Partial: with another slash at the end, without what a router adds or takes away in front, as a pattern of routes
 * (`/weather/:city`), or as the root of everything.
 */
function comparePaths(target: string, resource: string): Verdict {
  if (target === resource) return 'match'
  const [asked, named] = [normalisePath(target), normalisePath(resource)]
  if (asked === named) return 'match'
  if (named === '/') return 'partial'
  const [one, other] = [asked.replace(/\/$/, ''), named.replace(/\/$/, '')]
  return one.endsWith(other) || (one !== '' && other.endsWith(one)) || isRoute(other, one)
    ? 'partial'
    : 'mismatch'
}

/** RFC 3986, 6.2.2: escapes are written in two cases, and some for nothing. */
const normalisePath = (path: string): string =>
  path.replaceAll(/%[\da-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[\w.~-]/.test(char) ? char : escape.toUpperCase()
  })

/** `:name`, `{name}`, `[name]` and `*` stand for one segment. */
const PARAMETER = /^(?::[\w-]+|(?:\{|%7B)[\w-]+(?:\}|%7D)|\[[\w-]+\]|\*)$/

function isRoute(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) => segment === given[index] || PARAMETER.test(segment))
  )
}

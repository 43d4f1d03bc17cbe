// The address that a program wrote, as the one spelling that is checked and sent; and its placeholder out of it, where the credential says
// that the secret stands in the path or in the query.
import type { Placement } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { findEncodedToken } from '../../lib/tokens.ts'
import { isPlaceholder } from './placeholder.ts'

const UNRESERVED = /[A-Za-z0-9._~-]/

/**
 * Servers read the result as they read what was given: escapes of unreserved characters are undone but for dots, which mean another path, and
 * the others are in upper case (RFC 3986, 6.2.2).
 */
function canonicalEscapes(path: string): string {
  return path.replaceAll(/%[\da-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return UNRESERVED.test(char) && char !== '.' ? char : escape.toUpperCase()
  })
}

/** @throws {GatewayError} target_invalid where in the place of the secret there is no placeholder */
const programPath = (path: string, placements: readonly Placement[]): string =>
  canonicalEscapes(withoutSegment(path, placements))

/**
 * @param path as the program wrote it, without its query
 * @returns as it is judged under a credential with these placements, for whoever chooses among credentials. One that would be refused is as it
 * stands: where it is chosen after all, `programTarget` says why
 */
export function comparedPath(path: string, placements: readonly Placement[]): string {
  try {
    return programPath(path, placements)
  } catch {
    return canonicalEscapes(path)
  }
}

/**
 * @param url absolute, as the program wrote it
 * @returns canonical where it can be; what cannot is left to the one place that judges it (`parseTarget`)
 * @throws {GatewayError} target_invalid where a token of this gateway stands in the path, or in the place of the secret what is no placeholder
 */
export function programTarget(url: string, placements: readonly Placement[]): string {
  const { origin, path, query } = split(url)
  const placedPath = programPath(path, placements)
  if (findEncodedToken(placedPath))
    throw new GatewayError(
      'target_invalid',
      'The path holds a token of this gateway, and this credential does not go into a path: give the token as the key of the program instead.',
      { reason: 'token_in_path' },
    )
  return origin + placedPath + withoutParameters(query, placements)
}

function split(url: string): { readonly origin: string; readonly path: string; readonly query: string } {
  const [, origin = '', path = '', query = ''] = /^(https:\/\/[^/?#]*)([^?]*)(.*)$/s.exec(url) ?? ['', url]
  return { origin, path: path === '' ? '/' : path, query }
}

/**
 * The segment that the program built of its placeholder: the gateway puts its own there. Segments are told by their place alone, so that any
 * other may be one of the address, from a caller who leaves the secret out, or a key of the program's own: neither goes on beside the secret,
 * and neither is dropped.
 */
function withoutSegment(path: string, placements: readonly Placement[]): string {
  const segments = path.slice(1).split('/')
  // From the last on, so that the places of those before it stay what they were.
  const places = placements.filter((placement) => placement.in === 'path').toSorted((a, b) => b.at - a.at)
  for (const { at, prefix = '' } of places) {
    const segment = segments[at] ?? ''
    if (segment === '' || !segment.startsWith(prefix)) continue
    if (!isPlaceholder(segment)) throw segmentTaken(at, prefix)
    segments.splice(at, 1)
  }
  return `/${segments.join('/')}`
}

const segmentTaken = (at: number, prefix: string) =>
  new GatewayError(
    'target_invalid',
    `The gateway puts the credential into segment ${at + 1} of the path, and what stands there is no placeholder: write ${prefix}AgentGateway, or ` +
      `${prefix === '' ? 'the capability' : `${prefix} and the capability`}, as this segment. Nothing was sent or charged.`,
    { reason: 'credential_placement' },
  )

function withoutParameters(query: string, placements: readonly Placement[]): string {
  if (query === '' || query === '?') return ''
  const names = new Set(
    placements.filter((placement) => placement.in === 'query').map(({ name }) => name.toLowerCase()),
  )
  const pairs = query
    .slice(1)
    .split('&')
    .filter((pair) => !names.has(nameOf(pair)) && !findEncodedToken(pair))
  if (pairs.length === 0) return ''
  // As a URL parser writes it, which escapes what may not stand in a query.
  return URL.parse(`https://host.example/?${pairs.join('&')}`)?.search ?? query
}

const nameOf = (pair: string) => decoded(pair.split('=')[0] ?? '').toLowerCase()

/** As a form's parser reads it; what is no escape stays. */
const decoded = (part: string) => new URLSearchParams(`_=${part.replaceAll('&', '%26')}`).get('_') ?? ''

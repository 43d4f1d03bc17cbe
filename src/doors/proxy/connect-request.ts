// What a CONNECT asks for, and on whose word: RFC 9110, 9.3.6 and 11.7.
import type { IncomingMessage } from 'node:http'
import { parseTarget } from '../../egress/target.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Destination, ProxyDoorParts } from './ports.ts'

const AUTHORITY = /^([^:@/?#[\]\s]+|\[[^\]]*\]):(\d{1,5})$/

/**
 * The host is judged like that of any target: no address of digits, no local name, no port but those that requests may use.
 * @throws {GatewayError} target_invalid, target_blocked
 */
export function readDestination(authority: string, targets: ProxyDoorParts['targets']): Destination {
  const [, name = '', digits = ''] = AUTHORITY.exec(authority) ?? []
  if (name === '')
    throw new GatewayError('target_invalid', 'CONNECT takes host:port, such as api.example.com:443.')
  const port = Number(digits)
  // Names are alike in either case, and programs pass on what their users typed.
  const host = name.toLowerCase()
  const verdict = parseTarget(urlOf({ host, port }, '/'), targets)
  if (verdict.ok) return { host: verdict.host, port: verdict.port }
  throw new GatewayError(verdict.code, verdict.detail, { reason: verdict.reason })
}

/** A token of this gateway, whose letters are nobody's to read. */
const TOKEN = /agw_[a-z]{2,3}_[\w-]*/g

/** What a log may say of a request line: users and their passwords, paths and queries are the program's, and hold its keys. */
export function namedHost(target: string): string {
  const authority = target.replace(/^[a-z][a-z\d+.-]*:\/\//i, '').split(/[/?#\\]/, 1)[0] ?? ''
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replaceAll(TOKEN, 'agw_…')
    .slice(0, 300)
}

/** @param path as it came, with its query */
export const urlOf = ({ host, port }: Destination, path: string): string =>
  `https://${host}${port === 443 ? '' : `:${port}`}${path}`

/**
 * `Basic`: the password, whatever the name before it is; a name alone where there is no password. `Bearer`: the token.
 * @returns undefined where nothing was presented that could be a token
 */
export function presentedIdentity({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const value = headers['proxy-authorization']
  const [, scheme = '', rest = ''] = /^(basic|bearer) +(\S+) *$/i.exec(value ?? '') ?? []
  if (rest === '') return undefined
  if (scheme.toLowerCase() === 'bearer') return rest
  const text = Buffer.from(rest, 'base64').toString('latin1')
  const colon = text.indexOf(':')
  const [name, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  return password || name || undefined
}

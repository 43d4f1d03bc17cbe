// Where the libraries of services put their keys: the capability stands in the same place. It is found here and judged by the call path; what
// carries it is never passed on.
import type { IncomingMessage } from 'node:http'
import { KEY_HEADERS } from '../http/request.ts'

/** A capability, or the access token of an assistant. */
const TOKEN = /^agw_(?:cap|at)_[A-Za-z0-9_-]+$/

/** Where a library can set no header for a WebSocket it puts the key among the subprotocols, behind a name of its own. */
const IN_SUBPROTOCOLS = /(?:^|[\s,.])(agw_(?:cap|at)_[A-Za-z0-9_-]+)(?=$|[\s,])/

/**
 * @returns what stands in `X-Gateway-Capability`, whatever else was sent: the door of a run puts it beside the headers of a program, which has no
 * say in it; else the first one that is a token of this gateway; else whatever was sent as a bearer token, so that it is refused in words
 */
export function findToken({ headers }: Pick<IncomingMessage, 'headers'>, query: string): string | undefined {
  const own = headers['x-gateway-capability']
  if (typeof own === 'string') return own.trim()
  const { scheme, value } = readAuthorization(headers.authorization)
  const given = [
    value,
    ...KEY_HEADERS.map((name) => headers[name]),
    ...(scheme === 'basic' ? pairOf(value) : []),
    ...new URLSearchParams(query).getAll('key'),
    IN_SUBPROTOCOLS.exec(headers['sec-websocket-protocol'] ?? '')?.[1],
  ]
  const found = given.find((text) => typeof text === 'string' && TOKEN.test(text.trim()))
  return typeof found === 'string' ? found.trim() : scheme === 'bearer' ? value : undefined
}

/**
 * Whether a program sends this, whatever its `Origin` says: a token stands in a header that a page can set only after a preflight, which is
 * refused here. `Basic` does not count, as browsers add it by themselves, nor does the address or a subprotocol, which pages choose.
 */
export function isOfProgram({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { scheme, value } = readAuthorization(headers.authorization)
  const given = [scheme === 'basic' ? undefined : value, ...KEY_HEADERS.map((name) => headers[name])]
  return given.some((text) => typeof text === 'string' && TOKEN.test(text.trim()))
}

function readAuthorization(header: string | undefined): {
  readonly scheme?: string
  readonly value?: string
} {
  const [, scheme, value] = /^(\S+) +(\S+) *$/.exec(header ?? '') ?? []
  // Some send the key alone.
  if (scheme === undefined || value === undefined) return header === undefined ? {} : { value: header }
  return { scheme: scheme.toLowerCase(), value }
}

/** Password first, then user: Stripe and its like take the key as a user name. */
function pairOf(encoded: string | undefined): readonly string[] {
  const [user = '', ...password] = Buffer.from(encoded ?? '', 'base64')
    .toString()
    .split(':')
  return [password.join(':'), user]
}

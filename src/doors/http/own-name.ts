// A gateway of `http://localhost` is reached at `127.0.0.1` and `[::1]`, too. Pages have one address, since a passkey and a session belong to
// a name and never to an address of digits; programs are answered at each, by the name that they asked for.
import type { IncomingMessage } from 'node:http'

const LITERALS = ['127.0.0.1', '[::1]']

type Asked = Pick<IncomingMessage, 'headers'>

/**
 * @param own public address
 * @returns whether the request is for it under another spelling of its name; never where a tunnel brings another port along
 */
export function isAtOtherName({ headers: { host } }: Asked, own: URL): boolean {
  return own.hostname === 'localhost' && LITERALS.some((name) => host === own.host.replace('localhost', name))
}

/** Whether the request came by the public address, in whatever spelling: by any other name a proxy may have written it. */
export const isAtOwnAddress = (req: Asked, own: URL): boolean =>
  req.headers.host === own.host || isAtOtherName(req, own)

/** The address under the name that the request was made to: clients compare what they are told with what they were given. */
export function asAsked(url: string, req: Asked): string {
  const own = new URL(url)
  return isAtOtherName(req, own) ? url.replace(own.host, req.headers.host ?? own.host) : url
}

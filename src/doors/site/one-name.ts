// Pages have one address. A passkey and a session belong to a name and never to an address of digits, so whoever opens a page of
// `http://localhost` at `127.0.0.1` or `[::1]` is sent to it. Programs are answered at either.
import type { IncomingMessage } from 'node:http'

const LITERALS = ['127.0.0.1', '[::1]']

/**
 * @param own public address of the pages
 * @returns whether a page that is asked for is one of `own` under another spelling of it; never where a tunnel brings another port along
 */
export function isAtOtherName({ headers: { host } }: Pick<IncomingMessage, 'headers'>, own: URL): boolean {
  return own.hostname === 'localhost' && LITERALS.some((name) => host === own.host.replace('localhost', name))
}

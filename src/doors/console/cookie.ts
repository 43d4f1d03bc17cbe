// The cookie of a session. Other ports of localhost share its cookies (research: Chromium sends them), so the port is in its name.
import type { IncomingMessage } from 'node:http'

/** As long as the session itself lives (identity). */
export const SESSION_SECONDS = 12 * 3600

/** Where the browser keeps `Secure` cookies: over TLS, and on loopback but in Safari. */
const isSafari = (userAgent: string) => /\bVersion\/[\d.]+.*\bSafari\//.test(userAgent)

/** @param baseUrl address that people are shown */
export function cookieName(baseUrl: string, userAgent: string): string {
  const { port, protocol } = new URL(baseUrl)
  const bare = port === '' ? 'agw' : `agw-${port}`
  return protocol === 'http:' && isSafari(userAgent) ? bare : `__Host-${bare}`
}

/** The token that the browser sent; undefined where it sent none, or two that cannot both be right. */
export const readSessionCookie = (req: IncomingMessage, baseUrl: string): string | undefined =>
  readCookie(req, cookieName(baseUrl, req.headers['user-agent'] ?? ''))

/** The one value of a cookie. */
export function readCookie(req: IncomingMessage, name: string): string | undefined {
  const found = (req.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
  const [only] = found
  return found.length === 1 && only !== undefined ? only.slice(name.length + 1) : undefined
}

/** @param token undefined: the browser forgets it */
export const sessionCookie = (
  req: IncomingMessage,
  baseUrl: string,
  token: string | undefined,
  maxAgeSeconds = 0,
): string => cookie(cookieName(baseUrl, req.headers['user-agent'] ?? ''), token, maxAgeSeconds)

/** What a browser keeps while somebody signs in elsewhere. */
export const waitingCookieName = (req: IncomingMessage, baseUrl: string): string =>
  `${cookieName(baseUrl, req.headers['user-agent'] ?? '')}-waiting`

const WAITING_SECONDS = 600
/** @param value undefined: the browser forgets it */
export const waitingCookie = (req: IncomingMessage, baseUrl: string, value: string | undefined): string =>
  cookie(waitingCookieName(req, baseUrl), value, WAITING_SECONDS)

function cookie(name: string, token: string | undefined, maxAgeSeconds: number): string {
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return `${name}=${token ?? ''}; Path=/; Max-Age=${token === undefined ? 0 : maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`
}

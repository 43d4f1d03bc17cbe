// What tokens are for: this gateway. Clients write its address in several ways, and every way that means it is one resource (RFC 8707).
import type { Addresses } from '../../core/config.ts'

export { GATEWAY_SCOPE } from '../../core/authenticate.ts'

/** Paths at which a client may have been pointed to this gateway; the origin alone means it too. */
const PATHS = ['', '/mcp', '/mcp/connect', '/a2a', '/v1']

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Hosts on which the gateway answers besides the one of the URL: all of loopback where it is one of them. */
export function isSameHost(given: URL, own: URL): boolean {
  if (given.protocol !== own.protocol || given.port !== own.port) return false
  return given.hostname === own.hostname || (LOOPBACK.has(given.hostname) && LOOPBACK.has(own.hostname))
}

/** The one spelling that is kept: `{base}/mcp`. */
export const canonicalResource = ({ mcpUrl }: Pick<Addresses, 'mcpUrl'>): string => mcpUrl

/** @returns the kept spelling where the text means this gateway: origin, slash, query and upper case do not matter; else undefined */
export function toCanonicalResource(
  text: string,
  addresses: Pick<Addresses, 'baseUrl' | 'mcpUrl'>,
): string | undefined {
  if (text.includes('#') || !URL.canParse(text)) return undefined
  const given = new URL(text)
  if (given.username !== '' || given.password !== '') return undefined
  const path = given.pathname.replace(/\/$/, '')
  const means = (url: string, paths: readonly string[]) => {
    const own = new URL(url)
    const root = own.pathname.replace(/\/$/, '')
    return isSameHost(given, own) && (path === '' || paths.some((known) => path === root + known))
  }
  const isOwn = means(addresses.baseUrl, PATHS) || means(addresses.mcpUrl, ['', '/connect'])
  return isOwn ? canonicalResource(addresses) : undefined
}

// /mcp accepts few Host and Origin headers: a page in somebody's browser must not reach a gateway on loopback
// through a name that it made resolve there (DNS rebinding).
import { GatewayError } from '../../core/errors.ts'
import type { Addresses } from '../../core/config.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const MAX_REMEMBERED = 256

export interface Guard {
  /** @throws {GatewayError} origin_denied */
  check(host: string | undefined, origin: string | undefined): void
}

/** @param listenHost the address it listens on; one that stands for all of them names none */
export function createGuard(addresses: Addresses, listenHost: string): Guard {
  const allowed = new Set([
    ...LOOPBACK,
    ...[addresses.baseUrl, addresses.mcpUrl, addresses.siteUrl].map((url) => new URL(url).hostname),
    ...(listenHost === '0.0.0.0' || listenHost === '::' ? [] : [bracketed(listenHost)]),
  ])
  // Parsing a URL per request would cost more than the rest of the checks together.
  const acceptedHosts = new Set<string>()
  const acceptedOrigins = new Set<string>()
  return {
    check(host, origin) {
      if (host === undefined || !(acceptedHosts.has(host) || accepts(`http://${host}`, host, acceptedHosts)))
        throw new GatewayError(
          'origin_denied',
          'Use the address this gateway is configured with (GATEWAY_BASE_URL or GATEWAY_MCP_URL), or loopback.',
          { reason: 'host' },
        )
      // Programs send no Origin. `null` (a sandboxed frame, a file) names nobody, so it cannot be allowed.
      if (origin === undefined || acceptedOrigins.has(origin) || accepts(origin, origin, acceptedOrigins))
        return
      throw new GatewayError('origin_denied', 'Web pages of other origins may not call this endpoint.', {
        reason: 'origin',
      })
    },
  }

  function accepts(url: string, key: string, remembered: Set<string>): boolean {
    const hostname = hostnameOf(url)
    if (hostname === undefined || !allowed.has(hostname)) return false
    if (remembered.size < MAX_REMEMBERED) remembered.add(key)
    return true
  }
}

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host)

function hostnameOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  const isPlain = /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.pathname === '/'
  return isPlain ? parsed.hostname : undefined
}

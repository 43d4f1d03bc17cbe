// Who may reach a door from a browser, and heads that two readers would read in two ways. A page in somebody's browser must not reach a
// gateway on loopback through a name that it made resolve there (DNS rebinding), nor act in a sandbox as if it were its owner.
import type { IncomingMessage } from 'node:http'
import type { Addresses, Config } from '../../core/config.ts'
import { GatewayError } from '../../core/errors.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const MAX_REMEMBERED = 256

/** Origins of web pages that may call a gateway; in production everybody's, since nothing there counts but tokens and payments. */
export const ANY_ORIGIN = '*'

export interface Guard {
  /**
   * Checks the head of a request to any door, before anything of it is read.
   * @throws {GatewayError} request_invalid, origin_denied
   */
  check(req: IncomingMessage, door?: GuardedDoor): void
}

/**
 * `mcp` checks the Host in production too; what `edge` passes on is judged there, but for the Host, which is the gateway's own. What `program`s
 * send cannot come from a page: their Origin is the upstream's business.
 */
export type GuardedDoor = 'mcp' | 'edge' | 'program' | 'other'

export interface GuardParts {
  readonly config: Pick<Config, 'mode' | 'host' | 'allowedOrigins'>
  readonly addresses: Addresses
}

/**
 * A sandbox checks Host and Origin of every request. Production checks the Host of `/mcp` alone, as probes come under any name, and the
 * Origin where the operator named those that may call.
 */
export function createGuard({ config, addresses }: GuardParts): Guard {
  const isSandbox = config.mode === 'sandbox'
  const isAnyOrigin =
    config.allowedOrigins.length === 0 ? !isSandbox : config.allowedOrigins.includes(ANY_ORIGIN)
  const allowed = new Set([
    ...LOOPBACK,
    ...[addresses.baseUrl, addresses.mcpUrl, addresses.siteUrl].map((url) => new URL(url).hostname),
    // An address that stands for all of them names none.
    ...(config.host === '0.0.0.0' || config.host === '::' ? [] : [bracketed(config.host)]),
  ])
  // Parsing a URL per request would cost more than the rest of the checks together.
  const acceptedHosts = new Set<string>()
  const acceptedOrigins = new Set<string>(config.allowedOrigins)

  function checkHost({ headers: { host } }: IncomingMessage): void {
    if (host !== undefined && (acceptedHosts.has(host) || accepts(`http://${host}`, host, acceptedHosts)))
      return
    throw new GatewayError(
      'origin_denied',
      'Use the address this gateway is configured with (GATEWAY_BASE_URL or GATEWAY_MCP_URL), or loopback.',
      { reason: 'host' },
    )
  }

  function checkOrigin({ headers: { origin } }: IncomingMessage): void {
    // Most programs send no Origin. `null` (a sandboxed frame, a file) names nobody, so it cannot be allowed by name.
    if (origin === undefined || acceptedOrigins.has(origin) || accepts(origin, origin, acceptedOrigins))
      return
    throw new GatewayError(
      'origin_denied',
      'Web pages of this origin may not call this gateway. Its operator names those that may in GATEWAY_ALLOWED_ORIGINS.',
      { reason: 'origin' },
    )
  }

  function accepts(url: string, key: string, remembered: Set<string>): boolean {
    const hostname = hostnameOf(url)
    if (hostname === undefined || !allowed.has(hostname)) return false
    if (remembered.size < MAX_REMEMBERED) remembered.add(key)
    return true
  }

  return {
    check(req, door = 'other') {
      checkHead(req, door === 'edge' ? HOST_ONCE : ONCE)
      if (isSandbox || door === 'mcp') checkHost(req)
      if (!isAnyOrigin && door !== 'program') checkOrigin(req)
    },
  }
}

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host)

function hostnameOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  const isPlain = /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.pathname === '/'
  return isPlain ? parsed.hostname : undefined
}

/** Whoever reads the first and whoever reads the last of two such headers would see two different requests. */
const ONCE: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'x-gateway-capability',
  'idempotency-key',
])
const HOST_ONCE: ReadonlySet<string> = new Set(['host'])
/** Lengths of those names: the names of a request are compared only where theirs is one of these. */
const LENGTHS: ReadonlySet<number> = new Set([...ONCE].map(({ length }) => length))

/**
 * RFC 9112, 3.2: a request with more than one Host is refused, and so is one whose target names another host than its Host does.
 * Node keeps the first of two headers and drops the other, or joins them; what came twice is seen in the raw list alone.
 * @throws {GatewayError} request_invalid
 */
export function checkHead(
  req: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>,
  once: ReadonlySet<string> = ONCE,
): void {
  const { rawHeaders } = req
  let seen = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] ?? ''
    if (!LENGTHS.has(raw.length)) continue
    const name = raw.toLowerCase()
    if (!once.has(name)) continue
    // Each name has a length of its own, which stands for it.
    const bit = 1 << raw.length
    if ((seen & bit) !== 0) throw new GatewayError('request_invalid', `Send one ${raw} header, not two.`)
    seen |= bit
  }
  // Whom an edge call is for stands in its path: the authority of its target is a spelling, and no Host is looked at there.
  const authority = once === ONCE ? authorityOf(req.url) : undefined
  if (authority !== undefined && authority !== req.headers.host?.toLowerCase())
    throw new GatewayError('request_invalid', 'The request target and the Host header name different hosts.')
}

/** The host and port of a target in absolute form, in lower case; undefined where it has none. */
function authorityOf(url = '/'): string | undefined {
  if (url.startsWith('/')) return undefined
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase()
}

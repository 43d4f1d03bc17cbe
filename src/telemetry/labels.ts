// The values that a label may have. Callers write methods, paths, tool names and networks; what is not in a list of this house becomes
// `_OTHER`, so that nobody makes series, and nothing that a caller wrote is kept.
import { STATUS_CODES } from 'node:http'

/** The word of the semantic conventions for all that is in no list. */
export const OTHER = '_OTHER'

const HTTP_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
])

/** The route of all that comes through the proxy. */
export const PROXY_ROUTE = 'proxy'

export const methodLabel = (method: string | undefined): string =>
  method !== undefined && HTTP_METHODS.has(method) ? method : OTHER

const MCP_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'notifications/initialized',
  'notifications/cancelled',
])

export const mcpMethodLabel = (method: unknown): string =>
  typeof method === 'string' && MCP_METHODS.has(method) ? method : OTHER

/** How an answer is told from another: its status where it is registered. Whoever runs an upstream chooses its statuses, too. */
export const statusLabel = (status: number): number | string =>
  Object.hasOwn(STATUS_CODES, status) ? status : OTHER

/**
 * What the gateway sends requests for. Connections belong to a partition, which names an account, a credential or a seller; here only its
 * kind is told.
 */
const PURPOSES: readonly (readonly [start: string, purpose: string])[] = [
  ['outcomes', 'source'],
  ['web-fetch', 'source'],
  ['discovery', 'discovery'],
  ['market ', 'market'],
  ['market-probes', 'market'],
  ['notifications ', 'notification'],
  ['a2a notifications ', 'notification'],
  ['client documents', 'identity'],
  ['identity provider', 'identity'],
  ['mailbox-verifier', 'email'],
  ['domain-age', 'email'],
]

export const purposeLabel = (partition: string): string =>
  PURPOSES.find(([start]) => partition.startsWith(start))?.[1] ?? 'credential'

/** @param routes paths as OpenAPI writes them, with `{names}`; one that ends in `*` is everything below it */
export function createRouteLabels(routes: Iterable<string>): (path: string) => string {
  const exact = new Set<string>()
  /** By first segment: a request is compared with few. */
  const shaped = new Map<string, { readonly route: string; readonly shape: RegExp }[]>()
  for (const route of routes) {
    if (!/[{*]/.test(route)) exact.add(route)
    else {
      const shape = route
        .split('/')
        .map((part) =>
          part === '*'
            ? '.*'
            : /^\{.*\}$/.test(part)
              ? '[^/]+'
              : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'),
        )
        .join('/')
      const first = firstSegment(route)
      shaped.set(first, [...(shaped.get(first) ?? []), { route, shape: new RegExp(`^${shape}$`) }])
    }
  }
  return (path) => {
    if (exact.has(path)) return path
    return shaped.get(firstSegment(path))?.find(({ shape }) => shape.test(path))?.route ?? OTHER
  }
}

const firstSegment = (path: string) => path.slice(1, (path.indexOf('/', 1) + 1 || path.length + 1) - 1)

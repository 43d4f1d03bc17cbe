// Picks the route of a listing that a call is for.
import type { ListingRoute } from '../../store/ports.ts'
import { encodeSegment, type Segment } from './path.ts'

export interface MatchedRoute {
  readonly route: ListingRoute
  /** Values of the path's `{names}`. */
  readonly params: Readonly<Record<string, string>>
  /** The path as the upstream is asked for it, with a leading slash. */
  readonly path: string
}

/** A route of this path and method; else which methods the path has, none where there is no such path. */
export type RouteMatch =
  ({ readonly ok: true } & MatchedRoute) | { readonly ok: false; readonly allow: readonly string[] }

/**
 * A path without parameters comes before one with them, as in OpenAPI.
 * @param method undefined: that of the only route at this path
 */
export function matchRoute(
  routes: readonly ListingRoute[],
  method: string | undefined,
  segments: readonly Segment[],
): RouteMatch {
  const found = routes
    .flatMap((route) => {
      const params = matchPath(route.path, segments)
      return params ? [{ route, params, path: fill(route.path, params) }] : []
    })
    .toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)
  const allow = [...new Set(found.map(({ route }) => route.method))]
  const [first] = found
  const wanted = method ?? (allow.length === 1 ? first?.route.method : undefined)
  const match =
    found.find(({ route }) => route.method === wanted) ??
    // HEAD is answered by GET, as everywhere; who pays says GET.
    (wanted === 'HEAD' ? found.find(({ route }) => route.method === 'GET') : undefined)
  return match ? { ok: true, ...match } : { ok: false, allow }
}

function matchPath(path: string, segments: readonly Segment[]): Record<string, string> | undefined {
  const parts = path === '/' ? [] : path.slice(1).split('/')
  if (parts.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [at, part] of parts.entries()) {
    const segment = segments[at]
    if (!segment) return undefined
    const [, name] = /^\{([^{}]+)\}$/.exec(part) ?? []
    if (name !== undefined) params[name] = segment.value
    else if (part !== segment.raw) return undefined
  }
  return params
}

const fill = (path: string, params: Readonly<Record<string, string>>) =>
  path.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => encodeSegment(params[name] ?? ''))

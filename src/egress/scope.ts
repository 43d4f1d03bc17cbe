// The scope of a credential or capability: exact host, `/`-bounded path prefix, method. Pure comparisons of canonical
// strings; a target is made canonical by target.ts before it comes here.
import type { Scope } from '../../schemas/http.ts'
import { checkPath, isLocalName, type TargetOptions } from './target.ts'

export interface ScopedRequest {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly method: string
}

export type ScopeVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'host' | 'path' | 'method'; readonly value: string }

/** Whether the scope covers the request; if not, the first part that it does not cover. */
export function checkScope(scope: Scope, request: ScopedRequest): ScopeVerdict {
  const { host, port, path, method } = request
  if (!scope.hosts.some((entry) => coversHost(entry, host, port)))
    return { ok: false, reason: 'host', value: port === 443 ? host : `${host}:${port}` }
  if (!scope.path_prefixes.some((prefix) => coversPath(prefix, path)))
    return { ok: false, reason: 'path', value: path }
  if (!scope.methods.some((allowed) => allowed === method))
    return { ok: false, reason: 'method', value: method }
  return { ok: true }
}

/** `host` stands for every port that the operator allows, `host:port` for that one. */
export function coversHost(entry: string, host: string, port: number): boolean {
  return entry === host || entry === `${host}:${port}`
}

/** `/v1` covers `/v1` and `/v1/…`, not `/v10`; `/v1/` covers only what is below it. */
export function coversPath(prefix: string, path: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || prefix.endsWith('/') || path[prefix.length] === '/')
  )
}

/** Characters of the longest prefix that covers the path: of several scopes, how much each says of it. 0 where none does. */
export const longestPrefix = ({ path_prefixes }: Pick<Scope, 'path_prefixes'>, path: string): number =>
  Math.max(0, ...path_prefixes.filter((prefix) => coversPath(prefix, path)).map(({ length }) => length))

export type SubsetVerdict =
  { readonly ok: true } | { readonly ok: false; readonly field: keyof Scope; readonly value: string }

/** Whether `inner` allows nothing that `outer` does not; if it does, the first entry that sticks out. */
export function checkSubset(inner: Scope, outer: Scope): SubsetVerdict {
  const host = inner.hosts.find((entry) => !outer.hosts.some((wide) => coversEntry(wide, entry)))
  if (host !== undefined) return { ok: false, field: 'hosts', value: host }
  const prefix = inner.path_prefixes.find(
    (entry) => !outer.path_prefixes.some((wide) => coversPath(wide, entry)),
  )
  if (prefix !== undefined) return { ok: false, field: 'path_prefixes', value: prefix }
  const method = inner.methods.find((entry) => !outer.methods.includes(entry))
  if (method !== undefined) return { ok: false, field: 'methods', value: method }
  return { ok: true }
}

const coversEntry = (wide: string, entry: string) => wide === entry || wide === entry.split(':')[0]

export type EntriesVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false
      /** JSON Pointer below the scope, e.g. `/path_prefixes/0`. */
      readonly pointer: string
      readonly value: string
      readonly message: string
    }

/** Whether entries that have the right shape can ever match: a local host or an ambiguous prefix never would. */
export function checkEntries(
  scope: Scope,
  options: Pick<TargetOptions, 'ports' | 'allowSandboxName' | 'allowEncodedSlash'>,
): EntriesVerdict {
  for (const [i, entry] of scope.hosts.entries()) {
    const [host = '', port] = entry.split(':')
    const refuse = (message: string) =>
      ({ ok: false, pointer: `/hosts/${i}`, value: entry, message }) as const
    if (isLocalName(host, options)) return refuse('is not a name on the public internet')
    if (port !== undefined && !options.ports.includes(Number(port)))
      return refuse('names a port that the operator does not allow')
  }
  for (const [i, prefix] of scope.path_prefixes.entries())
    if (!checkPath(prefix, options).ok)
      return {
        ok: false,
        pointer: `/path_prefixes/${i}`,
        value: prefix,
        message: 'is not a canonical path, so no request would match it',
      }
  return { ok: true }
}

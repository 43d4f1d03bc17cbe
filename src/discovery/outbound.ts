// Sends one GET to a public place: canonical target, one resolution, every address classified, the vetted ones dialled, no
// redirect, no credential. The rules are egress's own; only what the operator configured may be plain http.
import { isIP } from 'node:net'
import type { AddressPolicy } from '../egress/address.ts'
import type { OutboundResponse, Resolver, Sender } from '../egress/ports.ts'
import { parseTarget } from '../egress/target.ts'
import { Secret } from '../lib/secret.ts'

export type OutboundResult =
  | { readonly ok: true; readonly response: OutboundResponse }
  | { readonly ok: false; readonly reason: OutboundReason }
export type OutboundReason =
  /** The URL is of a kind that is never fetched. */
  | 'target_invalid'
  /** Local, private, or on a port that is not allowed. */
  | 'not_public'
  /** The operator stopped outbound requests, or those to this host. */
  | 'denied'
  | 'name_unresolved'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'unreadable'

export interface OutboundGet {
  readonly url: string
  readonly method?: 'GET' | 'HEAD'
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Named by the operator: may be http, may be an address, and may be on a port of its own. */
  readonly isConfigured?: boolean
}

export interface Outbound {
  /** Never throws. */
  get(request: OutboundGet): Promise<OutboundResult>
}

interface Target {
  readonly url: URL
  readonly host: string
}

export interface OutboundParts {
  readonly resolver: Resolver
  readonly sender: Sender
  /** Sends requests to http URLs. */
  readonly plainSender: Sender
  readonly policy: AddressPolicy
  readonly ports: readonly number[]
  /** Whether the operator lets requests to this host out. */
  readonly checkHost: (host: string) => Promise<{ readonly ok: boolean }>
  readonly now: () => number
}

const HEADERS: readonly (readonly [string, string])[] = [
  ['accept', 'application/json'],
  ['accept-encoding', 'identity'],
  ['user-agent', 'agent-gateway-discovery/1'],
]

/** @param parts.ports that unconfigured addresses may be on */
export function createOutbound(parts: OutboundParts): Outbound {
  const { resolver, policy, now } = parts

  function findTarget({ url, isConfigured }: OutboundGet): Target | 'target_invalid' | 'not_public' {
    if (isConfigured) {
      const parsed = URL.canParse(url) ? new URL(url) : undefined
      const host = parsed?.hostname.replace(/^\[|\]$/g, '') ?? ''
      if (!parsed || parsed.username !== '' || parsed.password !== '') return 'target_invalid'
      if (parsed.protocol === 'http:' || isIP(host) !== 0) return { url: parsed, host }
      const port = Number(parsed.port || 443)
      const verdict = parseTarget(url, { ports: [...parts.ports, port] })
      if (verdict.ok) return { url: verdict.url, host: verdict.host }
      return verdict.code === 'target_blocked' ? 'not_public' : 'target_invalid'
    }
    const verdict = parseTarget(url, { ports: parts.ports })
    if (verdict.ok) return { url: verdict.url, host: verdict.host }
    return verdict.code === 'target_blocked' ? 'not_public' : 'target_invalid'
  }

  /** A policy of the operator that cannot be read denies. */
  async function isAllowed(host: string): Promise<boolean> {
    try {
      return (await parts.checkHost(host)).ok
    } catch {
      return false
    }
  }

  async function findAddresses(host: string, timeoutMs: number): Promise<readonly string[] | OutboundReason> {
    let addresses: readonly string[]
    try {
      addresses = isIP(host) === 0 ? await resolver.resolve(host, timeoutMs) : [host]
    } catch {
      return 'name_unresolved'
    }
    if (addresses.length === 0) return 'name_unresolved'
    // One address that is not public refuses the whole answer, as in egress.
    return addresses.every((address) => policy.classify(address).ok) ? addresses : 'not_public'
  }

  return {
    async get(request) {
      const started = now()
      const target = findTarget(request)
      if (typeof target === 'string') return { ok: false, reason: target }
      if (!(await isAllowed(target.host))) return { ok: false, reason: 'denied' }
      const addresses = await findAddresses(target.host, request.timeoutMs)
      if (typeof addresses === 'string') return { ok: false, reason: addresses }
      const sender = target.url.protocol === 'http:' ? parts.plainSender : parts.sender
      const result = await sender.send({
        method: request.method ?? 'GET',
        url: target.url,
        addresses,
        headers: new Secret(HEADERS),
        body: undefined,
        partition: 'discovery',
        timeoutMs: Math.max(1, request.timeoutMs - (now() - started)),
        maxResponseBytes: request.maxBytes,
        signal: request.signal,
      })
      if (result.ok) return { ok: true, response: result.response }
      if (result.reason === 'timeout') return { ok: false, reason: 'timeout' }
      if (result.phase === 'response')
        return { ok: false, reason: result.reason === 'too_large' ? 'too_large' : 'unreadable' }
      return { ok: false, reason: 'unreachable' }
    },
  }
}

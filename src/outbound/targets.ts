// Decides where a request may lead: what the operator denies, what its name resolves to, what class those addresses are of.
import type { AddressClass } from '../../schemas/web-fetch.ts'
import { type AddressPolicy, createAddressPolicy } from '../egress/address.ts'
import { ResolveError, type Resolver } from '../egress/ports.ts'
import { SANDBOX_ADDRESS, SANDBOX_HOST } from '../egress/target.ts'
import { GatewayError } from '../core/errors.ts'

/** A canonical target, and why it may not be reached, as far as the URL itself tells. */
export interface Target {
  readonly host: string
  readonly blocked: { readonly reason: string; readonly detail: string } | undefined
}

export interface TargetParts {
  readonly resolver: Resolver
  readonly policy: AddressPolicy
  readonly allowSandboxName: boolean
  /** The operator's egress policy, as it stands now. */
  readonly checkHost: (
    host: string,
  ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: 'paused' | 'denied_host' }>
}

/** Something that stands in the way, as a finding of a preflight; a fetch throws it. */
export interface Obstacle {
  readonly code: 'target_blocked' | 'upstream_unreachable' | 'egress_paused'
  readonly reason: string
  readonly detail: string
}

export type Resolution =
  | {
      readonly ok: true
      readonly addresses: readonly string[]
      readonly addressClass: AddressClass
    }
  | ({ readonly ok: false } & Obstacle)

const strict = createAddressPolicy([])

/** Judges where a part may read: the URL, the operator's policy, and the addresses that its name has now. */
export function createTargets(parts: TargetParts) {
  /** Judges what can be told without DNS. */
  async function findObstacle({ blocked, host }: Target): Promise<Obstacle | undefined> {
    if (blocked) return { code: 'target_blocked', ...blocked }
    const verdict = await parts.checkHost(host)
    if (verdict.ok) return undefined
    return verdict.reason === 'paused'
      ? { code: 'egress_paused', reason: 'paused', detail: 'The operator has paused all outbound requests.' }
      : { code: 'target_blocked', reason: 'denied_host', detail: 'The operator denies this host.' }
  }

  /** One question; one address that is not public refuses the whole answer. */
  async function inspect(target: Target, timeoutMs: number): Promise<Resolution> {
    const obstacle = await findObstacle(target)
    if (obstacle) return { ok: false, ...obstacle }
    if (parts.allowSandboxName && target.host === SANDBOX_HOST)
      return { ok: true, addresses: [SANDBOX_ADDRESS], addressClass: 'sandbox' }
    let addresses: readonly string[]
    try {
      addresses = await parts.resolver.resolve(target.host, timeoutMs)
    } catch (thrown) {
      if (!(thrown instanceof ResolveError)) throw thrown
      return {
        ok: false,
        code: 'upstream_unreachable',
        reason: thrown.reason,
        detail: DNS_WORDS[thrown.reason],
      }
    }
    for (const address of addresses) {
      const verdict = parts.policy.classify(address)
      if (!verdict.ok)
        return {
          ok: false,
          code: 'target_blocked',
          reason: verdict.reason,
          detail: 'The name of this host leads to an address that is not public.',
        }
    }
    if (addresses.length === 0)
      return { ok: false, code: 'upstream_unreachable', reason: 'not_found', detail: DNS_WORDS.not_found }
    const isPublic = addresses.every((address) => strict.classify(address).ok)
    return { ok: true, addresses, addressClass: isPublic ? 'public' : 'opened_private' }
  }

  return {
    inspect,
    /** @throws {GatewayError} target_blocked, egress_paused */
    async check(target: Target): Promise<void> {
      const obstacle = await findObstacle(target)
      if (obstacle) throw toError(obstacle)
    },
    /** @throws {GatewayError} target_blocked, egress_paused, upstream_unreachable */
    async resolve(target: Target, timeoutMs: number): Promise<Resolution & { ok: true }> {
      const resolution = await inspect(target, timeoutMs)
      if (!resolution.ok) throw toError(resolution)
      return resolution
    },
  }
}
export type Targets = ReturnType<typeof createTargets>

const DNS_WORDS = {
  not_found: 'The host name does not exist.',
  timeout: 'The name resolution took too long.',
  server_failure: 'The name resolution failed.',
} as const

function toError({ code, reason, detail }: Obstacle): GatewayError {
  const after = code === 'target_blocked' ? 'Nothing was charged.' : 'Nothing was charged; try again later.'
  return new GatewayError(code, `${detail} ${after}`, {
    reason,
    ...(code === 'egress_paused' && { extras: { retry_after_seconds: 60 } }),
  })
}

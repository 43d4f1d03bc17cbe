// Preflight of a fetch, for free: is the target safe, can it be paid, what does it cost. Asks DNS and the facilitators, and
// opens no connection to the target.
import type { Targets } from '../outbound/targets.ts'
import { termsOf } from '../payments/quotes.ts'
import type { Economics } from './economics.ts'
import { pathOf } from './pricing.ts'
import { inspectRail, railId, type RailParts } from './rails.ts'
import type { PreparedFetch } from './request.ts'
import { must } from '../lib/must.ts'

export interface PreflightParts extends RailParts {
  readonly targets: Targets
  readonly economics: Economics
  readonly amountAtomic: bigint
  readonly baseUrl: string
  readonly isSandbox: boolean
}

/** Says before anybody pays whether the target may be read and the rail is ready. Nothing is sent to the target. */
export async function preflight(parts: PreflightParts, prepared: PreparedFetch) {
  const { request } = prepared
  const [target, rail] = await Promise.all([
    parts.targets.inspect(prepared, request.timeout_ms),
    inspectRail(parts, request.network),
  ])
  const findings: { code: string; reason: string; detail: string }[] = []
  if (!target.ok) findings.push({ code: target.code, reason: target.reason, detail: target.detail })
  if (!rail.ready) findings.push({ code: 'payments_unavailable', reason: rail.reason, detail: rail.detail })
  if (!parts.economics.available)
    findings.push({
      code: 'tool_unavailable',
      reason: must(parts.economics.rejection_reason, 'why a price does not cover its costs'),
      detail: 'The configured price does not cover its costs, so the tool is not offered.',
    })
  return {
    ok: true as const,
    ready: findings.length === 0,
    request,
    request_digest: prepared.digest,
    target: {
      host: prepared.host,
      safe: target.ok,
      resolved: target.ok,
      address_class: target.ok ? target.addressClass : null,
      addresses: target.ok ? target.addresses.length : 0,
      contacted: false as const,
    },
    payment: {
      ...termsOf(parts, { network: request.network, amountAtomic: parts.amountAtomic }),
      rail: railId(request.network),
      ready: rail.ready,
    },
    economics: parts.economics,
    findings,
    next: {
      method: 'POST' as const,
      url: parts.baseUrl + pathOf(request.network),
      body: bodyOf(prepared),
    },
  }
}

/** The same request in its flat shape: sent unchanged, it has the same digest. */
export function bodyOf({ request }: PreparedFetch): Record<string, unknown> {
  const { url, method, timeout_ms, max_bytes, mode, network } = request
  return { url, method, timeout_ms, max_bytes, mode, network }
}

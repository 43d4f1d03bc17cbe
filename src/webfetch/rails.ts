// Networks on which a fetch can be paid, and whether it can right now: somebody to pay, a chain to look at, a route that settles.
import { createNetworks } from '../core/networks.ts'
import type { Router } from '../payments/ports.ts'
import type { Networks, PaymentNetwork } from '../core/networks.ts'
import { PRODUCTION, TESTNET } from './shapes.ts'
import { must } from '../lib/must.ts'

export type FetchNetworkId = typeof PRODUCTION | typeof TESTNET

/** The pinned assets, also of networks that this gateway has no chain for. */
const pinned = createNetworks([8453, 84532])
/** The network with its asset, which is pinned for every network of the schema. */
export const pinnedNetwork = (network: FetchNetworkId): PaymentNetwork =>
  must(pinned.find(network), 'a network of the schema among the pinned ones')

/** `x402:eip155:8453:exact`: a way to pay, as documents name it. */
export const railId = (network: FetchNetworkId) => `x402:${network}:exact`

export interface RailParts {
  readonly networks: Networks
  readonly router: Pick<Router, 'routes'>
  readonly payTo: string | undefined
}

export type RailReadiness =
  | { readonly ready: true; readonly reason: null; readonly detail: null }
  | {
      readonly ready: false
      readonly reason: keyof typeof DETAILS
      /** Words for an agent: what is missing. */
      readonly detail: string
    }

const DETAILS = {
  no_pay_to: 'The operator has not said who is paid (GATEWAY_PAY_TO).',
  no_network: 'The gateway has no chain behind this network.',
  no_route: 'No facilitator that settles on this network is alive right now. Try again later.',
} as const

/** Never throws. */
export async function inspectRail(parts: RailParts, network: FetchNetworkId): Promise<RailReadiness> {
  const standing = inspectConfiguration(parts, network)
  if (!standing.ready) return standing
  try {
    const routes = await parts.router.routes({ scheme: 'exact', network })
    return routes.length > 0 ? standing : missing('no_route')
  } catch {
    return missing('no_route')
  }
}

/** Readiness as far as it can be told without asking anybody. */
export function inspectConfiguration(
  { networks, payTo }: Pick<RailParts, 'networks' | 'payTo'>,
  network: FetchNetworkId,
): RailReadiness {
  if (payTo === undefined) return missing('no_pay_to')
  if (!networks.find(network)) return missing('no_network')
  return { ready: true, reason: null, detail: null }
}

const missing = (reason: keyof typeof DETAILS): RailReadiness => ({
  ready: false,
  reason,
  detail: DETAILS[reason],
})

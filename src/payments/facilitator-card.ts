// Says what the facilitator takes now, through whom, and by which rules.
import { API_VERSION, type Config } from '../core/config.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Facilitator } from './ports.ts'
import { findV1Network } from '../core/networks.ts'
import type { Route, Router } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import { MAX_TIMEOUT_SECONDS } from './requirements.ts'
import { noRoute } from './settlements.ts'

interface CardParts {
  readonly config: Pick<
    Config,
    'mode' | 'settleFreeAllowance' | 'settleKeylessAllowance' | 'settleMinAtomic' | 'settleWithoutKey'
  >
  readonly networks: Networks
  readonly router: Router
  readonly baseUrl: string
  readonly now: () => number
}

/** When /settle says success: the transaction is in a block and its Transfer was read from the chain's own log. */
const FINALITY = 'included_and_transfer_verified'

/** @param parts.baseUrl without a slash at its end */
export function createFacilitatorCard(
  parts: CardParts,
): Pick<Facilitator, 'supported' | 'identity' | 'route'> {
  const { config, networks, router, baseUrl, now } = parts
  const proven = () => networks.all.filter(({ network }) => networks.hindrance(network) === undefined)
  const address = (path: string) => `${baseUrl}${path}`

  function describeRoute({ upstream, kind, latencyMs }: Route) {
    const state = router.states().find(({ id }) => id === upstream.id)
    return {
      upstream: upstream.id,
      url: upstream.url,
      x402_version: kind.x402Version,
      fee_atomic: upstream.feeAtomic.toString(),
      latency_ms: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
      breaker: state?.breaker ?? 'closed',
      observed_ms_ago: state?.age_ms ?? null,
    }
  }

  /** What upstreams take, and what this facilitator itself does with a payment's extensions. */
  async function supported() {
    const { extensions, ...upstreams } = await router.supported()
    return { ...upstreams, extensions: [...new Set([...extensions, 'bazaar'])].sort() }
  }

  return {
    supported,

    async identity() {
      const { kinds, extensions, signers } = await supported()
      return {
        name: 'Agent Gateway facilitator',
        version: API_VERSION,
        mode: config.mode,
        x402_versions: [1, 2],
        schemes: [...new Set(kinds.map(({ scheme }) => scheme))],
        networks: proven().map(({ network, v1Name, name, revenue, asset }) => ({
          network,
          v1_name: v1Name ?? null,
          name,
          revenue: revenue && config.mode === 'production',
          asset,
        })),
        kinds,
        extensions,
        signers,
        upstreams: router.states(),
        endpoints: {
          verify: address('/verify'),
          settle: address('/settle'),
          supported: address('/supported'),
          route: address('/v1/facilitator/route?network={network}&scheme={scheme}'),
          payment: address('/v1/payments/{claim_id}'),
          receipt: address('/v1/receipts/{receipt_id}'),
        },
        policies: {
          checks:
            'exact payments on the networks above are EIP-3009 authorizations, checked here and proven on chain; payments of ' +
            'any other kind are checked by their upstream alone, whose word is all there is',
          assets:
            'address, EIP-712 name and version are pinned or read from the chain, and proven on it; whatever a request says',
          validity_seconds: { max: MAX_TIMEOUT_SECONDS },
          settle: {
            free_allowance_per_month: config.settleFreeAllowance,
            counted_by: 'account when a service key is sent, else payTo, payer and network, each on its own',
            without_key: {
              who: config.settleWithoutKey,
              minimum_amount: config.settleMinAtomic.toString(),
              allowance_per_network_and_month: config.settleKeylessAllowance,
            },
            credits_beyond: 1,
          },
          replay: 'a settled payment is never settled again and never answered with success',
          retry: 'after a byte of a settlement left, no other upstream is tried; the chain decides',
          finality: FINALITY,
        },
        receipts: { typ: JWS_TYPES.receipt, keys: address('/.well-known/gateway-egress-key.json') },
      }
    },

    async route({ network, scheme }) {
      const wanted = findV1Network(network) ?? network
      const routes = await router.routes({ scheme, network: wanted })
      const [best, ...others] = routes
      if (!best) throw noRoute({ scheme, network })
      return {
        network: networks.find(wanted)?.network ?? wanted,
        scheme,
        recommended: { ...describeRoute(best), kind: best.kind },
        reasons: reasonsFor(best, others),
        alternatives: others.map(describeRoute),
        finality: FINALITY,
        observed_at: new Date(now()).toISOString(),
      }
    },
  }
}

/** Why this one, in the order in which routes are compared. */
function reasonsFor(best: Route, others: readonly Route[]): string[] {
  if (others.length === 0) return ['the only live facilitator that takes it']
  const reasons: string[] = []
  if (others.some(({ upstream }) => upstream.feeAtomic > best.upstream.feeAtomic)) reasons.push('lowest fee')
  const { latencyMs: lowest } = best
  if (lowest !== null && others.every(({ latencyMs }) => (latencyMs ?? Infinity) >= lowest))
    reasons.push('lowest latency')
  return reasons.length > 0 ? reasons : ['its last calls succeeded']
}

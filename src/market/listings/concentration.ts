// How the payments of a seller, or of one service, spread over those who paid. Each look costs as much as there are payers, so it is
// remembered for a moment, however many ask.
import type { MarketConcentration, MarketNetwork } from '../../../schemas/market.ts'
import { keepNewest } from '../../lib/keep-newest.ts'
import type { SellerDay, Store } from '../../store/ports.ts'
import { environmentOf } from './catalogue.ts'

export interface ConcentrationQuery {
  readonly sellerId: string
  /** Null: of all services of the seller. */
  readonly serviceId: string | null
  readonly network: MarketNetwork
}

export interface ConcentrationParts {
  readonly store: Pick<Store, 'sumPayerShares' | 'listSellerDays'>
  readonly now: () => number
}

/** Few payers are counted in no time. */
const MANY_PAYERS = 1_000
const FRESH_MS = 1_000
const FRESH_OF_MANY_MS = 30_000
const MAX_KEPT = 2_000
const DAY_MS = 24 * 3600 * 1000
const WINDOW_DAYS = 30

export function createConcentration({ store, now }: ConcentrationParts) {
  const kept = new Map<string, { until: number; readonly found: Promise<MarketConcentration> }>()

  async function look({ network, ...of }: ConcentrationQuery): Promise<MarketConcentration> {
    const shares = await store.sumPayerShares({ ...of, environment: environmentOf(network) })
    const { payers, repeating, volume, largestVolume } = shares
    return {
      largest_payer_share: volume === 0 ? null : Math.round((largestVolume / volume) * 10_000) / 10_000,
      payers,
      repeat_payers: repeating,
      volume_atomic: String(volume),
    }
  }

  return {
    async of(query: ConcentrationQuery): Promise<MarketConcentration> {
      const key = `${query.network} ${query.sellerId}/${query.serviceId ?? ''}`
      const known = kept.get(key)
      if (known && now() < known.until) return known.found
      const found = look(query)
      kept.delete(key)
      const entry = { until: Number.POSITIVE_INFINITY, found }
      kept.set(key, entry)
      keepNewest(kept, MAX_KEPT)
      found.then(
        ({ payers }) => (entry.until = now() + (payers < MANY_PAYERS ? FRESH_MS : FRESH_OF_MANY_MS)),
        // What failed once is tried again.
        () => (entry.until = 0),
      )
      return found
    },

    /** The last 30 days of all services of a seller, those with anything on them. */
    days: (sellerId: string, network: MarketNetwork): Promise<readonly SellerDay[]> =>
      store.listSellerDays({
        sellerId,
        environment: environmentOf(network),
        sinceDay: Math.floor(now() / DAY_MS) - WINDOW_DAYS + 1,
      }),
  }
}

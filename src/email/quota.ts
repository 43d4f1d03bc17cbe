// How many addresses a key may still verify today (UTC). The store counts; this process takes from it in portions, so that
// not every verification is a write to disk. Portions shrink with what is left, and what was not used goes back.
import type { QuotaState } from '../core/rate-limit.ts'
import type { Store } from '../store/ports.ts'

export interface Quota {
  /** All of `count`, or nothing. */
  take(keyId: string, count: number): Promise<QuotaState>
  /** Gives back what is held of keys that did nothing since the last time; `all`: of every key. */
  settle(all?: 'all'): Promise<void>
}

export interface QuotaParts {
  readonly store: Pick<Store, 'takeEmailQuota' | 'returnEmailQuota'>
  /** Addresses per key and day. */
  readonly limit: number
  readonly now: () => number
}

interface Holding {
  /** Whole days since the epoch; and as the store names it. */
  readonly dayNumber: number
  readonly day: string
  /** Counted by the store, the share held here included. */
  used: number
  held: number
  isIdle: boolean
  /** One refill at a time; who comes meanwhile waits for it. */
  refilling: Promise<unknown>
}

const DAY_MS = 24 * 3600 * 1000
const MAX_PORTION = 256
/** A portion is at most this share of what is left: another process must find the rest in the store. */
const PORTION_SHARE = 16

/** @param parts.limit addresses per key and day (UTC) */
export function createQuota({ store, limit, now }: QuotaParts): Quota {
  const holdings = new Map<string, Holding>()

  function stateOf({ used, held }: Holding, exceeded: boolean): QuotaState {
    return {
      name: 'daily',
      windowSeconds: DAY_MS / 1000,
      limit,
      remaining: Math.max(0, limit - used + held),
      resetSeconds: Math.ceil((DAY_MS - (now() % DAY_MS)) / 1000),
      exceeded,
    }
  }

  function spend(holding: Holding, count: number): QuotaState | undefined {
    if (holding.held < count) return undefined
    holding.held -= count
    holding.isIdle = false
    return stateOf(holding, false)
  }

  async function refill(keyId: string, holding: Holding, count: number): Promise<QuotaState> {
    const spent = spend(holding, count)
    if (spent) return spent
    const { day } = holding
    const need = count - holding.held
    const portion = Math.min(MAX_PORTION, Math.floor((limit - holding.used) / PORTION_SHARE))
    for (const wanted of portion > need ? [portion, need] : [need]) {
      const taken = await store.takeEmailQuota({ keyId, day, count: wanted, limit })
      holding.used = taken.used
      if (!taken.ok) continue
      holding.held += wanted
      // Held by nobody else meanwhile: `refilling` lets one in at a time, but a call that fits goes past it.
      const now = spend(holding, count)
      if (now) return now
      return refill(keyId, holding, count)
    }
    return stateOf(holding, true)
  }

  return {
    async take(keyId, count) {
      const dayNumber = Math.floor(now() / DAY_MS)
      let holding = holdings.get(keyId)
      if (!holding || holding.dayNumber !== dayNumber) {
        const day = new Date(dayNumber * DAY_MS).toISOString().slice(0, 10)
        holding = { dayNumber, day, used: 0, held: 0, isIdle: false, refilling: Promise.resolve() }
        holdings.set(keyId, holding)
      }
      const spent = spend(holding, count)
      if (spent) return spent
      const mine = holding
      const refilled = mine.refilling.then(() => refill(keyId, mine, count))
      mine.refilling = refilled.catch(() => {})
      return refilled
    },

    async settle(all) {
      for (const [keyId, holding] of holdings) {
        if (!holding.isIdle && all === undefined) {
          holding.isIdle = true
          continue
        }
        holdings.delete(keyId)
        // A refill under way still counts on this holding: what it takes is given back with the rest.
        await holding.refilling
        const { day, held: count } = holding
        holding.held = 0
        if (count > 0) await store.returnEmailQuota({ keyId, day, count })
      }
    },
  }
}

// Whoever waits until people have decided about a permit. This process tells at once what it decides itself; what another replica decides, and
// what time or a revocation changes without a decision, is found by one look at the store for all who wait. While nobody waits nothing is done.
import { GatewayError } from '../core/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Permit, PermitLook, Store } from '../store/ports.ts'

/** Most that wait at once: for one permit, of one account, and of everybody. A call that waits holds one of the places of all calls. */
export const MOST_WAITS = { perPermit: 8, perAccount: 64, all: 320 } as const
/** How long a decision of another replica may stay unheard. */
export const LOOK_MS = 2000
/** Looks from one sign of life to the next. */
const SIGN_EVERY = 5
/** Seconds from one sign of life to the next. */
export const SIGN_SECONDS = (SIGN_EVERY * LOOK_MS) / 1000

export interface Waiter {
  /** Something may have changed: the permit is to be read again. */
  news(): void
  /** Nothing has changed for ten seconds. */
  still?(): void
}

export interface PermitWaits {
  /**
   * Begins to listen. Read the permit after that and not before: what is decided in between is then told.
   * @returns what ends it, as often as it is called
   * @throws {GatewayError} rate_limited
   */
  enter(permit: Pick<Permit, 'id' | 'accountId'>, waiter: Waiter): () => void
  /** This process changed the permit. */
  changed(permitId: string): void
  /** This process changed something that permits depend on. */
  lookNow(): void
  /** Those who wait. */
  readonly count: number
  /** True once nobody may wait any longer. */
  readonly isClosed: boolean
  /** Lets everybody go: they answer with what they know. */
  close(): void
}

interface Watched {
  /** As it was at the last look; undefined before the first. */
  mark: string | undefined
  readonly waiters: Set<Waiter>
}

export function createPermitWaits(parts: {
  readonly store: Pick<Store, 'lookAtPermits'>
  readonly log: Pick<Logger, 'warn'>
  readonly now: () => number
  readonly lookMs?: number
}): PermitWaits {
  const { store, log, now, lookMs = LOOK_MS } = parts
  const watched = new Map<string, Watched>()
  const ofAccount = new Map<string, number>()
  let all = 0
  let looks = 0
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let isClosed = false

  function tell(permitId: string): void {
    for (const waiter of watched.get(permitId)?.waiters ?? []) waiter.news()
  }

  async function look(): Promise<void> {
    timer = undefined
    isLooking = true
    const isSign = ++looks % SIGN_EVERY === 0
    try {
      const ids = [...watched.keys()]
      const found = new Map((await store.lookAtPermits(ids)).map((permit) => [permit.id, permit]))
      for (const id of ids) {
        const its = watched.get(id)
        if (!its) continue
        const mark = markOf(found.get(id), now())
        // Before the first look something may have changed after a waiter read the permit: it reads it once more.
        if (its.mark !== mark) {
          its.mark = mark
          tell(id)
        } else if (isSign) for (const waiter of its.waiters) waiter.still?.()
      }
    } catch (err) {
      log.warn({ err }, 'permits that somebody waits for could not be looked at')
    }
    isLooking = false
    schedule()
  }

  function schedule(): void {
    if (isClosed || isLooking || watched.size === 0) return
    timer ??= setTimeout(() => void look(), lookMs).unref()
  }

  /** An account has no more than all others together could still have: one of them cannot take every place. */
  function findFull(permitId: string, accountId: string): string | undefined {
    const { perPermit, perAccount } = MOST_WAITS
    if ((watched.get(permitId)?.waiters.size ?? 0) >= perPermit)
      return `At most ${perPermit} may wait for one permit.`
    const its = ofAccount.get(accountId) ?? 0
    if (its < Math.min(perAccount, MOST_WAITS.all - all)) return undefined
    return its >= perAccount
      ? `At most ${perAccount} may wait for permits of one account.`
      : 'Too many wait for permits now.'
  }

  return {
    enter({ id, accountId }, waiter) {
      const full = findFull(id, accountId)
      if (full !== undefined)
        throw new GatewayError('rate_limited', `${full} Ask without waiting, or again in some seconds.`, {
          reason: 'too_many_waits',
          extras: { retry_after_seconds: 5 },
        })
      const its = watched.get(id) ?? { mark: undefined, waiters: new Set() }
      watched.set(id, its)
      its.waiters.add(waiter)
      ofAccount.set(accountId, (ofAccount.get(accountId) ?? 0) + 1)
      all++
      schedule()
      return () => {
        if (!its.waiters.delete(waiter)) return
        if (its.waiters.size === 0) watched.delete(id)
        const left = (ofAccount.get(accountId) ?? 1) - 1
        if (left === 0) ofAccount.delete(accountId)
        else ofAccount.set(accountId, left)
        all--
        if (all > 0) return
        clearTimeout(timer)
        timer = undefined
      }
    },
    changed: tell,
    lookNow() {
      if (isClosed || isLooking || watched.size === 0) return
      clearTimeout(timer)
      void look()
    },
    get count() {
      return all
    },
    get isClosed() {
      return isClosed
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const id of watched.keys()) tell(id)
    },
  }
}

/** Everything that whoever waits could want to hear of; it differs where any of it does. */
function markOf(look: PermitLook | undefined, now: number): string {
  if (!look) return 'gone'
  const { state, decisions, isRevoked, expiresAt } = look
  return `${state} ${decisions} ${isRevoked} ${expiresAt <= now}`
}

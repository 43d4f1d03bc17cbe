// Decides what nobody answered, by what the chain says. Nothing is ever sent from here.
import { LogField, type Logger } from '../lib/log.ts'
import type { PaymentClaim, Store } from '../store/ports.ts'
import type { ClaimBook } from './claim-store.ts'
import type { Settlement } from './ports.ts'
import type { Prover } from './chain-evidence.ts'

export interface ReconcileParts {
  readonly store: Store
  readonly book: ClaimBook
  readonly prover: Prover
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
}

export interface Reconciler {
  reconcile(): Promise<{ looked: number; settled: number; failed: number; open: number }>
  reconcileOne(claim: PaymentClaim): Promise<PaymentClaim>
  /** Looks at a claim a few times soon, instead of at the next round. */
  watch(claimId: string): void
  close(): Promise<void>
}

/** Reason of a doubtful claim of which we know that nothing was broadcast through us: unused is then final. */
export const NOT_BROADCAST = 'not_broadcast'

const BATCH = 50
/** Chains are asked for so many claims at once. */
const PARALLEL = 4
const SOON_MS = [1_000, 3_000, 10_000] as const

export function createReconciler(parts: ReconcileParts): Reconciler {
  const { store, book, prover, bootId, now, log } = parts
  const timers = new Set<NodeJS.Timeout>()
  const looks = new Set<Promise<unknown>>()
  let running: ReturnType<typeof round> | undefined
  let isClosed = false

  /** @param silent networks whose chain did not answer in this round: one time-out for each is enough */
  async function look(claim: PaymentClaim, silent: Set<string>): Promise<Settlement> {
    if (silent.has(claim.network)) return book.standing(claim)
    const proof = await prover.prove(claim)
    const upstream = claim.upstream ?? 'unknown'
    switch (proof.state) {
      case 'paid':
        return book.settled(claim, { transaction: proof.transaction, upstream })
      case 'void':
        return book.failed(claim, proof.reason)
      case 'unused':
        if (claim.reason === NOT_BROADCAST) return book.failed(claim, 'settlement_refused')
        break
      case 'unanswered':
        silent.add(claim.network)
        break
      case 'unprovable':
    }
    // This process submitted it and could not write what became of it.
    return claim.state === 'submitted'
      ? book.doubtful(claim, 'unknown', { reason: claim.reason ?? 'interrupted', transaction: null })
      : book.standing(claim)
  }

  /** Endings that the store refused to this very process: nobody else's recovery takes them for dead. */
  async function takeUnwritten(): Promise<PaymentClaim[]> {
    const found: PaymentClaim[] = []
    for (const { claimId, isUnsent } of book.unwritten()) {
      const claim = await store.getClaim(claimId)
      // Forgotten before the look: if that cannot be written either, it is remembered again.
      book.forget(claimId)
      if (claim?.state === 'claimed' && isUnsent)
        await store.cancelClaim({ id: claimId, bootId, reason: 'not_submitted', now: now() })
      if (claim && ['submitted', 'pending', 'unknown'].includes(claim.state))
        found.push(isUnsent ? { ...claim, reason: NOT_BROADCAST } : claim)
    }
    return found
  }

  async function round() {
    const at = now()
    const silent = new Set<string>()
    const result = { looked: 0, settled: 0, failed: 0, open: 0 }
    const recovered = await store.recoverClaims({ bootId, now: at })
    if (recovered.canceled + recovered.unknown > 0)
      log.warn(recovered, 'payments that a crash left behind: canceled what was not submitted')
    for (let claims: readonly PaymentClaim[] = await takeUnwritten(); ;) {
      for (let i = 0; i < claims.length; i += PARALLEL) {
        const group = claims.slice(i, i + PARALLEL)
        for (const settlement of await Promise.all(group.map((claim) => look(claim, silent)))) {
          result.looked++
          if (settlement.state === 'settled') result.settled++
          else if (settlement.state === 'failed') result.failed++
          else result.open++
        }
      }
      if (isClosed) break
      claims = await store.takeDoubtfulClaims({ limit: BATCH, now: at })
      if (claims.length === 0) break
    }
    if (result.settled + result.failed > 0) log.info(result, 'payments reconciled')
    return result
  }

  /** @returns the claim after the look */
  async function reconcileOne(claim: PaymentClaim): Promise<PaymentClaim> {
    if (claim.state !== 'pending' && claim.state !== 'unknown') return claim
    return (await look(claim, new Set())).claim
  }

  return {
    reconcile: () => (running ??= round().finally(() => (running = undefined))),
    reconcileOne,

    watch(claimId) {
      if (isClosed) return
      for (const ms of SOON_MS) {
        const timer = setTimeout(() => {
          timers.delete(timer)
          const seen = (async () => {
            try {
              const claim = await store.getClaim(claimId)
              if (claim) await reconcileOne(claim)
            } catch (thrown) {
              log.error({ [LogField.claim]: claimId, err: thrown }, 'a payment could not be looked at')
            }
          })()
          looks.add(seen)
          void seen.finally(() => looks.delete(seen))
        }, ms)
        timer.unref()
        timers.add(timer)
      }
    },

    async close() {
      isClosed = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.allSettled([...looks, running])
    },
  }
}

// Which claims this process works on, and what becomes of those that it does not. The store may have a claim that it was asked for and did
// not answer, as soon as its server goes on or a standby is back: nobody else's recovery takes that while this process lives.
import { rowsLeft } from '../core/recovery.ts'
import { everyTurn } from '../lib/every-turn.ts'
import { keepNewest } from '../lib/keep-newest.ts'
import { LogField, type Logger } from '../lib/log.ts'
import { retryLater } from '../lib/retry.ts'
import type { Store } from '../store/ports.ts'
import type { Settlements } from './ports.ts'

export interface ClaimsInHandParts {
  readonly store: Pick<Store, 'cancelClaim' | 'returnSettlement' | 'getClaim' | 'listUnfinishedClaims'>
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
}

export interface ClaimsInHand extends Pick<Settlements, 'begin' | 'giveBack'> {
  /** Runs what settles the claim: it is in hand until that ends. */
  hold<T>(claimId: string, settle: () => Promise<T>): Promise<T>
  /** Notes a claim that was not sent, while the store did not say whether it is submitted. */
  rememberUnsent(claimId: string): void
  /** Whether nothing was sent for it: unused is final then. */
  isUnsent(claimId: string): boolean
  /**
   * Cancels what is claimed and not in hand.
   * @param onSubmitted given the others that are not in hand: they were submitted, and their ending was not written, or is by now
   * @throws the first error of the store, once all had their turn
   */
  settleLeft(onSubmitted?: (claimId: string) => Promise<void>): Promise<void>
}

/** Who is forgotten is decided by the chain alone, which takes until the authorization expires. */
const MAX_UNSENT = 10_000

export function createClaimsInHand({ store, bootId, now, log }: ClaimsInHandParts): ClaimsInHand {
  const inHand = new Set<string>()
  const unsent = new Set<string>()
  let settling: Promise<void> | undefined

  const cancel = (id: string, reason: string) => store.cancelClaim({ id, bootId, reason, now: now() })

  async function settleLeft(onSubmitted?: (claimId: string) => Promise<void>): Promise<void> {
    await everyTurn(rowsLeft(store.listUnfinishedClaims, bootId, inHand), async ({ id }) => {
      if (await cancel(id, 'not_submitted'))
        log.warn({ [LogField.claim]: id }, 'a payment that nobody goes on with is free again')
      else await onSubmitted?.(id)
    })
  }

  /** Its payer is told to wait meanwhile. */
  function settleSoon(): void {
    settling ??= retryLater(() => settleLeft())
      .catch((err: unknown) =>
        log.error({ err }, 'claims could not be given back: every minute it is tried again'),
      )
      .finally(() => (settling = undefined))
  }

  return {
    async begin(claimId, claim) {
      inHand.add(claimId)
      try {
        const claimed = await claim()
        if (!claimed.ok) inHand.delete(claimId)
        return claimed
      } catch (thrown) {
        inHand.delete(claimId)
        settleSoon()
        throw thrown
      }
    },

    async giveBack(claim, reason) {
      try {
        // Whoever settles gives back what nobody takes.
        return (await cancel(claim.id, reason)) || (await store.getClaim(claim.id))?.state === 'canceled'
      } catch (err) {
        log.error({ [LogField.claim]: claim.id, err }, 'a claim could not be given back yet')
        settleSoon()
        return undefined
      } finally {
        inHand.delete(claim.id)
      }
    },

    async hold(claimId, settle) {
      inHand.add(claimId)
      try {
        return await settle()
      } finally {
        inHand.delete(claimId)
      }
    },

    rememberUnsent(claimId) {
      unsent.add(claimId)
      keepNewest(unsent, MAX_UNSENT)
    },
    isUnsent: (claimId) => unsent.has(claimId),
    settleLeft,
  }
}

// Keeps what our own settler broadcast for as long as a reorganisation could take it back. In memory alone: a signature is
// never on disk, so after a restart a payment that is gone waits for its node, or for its buyer to show it again.
import { keepNewest } from '../lib/keep-newest.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { PaymentClaim } from '../store/ports.ts'
import type { Upstream } from './ports.ts'
import { WINDOW_MS } from './reorganisations.ts'
import type { Submitted } from './submission.ts'

export interface KeptPayments {
  /** Keeps a settled payment where an upstream of this process settled it; others have it themselves. */
  keep(upstream: Upstream, submitted: Submitted): void
  /** Broadcasts it again where its node has not by itself. Never throws; false when nothing was sent. */
  resend(claim: PaymentClaim): Promise<boolean>
}

/** About 3 KB each. */
const MAX_KEPT = 2_000
const RESEND_MS = 10_000
/** A node puts what it took back into its next blocks by itself, and a second transaction would be reverted at our cost. */
const GRACE_MS = 30_000
const RESEND_EVERY_MS = 60_000

/** @param parts.now milliseconds: what is older than a reorganisation can be is forgotten */
export function createKeptPayments(parts: { now: () => number; log: Logger }): KeptPayments {
  const { now, log } = parts
  const kept = new Map<string, Submitted & { readonly upstream: Upstream; readonly at: number }>()
  /** When each may be sent again. */
  const notBefore = new Map<string, number>()

  function forgetOld() {
    for (const [id, { at }] of kept) {
      if (now() - at <= WINDOW_MS) return
      kept.delete(id)
      notBefore.delete(id)
    }
  }

  return {
    keep(upstream, submitted) {
      // EIP-3009 spends a nonce once: the same authorization again is the same payment.
      if (upstream.url !== null || submitted.payment.kind.type !== 'eip3009') return
      forgetOld()
      kept.set(submitted.claim.id, { ...submitted, upstream, at: now() })
      keepNewest(kept, MAX_KEPT)
      keepNewest(notBefore, MAX_KEPT)
    },

    async resend({ id }) {
      const found = kept.get(id)
      if (!found) return false
      const due = notBefore.get(id)
      if (due === undefined) notBefore.set(id, now() + GRACE_MS)
      if (due === undefined || now() < due) return false
      notBefore.set(id, now() + RESEND_EVERY_MS)
      try {
        const { upstream, payment, requirements } = found
        const answer = await upstream.settle({ payment, requirements, deadlineMs: RESEND_MS })
        log.info({ [LogField.claim]: id, answer: answer.state }, 'a payment was broadcast again')
        return true
      } catch (thrown) {
        log.error({ [LogField.claim]: id, err: thrown }, 'a payment could not be broadcast again')
        return false
      }
    },
  }
}

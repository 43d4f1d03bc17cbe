// Decides who may read what a payment bought: whoever shows that very payment again. Payer, nonce and signature of a settled
// payment stand on the chain for everybody, so the proof is everything that was presented, and the digest of it needs our
// key.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { toCanonicalJson } from '../lib/canonical-json.ts'
import type { PaymentClaim } from '../store/ports.ts'
import type { Payment } from './ports.ts'

export interface Presentations {
  /** base64url HMAC-SHA256 over RFC 8785: the same whichever door it came through and however its JSON was written. */
  digest(payment: Pick<Payment, 'presented'>): string
  /** Whether it is, member by member, the payment that made the claim. */
  isSame(payment: Pick<Payment, 'presented'>, claim: Pick<PaymentClaim, 'presentationDigest'>): boolean
}

/** @param key of this installation, for this purpose alone */
export function createPresentations(key: KeyObject): Presentations {
  const digest: Presentations['digest'] = ({ presented }) =>
    presented.use((value) => createHmac('sha256', key).update(toCanonicalJson(value)).digest('base64url'))
  return {
    digest,
    isSame(payment, { presentationDigest }) {
      const [shown, kept] = [Buffer.from(digest(payment)), Buffer.from(presentationDigest)]
      return shown.length === kept.length && timingSafeEqual(shown, kept)
    },
  }
}

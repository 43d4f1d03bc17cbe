// Whose last payment the chain found good. The next one of theirs is claimed while the chain looks at it, which saves a
// buyer the wait for one of the two; of everybody else only after it did: a claim is a row that stays, and who has no money
// must not write any.
import type { Millis } from '../store/ports.ts'
import type { Payment } from './ports.ts'

export interface Regulars {
  has(payment: Pick<Payment, 'network' | 'payer'>): boolean
  /** What was found of a payment with the payer's own signature. */
  note(payment: Pick<Payment, 'network' | 'payer'>, isGood: boolean): void
}

const KEPT_MS = 10 * 60_000
const MAX_PAYERS = 10_000

export function createRegulars(now: () => Millis): Regulars {
  const goodUntil = new Map<string, Millis>()
  const keyOf = ({ network, payer }: Pick<Payment, 'network' | 'payer'>) => `${network} ${payer}`
  return {
    has: (payment) => (goodUntil.get(keyOf(payment)) ?? 0) > now(),
    note(payment, isGood) {
      const key = keyOf(payment)
      // Whoever was seen last is forgotten last.
      goodUntil.delete(key)
      if (!isGood) return
      goodUntil.set(key, now() + KEPT_MS)
      if (goodUntil.size > MAX_PAYERS) goodUntil.delete(goodUntil.keys().next().value!)
    },
  }
}

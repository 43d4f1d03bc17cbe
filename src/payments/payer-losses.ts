// Remembers payers whose last payments were good when they were taken and not when they were settled: work was done for nothing, or
// gas was burnt. Until one of theirs settles they get one payment at a time, so that nothing more is worked on before the one before
// it is settled; and after three losses in a row they wait, each time for longer. Of this process alone: replicas learn it anew.
import { keepNewest } from '../lib/keep-newest.ts'
import type { PaymentClaim } from '../store/ports.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'

type Payer = Pick<PaymentClaim, 'network' | 'payer'>

export interface PayerLosses {
  /** A payment ended in a way that its payer alone can bring about. */
  lost(payer: Payer): void
  paid(payer: Payer): void
  /** How many payments of it may be open: none while it has to wait; undefined where nothing speaks against it. */
  most(payer: Payer): 0 | 1 | undefined
}

/** Addresses are free to make: what is remembered of them is bounded. */
const MAX_PAYERS = 10_000

export function createPayerLosses(now: () => number): PayerLosses {
  const breakers = new Map<string, CircuitBreaker>()
  const keyOf = ({ network, payer }: Payer) => `${network} ${payer}`
  return {
    lost(payer) {
      // Who pays is known to its facilitator alone.
      if (payer.payer === '') return
      const key = keyOf(payer)
      const breaker = breakers.get(key) ?? createCircuitBreaker()
      breaker.record(false, now())
      breakers.set(key, breaker)
      keepNewest(breakers, MAX_PAYERS)
    },
    paid: (payer) => void breakers.delete(keyOf(payer)),
    most(payer) {
      const breaker = breakers.get(keyOf(payer))
      return breaker && (breaker.state(now()) === 'open' ? 0 : 1)
    },
  }
}

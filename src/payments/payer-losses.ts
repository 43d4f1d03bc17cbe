// Remembers payers whose last payments were good when they were taken and not when they were settled, by their own doing: work was
// done for nothing, or gas was burnt. A single one says little, as many may pay from one address; from the second on fewer and fewer of
// theirs are worked on at once, and after three in a row they wait, each time for longer. Of this process alone: replicas learn it anew.
import { keepNewest } from '../lib/keep-newest.ts'
import type { PaymentClaim } from '../store/ports.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'

type Payer = Pick<PaymentClaim, 'network' | 'payer'>

export interface PayerLosses {
  /** A payment ended in a way that its payer alone can bring about. */
  lost(payer: Payer): void
  paid(payer: Payer): void
  /**
   * How many payments of it may be worked on and sent at once: none while it has to wait; undefined where nothing speaks against it.
   * @param bound what others of its kind may have open
   */
  most(payer: Payer, bound: number): number | undefined
}

interface Mark {
  readonly breaker: CircuitBreaker
  /** How often its bound is halved. */
  readonly halvings: number
  readonly lostAt: number
}

/** Addresses are free to make: what is remembered of them is bounded. */
const MAX_PAYERS = 10_000
/** A loss with none before it for so long has no consequence but that the next one has. */
const SINGLE_MS = 10 * 60_000
const FADES_MS = 3600_000

/** @param maxOpen the usual bound: it is halved no more often than until one is left of it */
export function createPayerLosses(now: () => number, maxOpen: number): PayerLosses {
  const marks = new Map<string, Mark>()
  const maxHalvings = Math.ceil(Math.log2(maxOpen))
  const keyOf = ({ network, payer }: Payer) => `${network} ${payer}`
  function find(key: string): Mark | undefined {
    const mark = marks.get(key)
    if (!mark || now() - mark.lostAt < FADES_MS) return mark
    marks.delete(key)
    return undefined
  }
  return {
    lost(payer) {
      // Who pays is known to its facilitator alone.
      if (payer.payer === '') return
      const key = keyOf(payer)
      const { breaker, halvings, lostAt } = find(key) ?? {
        breaker: createCircuitBreaker(),
        halvings: 0,
        lostAt: -Infinity,
      }
      breaker.record(false, now())
      const isSingle = now() - lostAt >= SINGLE_MS
      marks.delete(key)
      marks.set(key, {
        breaker,
        halvings: isSingle ? halvings : Math.min(halvings + 1, maxHalvings),
        lostAt: now(),
      })
      keepNewest(marks, MAX_PAYERS)
    },
    paid(payer) {
      const key = keyOf(payer)
      const mark = find(key)
      if (!mark) return
      mark.breaker.record(true, now())
      // One that was paid takes back one loss and not all of them, or the next hundred would be had for it.
      marks.set(key, { ...mark, halvings: Math.max(0, mark.halvings - 1) })
    },
    most(payer, bound) {
      const mark = find(keyOf(payer))
      if (!mark) return undefined
      if (mark.breaker.state(now()) === 'open') return 0
      return mark.halvings === 0 ? undefined : Math.max(1, Math.floor(bound / 2 ** mark.halvings))
    },
  }
}

// The part of a reservation that claims a caller's key. Most reservations have none, and a statement without it.
import type { Command, SqlValue } from '../../command.ts'
import type { Reservation } from '../../commands/attempts.ts'
import { findRecord, forgetKey } from '../../commands/idempotency.ts'
import type { Repeated } from '../../ports/idempotency.ts'

/** The parts of a reservation's text that are not in every one. */
export interface ReservationParts {
  readonly isBudgeted: boolean
  /** A line of `judged`, before all others. */
  readonly repeated: string
  /** After `paid`. */
  readonly claimed: string
}

/** First of three placeholders, after those of every reservation and the six of a budget (budgets.ts). */
const FIRST = { plain: 17, budgeted: 23 } as const

const keyParts = (first: number) => ({
  repeated: `
      WHEN EXISTS (SELECT 1 FROM idempotency_records WHERE key_hash = $${first}) THEN 'repeated'`,
  // Whoever claims the same key at the same moment fails here, and pool.ts runs its statement again: it finds the record then.
  claimed: `, claimed AS (
    INSERT INTO idempotency_records (key_hash, fingerprint, attempt_id, expires_at)
    SELECT $${first}, $${first + 1}, $1, $${first + 2}::bigint FROM paid
  )`,
})
const NO_KEY = { repeated: '', claimed: '' }

/** @returns picks the text of a reservation: with a budget or a key, both, or neither */
export function reservationTexts(write: (parts: ReservationParts) => string): (input: Reservation) => string {
  const texts = (['plain', 'budgeted'] as const).map((which) => {
    const isBudgeted = which === 'budgeted'
    return {
      anew: write({ isBudgeted, ...NO_KEY }),
      once: write({ isBudgeted, ...keyParts(FIRST[which]) }),
    }
  })
  const [plain, budgeted] = texts
  if (!plain || !budgeted) throw new Error('there are two kinds')
  return ({ isBudgeted, once }) => (isBudgeted ? budgeted : plain)[once ? 'once' : 'anew']
}

/** The values of a reservation's key, after all others. */
export const keyValuesOf = ({ once }: Reservation): SqlValue[] =>
  once ? [once.keyHash, once.fingerprint, once.expiresAt] : []

/** The key is taken, by whom is to be looked up. */
export interface KeyTaken {
  readonly ok: false
  readonly reason: 'repeated'
  readonly record?: never
}

/**
 * Looks at the key again once the reservation is refused, whatever for: a statement sees the records as they were when it began,
 * and who waited for a row in it finds that row used up by the first call under the same key. Where the record is not in the way
 * any more it is forgotten, and the reservation made again.
 */
export function* underKey<R extends { readonly ok: boolean; readonly reason?: string }>(
  reserve: (input: Reservation) => Command<R | KeyTaken>,
  input: Reservation,
): Command<R | Repeated> {
  for (;;) {
    const result = yield* reserve(input)
    const { once, now } = input
    if (result.ok || !once) return result as R
    const { held, stale } = yield* findRecord(once, now)
    if (held) return { ok: false, reason: 'repeated', record: held }
    if (result.reason !== 'repeated') return result as R
    if (stale !== undefined) yield forgetKey(once.keyHash, stale)
  }
}

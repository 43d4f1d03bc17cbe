// The part of a reservation that claims a caller's key. Most reservations have none, and a statement without it.
import type { SqlValue } from '../../command.ts'
import type { Reservation } from '../../commands/attempts.ts'

/** The parts of a reservation's text that are not in every one. */
export interface ReservationParts {
  readonly isBudgeted: boolean
  /** A line of `judged`, before all others. */
  readonly repeated: string
  /** Further columns of the attempt, and their values. */
  readonly keyColumns: string
  readonly keyValues: string
}

/** First of two placeholders, after those of every reservation and the six of a budget (budgets.ts). */
const FIRST = { plain: 17, budgeted: 23 } as const

// Whoever claims the same key at the same moment fails at the attempt, and pool.ts runs its statement again: it finds the first one then.
const keyParts = (first: number) => ({
  repeated: `
      WHEN EXISTS (SELECT 1 FROM attempts WHERE key_hash = $${first}) THEN 'repeated'`,
  keyColumns: ', key_hash, max_bytes',
  keyValues: `, $${first}, $${first + 1}::bigint`,
})
const NO_KEY = { repeated: '', keyColumns: '', keyValues: '' }

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
export const keyValuesOf = ({ once }: Reservation): SqlValue[] => (once ? [once.keyHash, once.maxBytes] : [])

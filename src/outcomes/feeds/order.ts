// Where an entry stands by its date: newest first, then those of the future from the nearest on, then undated ones. A date in the
// future says nothing about what is new.
import type { FeedDate } from './dates.ts'

const DAY_MS = 86_400_000
/** Clocks differ; and without a zone an instant is only known to a day. */
const CLOCK_TOLERANCE_MS = 300_000

export interface Placed {
  readonly date: FeedDate | null
  readonly isInFuture: boolean
}

/** Equal dates compare as equal: a stable sort leaves them in the order they came in. */
export function comparePlaces(a: Placed, b: Placed): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)]
  if (rankA !== rankB) return rankA - rankB
  const newer = (b.date?.epochMs ?? 0) - (a.date?.epochMs ?? 0)
  return a.isInFuture ? -newer : newer
}

const rankOf = ({ date, isInFuture: isLater }: Placed) => (date?.epochMs == null ? 2 : isLater ? 1 : 0)

export const isInFuture = (date: FeedDate | null, retrievedAt: number): boolean =>
  date?.epochMs != null && date.epochMs > retrievedAt + toleranceMs(date)

const toleranceMs = ({ isZoneStated, precision }: FeedDate) =>
  isZoneStated && (precision === 'minute' || precision === 'second') ? CLOCK_TOLERANCE_MS : DAY_MS

// Says which payout is due: one batch of each day or week, from the operator's hour on.
import type { MarketSettings } from '../settings.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The first Monday after the epoch, in days. */
const MONDAY = 4

/** @returns the name of the period that a moment lies in; undefined where sellers are paid by hand alone */
export function payoutPeriod({ schedule, hour }: MarketSettings['payouts'], now: number): string | undefined {
  if (schedule === 'manual') return undefined
  const day = Math.floor((now - hour * HOUR_MS) / DAY_MS)
  const first = schedule === 'daily' ? day : day - ((((day - MONDAY) % 7) + 7) % 7)
  return `${schedule}-${new Date(first * DAY_MS).toISOString().slice(0, 10)}`
}

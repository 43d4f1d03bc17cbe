// Calendar periods in UTC.

export type Period = 'hour' | 'day' | 'month'
/** `total`: one that never ends. */
export type BudgetedPeriod = Period | 'total'

/** The beginning of each period that a moment lies in; all in milliseconds. The one that never ends began before everything. */
export function periodsAt(now: number): Readonly<Record<BudgetedPeriod, number>> {
  const at = new Date(now)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return {
    hour: now - (now % 3_600_000),
    day: Date.UTC(year, month, at.getUTCDate()),
    month: Date.UTC(year, month),
    total: 0,
  }
}

/** The beginning of the period after the one that begins at `startedAt`. */
export function nextPeriod(period: Period, startedAt: number): number {
  if (period === 'hour') return startedAt + 3_600_000
  if (period === 'day') return startedAt + 86_400_000
  const at = new Date(startedAt)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

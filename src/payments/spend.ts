// Months of a spend report: which ones are meant, and between which moments they lie.
import { GatewayError } from '../core/errors.ts'

/** Both ends are months like `2026-11` (UTC), and both are in it. */
export interface Months {
  readonly from: string
  readonly to: string
}

const TWELVE = 11
const LONGEST = 120

const startOf = (month: string, later = 0): Date => {
  const date = new Date(`${month}-01T00:00:00.000Z`)
  date.setUTCMonth(date.getUTCMonth() + later)
  return date
}
const toMonth = (date: Date) => date.toISOString().slice(0, 7)

/**
 * @param asked what is left out: until this month, and twelve months of it
 * @returns the months, and the moments from the first one's beginning to the last one's end
 * @throws {GatewayError} input_invalid
 */
export function readMonths(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): Months & { readonly since: number; readonly until: number } {
  const to = asked.to ?? toMonth(new Date(now))
  const from = asked.from ?? toMonth(startOf(to, -TWELVE))
  const [since, until] = [startOf(from).getTime(), startOf(to, 1).getTime()]
  if (since >= until)
    throw new GatewayError('input_invalid', `The first month, ${from}, is after the last, ${to}.`)
  if (startOf(from, LONGEST).getTime() < until)
    throw new GatewayError('input_invalid', `Ask for at most ${LONGEST} months.`)
  return { from, to, since, until }
}

// What this gateway earned, from the payments and refunds themselves: a settlement that a chain took back is in no sum from then on. Days
// are UTC, and each is read by itself, so that no reading holds up the store for long.
import { GatewayError } from '../core/errors.ts'
import type { Networks } from '../core/networks.ts'
import type { RevenueGroup, Store } from '../store/ports.ts'

const DAY_MS = 86_400_000
const MOST_DAYS = 1_100

export const REVENUE_BY = ['day', 'month', 'tool', 'network'] as const
export type RevenueBy = (typeof REVENUE_BY)[number]

/** Both are days like `2026-11-29` (UTC), and both are in it. */
export interface Days {
  readonly from: string
  readonly to: string
}

/** A sum of one network and asset: amounts of different assets are never added up. Amounts are atomic units. */
export interface Revenue {
  /** The day, the month, the tool or the network. */
  readonly of: string
  readonly network: string
  readonly asset: string
  /** Test money is no revenue, and is told apart. */
  readonly isTest: boolean
  readonly payments: number
  readonly settled: bigint
  /** Of refunds that settled in that time, whenever the payment was. */
  readonly refunded: bigint
}

const USUAL_DAYS: Readonly<Record<RevenueBy, number>> = { day: 30, month: 365, tool: 30, network: 30 }
/** @throws {GatewayError} input_invalid */
function startOf(day: string): number {
  const at = Date.parse(`${day}T00:00:00Z`)
  if (!Number.isNaN(at) && toDay(at) === day) return at
  throw new GatewayError('input_invalid', `There is no day ${day}. Write days as 2026-11-29.`)
}
const toDay = (at: number) => new Date(at).toISOString().slice(0, 10)

/**
 * @param asked what is left out: until today, and 30 days of it, or a year by month
 * @throws {GatewayError} input_invalid
 */
export function readDays(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  by: RevenueBy,
  now: number,
): Days & { readonly since: number; readonly until: number } {
  const to = asked.to ?? toDay(now)
  const until = startOf(to) + DAY_MS
  const from = asked.from ?? toDay(until - USUAL_DAYS[by] * DAY_MS)
  const since = startOf(from)
  if (since >= until)
    throw new GatewayError('input_invalid', `The first day, ${from}, is after the last, ${to}.`)
  if (until - since > MOST_DAYS * DAY_MS)
    throw new GatewayError('input_invalid', `Ask for at most ${MOST_DAYS} days at once.`)
  return { from, to, since, until }
}

/** @returns newest day or month first; tools and networks by their names */
export async function sumRevenue(
  store: Pick<Store, 'sumRevenue'>,
  networks: Pick<Networks, 'find'>,
  by: RevenueBy,
  { since, until }: { readonly since: number; readonly until: number },
): Promise<readonly Revenue[]> {
  const sums = new Map<string, Sum>()
  for (let day = since; day < until; day += DAY_MS) {
    const { settled, refunded } = await store.sumRevenue(day, day + DAY_MS)
    const group = (row: RevenueGroup) => sumOf(sums, row, ofWhat(by, row, day))
    for (const row of settled) {
      const sum = group(row)
      sum.payments += row.count
      sum.settled += BigInt(row.amount) * BigInt(row.count)
    }
    for (const row of refunded) group(row).refunded += BigInt(row.amount) * BigInt(row.count)
  }
  const isByTime = by === 'day' || by === 'month'
  return [...sums.values()]
    .map((sum) => ({ ...sum, isTest: networks.find(sum.network)?.revenue === false }))
    .toSorted((one, other) =>
      one.of === other.of
        ? compare(keyOf(one), keyOf(other))
        : compare(one.of, other.of) * (isByTime ? -1 : 1),
    )
}

type Sum = { -readonly [K in keyof Omit<Revenue, 'isTest'>]: Revenue[K] }

function ofWhat(by: RevenueBy, { tool, network }: RevenueGroup, day: number): string {
  if (by === 'tool') return tool
  if (by === 'network') return network
  return by === 'day' ? toDay(day) : toDay(day).slice(0, 7)
}

function sumOf(sums: Map<string, Sum>, { network, asset }: RevenueGroup, of: string): Sum {
  const key = JSON.stringify([of, network, asset])
  const sum = sums.get(key) ?? { of, network, asset, payments: 0, settled: 0n, refunded: 0n }
  sums.set(key, sum)
  return sum
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
const keyOf = ({ network, asset }: Pick<Revenue, 'network' | 'asset'>) => `${network} ${asset}`

// Money by day: what settled and what went back, by tool and payer; what credits were taken and added for. Each day is read by itself, so
// that no reading holds up the store for long.
import type { DayOfClaims, DayOfLedger, LedgerEntry, Store } from '../../../store/ports.ts'

const DAY_MS = 86_400_000
export const PERIODS = [7, 30, 90] as const
export type Period = (typeof PERIODS)[number]

/** Payers that a page names. */
const MOST_PAYERS = 20

/** Atomic units of USDC as decimal text. */
export interface Sum {
  readonly payments: number
  readonly paid: string
  readonly refunded: string
}

export interface Revenue extends Sum {
  /** Oldest first, every day of the period. */
  readonly days: readonly (Sum & { readonly date: string })[]
  /** What brought most first. */
  readonly tools: readonly (Sum & { readonly tool: string })[]
  readonly payers: readonly (Sum & { readonly payer: string })[]
  readonly payer_count: number
  /** Payments in assets that are not USDC: they are in none of the sums. */
  readonly left_out: number
}

/** The first moments (UTC) of the last days until today, oldest first. */
export function daysUntil(now: number, period: Period): readonly number[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: period }, (_, at) => today - (period - 1 - at) * DAY_MS)
}

export const dateOf = (day: number): string => new Date(day).toISOString().slice(0, 10)

/** @param isCounted whether a payment of this asset on this network is one of those that are asked for */
export async function readRevenue(
  store: Pick<Store, 'sumClaims' | 'sumRefunds'>,
  days: readonly number[],
  isCounted: (network: string) => boolean,
  isUsdc: (network: string, asset: string) => boolean,
): Promise<Revenue> {
  const total = createSum()
  const [byTool, byPayer] = [new Map<string, MutableSum>(), new Map<string, MutableSum>()]
  const byDay: { date: string; sum: MutableSum }[] = []
  let leftOut = 0
  for (const day of days) {
    const sum = createSum()
    byDay.push({ date: dateOf(day), sum })
    for (const [kind, rows] of [
      ['paid', await store.sumClaims(day, day + DAY_MS)],
      ['refunded', await store.sumRefunds(day, day + DAY_MS)],
    ] as const)
      for (const row of rows) {
        if (!isCounted(row.network)) continue
        if (!isUsdc(row.network, row.asset)) {
          if (kind === 'paid') leftOut += row.count
          continue
        }
        for (const into of [total, sum, sumOf(byTool, row.tool), sumOf(byPayer, row.payer)])
          add(into, kind, row)
      }
  }
  return {
    ...shown(total),
    days: byDay.map(({ date, sum }) => ({ date, ...shown(sum) })),
    tools: most(byTool).map(([tool, sum]) => ({ tool, ...shown(sum) })),
    payers: most(byPayer)
      .slice(0, MOST_PAYERS)
      .map(([payer, sum]) => ({ payer, ...shown(sum) })),
    payer_count: byPayer.size,
    left_out: leftOut,
  }
}

interface MutableSum {
  payments: number
  paid: bigint
  refunded: bigint
}
const createSum = (): MutableSum => ({ payments: 0, paid: 0n, refunded: 0n })

function sumOf(sums: Map<string, MutableSum>, name: string): MutableSum {
  const sum = sums.get(name) ?? createSum()
  sums.set(name, sum)
  return sum
}

function add(sum: MutableSum, kind: 'paid' | 'refunded', { amount, count }: DayOfClaims): void {
  sum[kind] += BigInt(amount) * BigInt(count)
  if (kind === 'paid') sum.payments += count
}

const shown = ({ payments, paid, refunded }: MutableSum): Sum => ({
  payments,
  paid: paid.toString(),
  refunded: refunded.toString(),
})

const most = (sums: ReadonlyMap<string, MutableSum>) =>
  [...sums].toSorted(([, a], [, b]) => (a.paid < b.paid ? 1 : a.paid > b.paid ? -1 : b.payments - a.payments))

export interface Credits {
  readonly taken: number
  readonly added: number
  readonly days: readonly { readonly date: string; readonly taken: number; readonly added: number }[]
  /** Most movements first. */
  readonly kinds: readonly {
    readonly kind: LedgerEntry['kind']
    readonly taken: number
    readonly added: number
    readonly movements: number
  }[]
}

export async function readCredits(
  store: Pick<Store, 'sumLedger'>,
  accountId: string,
  days: readonly number[],
): Promise<Credits> {
  const kinds = new Map<LedgerEntry['kind'], { taken: number; added: number; movements: number }>()
  const byDay: Credits['days'][number][] = []
  for (const day of days) {
    const rows: readonly DayOfLedger[] = await store.sumLedger({ accountId, since: day, until: day + DAY_MS })
    for (const { kind, taken, added, count } of rows) {
      const sum = kinds.get(kind) ?? { taken: 0, added: 0, movements: 0 }
      kinds.set(kind, {
        taken: sum.taken + taken,
        added: sum.added + added,
        movements: sum.movements + count,
      })
    }
    byDay.push({ date: dateOf(day), taken: total(rows, 'taken'), added: total(rows, 'added') })
  }
  return {
    taken: total(byDay, 'taken'),
    added: total(byDay, 'added'),
    days: byDay,
    kinds: [...kinds].map(([kind, sum]) => ({ kind, ...sum })).toSorted((a, b) => b.movements - a.movements),
  }
}

const total = <K extends string>(rows: readonly Readonly<Record<K, number>>[], name: K): number =>
  rows.reduce((sum, row) => sum + row[name], 0)

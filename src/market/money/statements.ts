// A seller's account between two months: every sale, refund and payout with its claim, receipt and transaction. Each page is a range of
// one index, however many sales there were.
import type { z } from 'zod'
import type { Statement } from '../../../schemas/market-money.ts'
import { GatewayError } from '../../core/errors.ts'
import { readMonths } from '../../payments/spend.ts'
import type { Store } from '../../store/ports.ts'
import type { StatementQuery } from './ports.ts'
import { toCsv, toLine } from './wire.ts'

const toMonth = (now: number) => new Date(now).toISOString().slice(0, 7)

/**
 * @param sellerId whose account; undefined months are this one
 * @throws {GatewayError} input_invalid
 */
export async function readStatement(
  { store, now }: { readonly store: Store; readonly now: () => number },
  sellerId: string,
  query: StatementQuery & { readonly minimumAtomic: number },
): Promise<z.output<typeof Statement>> {
  const { network, format, cursor, limit } = query
  const to = query.to ?? toMonth(now())
  const { from, since, until } = readMonths({ from: query.from ?? to, to }, now())
  const account = `seller:${sellerId}`
  const [opening, closing, entries, holds] = await Promise.all([
    store.marketBalanceBefore({ account, network, before: since }),
    store.marketBalanceBefore({ account, network, before: until }),
    store.listMarketEntries({ account, network, since, until, after: readCursor(cursor), limit: limit + 1 }),
    store.listPayoutHolds({ sellerId }),
  ])
  const shown = entries.slice(0, limit)
  const last = shown.at(-1)
  const lines = shown.map(toLine)
  return {
    seller: sellerId,
    network,
    from,
    to,
    opening_atomic: opening.toString(),
    closing_atomic: closing.toString(),
    minimum_payout_atomic: query.minimumAtomic.toString(),
    // Where nothing is owed any more nothing is kept.
    kept_because: closing > 0 ? (holds.find((hold) => hold.network === network)?.reason ?? null) : null,
    lines,
    ...(format === 'csv' && { csv: toCsv(lines) }),
    next: entries.length > limit && last ? `${last.at}.${last.seq}` : null,
  }
}

function readCursor(cursor: string | undefined): { at: number; seq: number } | undefined {
  if (cursor === undefined) return undefined
  const [at, seq] = cursor.split('.').map(Number)
  if (at === undefined || seq === undefined || !Number.isSafeInteger(at) || !Number.isSafeInteger(seq))
    throw new GatewayError('input_invalid', 'Send `cursor` as `next` of the page before named it.')
  return { at, seq }
}

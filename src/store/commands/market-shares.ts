// How what was paid spreads over payers and days: read for pages about sellers and services, never on the way of a call.
import { all, type Command, command, first } from '../command.ts'
import type { PayerShares, SellerDay, ServiceRef } from '../ports/market.ts'

type Shares = Readonly<Record<keyof PayerShares, number | string | null>>

/**
 * What payers that count paid together, and what the one paid that paid most. Costs as much as there are payers.
 * @param of.serviceId null: of all services of the seller, where a payer of several is one payer
 */
export const sumPayerShares = command({ kind: 'read' })(function* (
  of: Omit<ServiceRef, 'serviceId'> & { serviceId: string | null },
): Command<PayerShares> {
  const row = yield* first<Shares>(
    `SELECT count(*) AS payers, CAST(COALESCE(sum(calls), 0) AS BIGINT) AS calls, CAST(COALESCE(sum(volume), 0) AS BIGINT) AS volume,
       CAST(COALESCE(max(volume), 0) AS BIGINT) AS "largestVolume", COALESCE(sum(CASE WHEN calls > 1 THEN 1 ELSE 0 END), 0) AS repeating
     FROM (SELECT payer, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(volume) AS BIGINT) AS volume FROM market_payers
       WHERE seller_id = $1 AND environment = $2 AND exclusion IS NULL AND calls > 0${of.serviceId === null ? '' : ' AND service_id = $3'}
       GROUP BY payer) p`,
    of.sellerId,
    of.environment,
    ...(of.serviceId === null ? [] : [of.serviceId]),
  )
  return {
    payers: Number(row?.payers ?? 0),
    repeating: Number(row?.repeating ?? 0),
    calls: Number(row?.calls ?? 0),
    volume: Number(row?.volume ?? 0),
    largestVolume: Number(row?.largestVolume ?? 0),
  }
})

/** The days of all services of a seller together since then, oldest first. */
export const listSellerDays = command({ kind: 'read' })(function* (input: {
  sellerId: string
  environment: ServiceRef['environment']
  sinceDay: number
}): Command<readonly SellerDay[]> {
  const rows = yield* all<Readonly<Record<keyof SellerDay, number | string>>>(
    `SELECT day, CAST(sum(settled) AS BIGINT) AS settled, CAST(sum(volume) AS BIGINT) AS volume,
       CAST(sum(failed_unreachable + failed_timeout + failed_status + failed_answer + failed_schema) AS BIGINT) AS failed,
       CAST(sum(refunds) AS BIGINT) AS refunds, CAST(sum(refunded) AS BIGINT) AS refunded
     FROM market_day_stats WHERE seller_id = $1 AND environment = $2 AND day >= $3 GROUP BY day ORDER BY day`,
    input.sellerId,
    input.environment,
    input.sinceDay,
  )
  return rows.map((row) => ({
    day: Number(row.day),
    settled: Number(row.settled),
    volume: Number(row.volume),
    failed: Number(row.failed),
    refunds: Number(row.refunds),
    refunded: Number(row.refunded),
  }))
})

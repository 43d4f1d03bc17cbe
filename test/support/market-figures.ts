// Figures beside the sales that they link to.
import type { Place } from './store.ts'

const SALES = `SELECT s.seller_id, s.service_id, CASE WHEN s.network = 'eip155:84532' THEN 'test' ELSE 'live' END AS environment,
    c.payer, CAST(count(*) AS INTEGER) AS calls, CAST(sum(s.amount) AS BIGINT) AS volume
  FROM market_sales s JOIN payment_claims c ON c.id = s.claim_id WHERE s.is_booked = 1 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`
const PAYERS = `SELECT seller_id, service_id, environment, payer, calls, volume FROM market_payers WHERE calls <> 0 OR volume <> 0
  ORDER BY 1, 2, 3, 4`
const DAYS = `SELECT seller_id, service_id, environment, CAST(sum(settled) AS BIGINT) AS calls, CAST(sum(volume) AS BIGINT) AS volume
  FROM market_day_stats GROUP BY 1, 2, 3 HAVING sum(settled) <> 0 ORDER BY 1, 2, 3`
const STANDINGS = `SELECT seller_id, service_id, environment, settled + self_calls + funded_calls + ring_calls AS calls,
    volume + self_volume + funded_volume + ring_volume AS volume, payers + self_payers + funded_payers + ring_payers AS payers
  FROM market_standings WHERE settled + self_calls + funded_calls + ring_calls <> 0 ORDER BY 1, 2, 3`

/** What is counted, from the ledger and from each table of figures: the same four times, by payer, day and service. */
export async function figuresBesideLedger(place: Pick<Place, 'query'>) {
  const read = async (text: string) =>
    (await place.query(text)).map((row) => Object.values(row).map(String).join(' '))
  const [sales, payers, days, standings] = [
    await read(SALES),
    await read(PAYERS),
    await read(DAYS),
    await read(STANDINGS),
  ]
  const services = new Map<string, { calls: number; volume: number; payers: number }>()
  for (const line of sales) {
    const [seller, service, environment, , calls, volume] = line.split(' ')
    const name = `${seller} ${service} ${environment}`
    const sum = services.get(name) ?? { calls: 0, volume: 0, payers: 0 }
    services.set(name, {
      calls: sum.calls + Number(calls),
      volume: sum.volume + Number(volume),
      payers: sum.payers + 1,
    })
  }
  const sums = [...services]
  return {
    figures: { payers, days, standings },
    ledger: {
      payers: sales,
      days: sums.map(([name, { calls, volume }]) => `${name} ${calls} ${volume}`),
      standings: sums.map(([name, sum]) => `${name} ${sum.calls} ${sum.volume} ${sum.payers}`),
    },
  }
}

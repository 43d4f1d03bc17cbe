// Lists and sums of payments stay quick in a store of many: which index each engine takes, and that pages lose and repeat nothing.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Command } from '../../src/store/command.ts'
import { commands } from '../../src/store/commands/index.ts'
import type { ClaimSearch, Store } from '../../src/store/ports.ts'
import { toSqlite } from '../../src/store/sqlite/database.ts'
import { createPlace, ENGINES, newClaim, NOW, type Place } from '../support/store.ts'

const CLAIMS = 120_000
const DAY = 86_400_000
/** A year of them. */
const STEP_MS = Math.floor((365 * DAY) / CLAIMS)
const RARE = `0x${'aa'.repeat(20)}`
const claim = newClaim()

/** One in a thousand failed, one in ten thousand is open, and one payer paid every five thousandth. */
const seed = (
  key: string,
) => `INSERT INTO payment_claims (id, origin, network, asset, payer, nonce, pay_to, amount, state, tool, method,
    resource, request_digest, requirement_digest, presentation_digest, boot_id, payment_key, reason, created_at, submitted_at, finished_at)
  WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${CLAIMS})
  SELECT 'clm_' || CAST(1000000000 + i AS TEXT), 'tool', '${claim.network}', '${claim.asset}',
    CASE WHEN i % 5000 = 11 THEN '${RARE}' ELSE '0x' || CAST(1000000 + i % 3000 AS TEXT) END,
    '0x' || CAST(1000000000 + i AS TEXT), '${claim.payTo}', CASE WHEN i % 3 = 0 THEN '5000' ELSE '1000' END,
    CASE WHEN i % 10000 = 7 THEN 'unknown' WHEN i % 1000 = 3 THEN 'failed' ELSE 'settled' END,
    CASE WHEN i % 3 = 0 THEN 'gateway.pages.read' ELSE 'gateway.web.fetch' END, 'POST', 'https://gateway.example/', 'd', 'd', 'd', 'boot-0',
    ${key}, NULL, ${NOW} + i * ${STEP_MS}, ${NOW} + i * ${STEP_MS},
    CASE WHEN i % 10000 = 7 THEN NULL ELSE ${NOW} + i * ${STEP_MS} END
  FROM n`

describe.each(ENGINES)(`${CLAIMS} payments in %s`, (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'payments-large')
    store = await place.open('boot-1')
    if (engine === 'postgres') {
      await place.query(seed(`decode(CAST(1000000000 + i AS TEXT), 'hex')`))
      await place.query('ANALYZE payment_claims')
    } else {
      await store.close()
      const db = new DatabaseSync(join(place.config.dataDir, 'gateway.db'))
      db.exec(seed('CAST(CAST(1000000000 + i AS TEXT) AS BLOB)'))
      db.close()
      store = await place.open('boot-2')
    }
  }, 120_000)
  afterAll(() => place.remove())

  /** The plan of the last statement of a command, with its values written in. */
  async function planOf(command: Command<unknown>): Promise<string> {
    let text = ''
    for (let step = command.next(); !step.done; step = command.next([{ id: 'clm_0' }])) {
      const { text: asked, values } = step.value
      text = asked.replace(/\$(\d+)/g, (_, n: string) => {
        const value = values[Number(n) - 1]
        return typeof value === 'number' ? String(value) : `'${String(value)}'`
      })
    }
    const rows = await place.query(
      engine === 'sqlite' ? `EXPLAIN QUERY PLAN ${toSqlite(text).text}` : `EXPLAIN ${text}`,
    )
    return rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n')
  }

  it.each<[string, ClaimSearch, RegExp]>([
    ['everything', {}, /payment_claims_(pkey|1)/],
    ['a payer', { payer: RARE }, /claims_of_payer/],
    ['what failed', { state: 'failed' }, /claims_unsettled/],
    // There are so few of these that PostgreSQL may sort them out of another index of open ones.
    [
      'what is unknown of a tool',
      { state: 'unknown', tool: 'gateway.web.fetch' },
      /claims_(unsettled|doubtful)/,
    ],
    ['a tool', { tool: 'gateway.web.fetch' }, /payment_claims_(pkey|1)/],
    ['dear ones of a day', { since: NOW, until: NOW + DAY, minAmount: '5000' }, /payment_claims_(pkey|1)/],
  ])('lists %s by an index', async (_, filter, index) => {
    const plan = await planOf(commands.searchClaims(filter, { limit: 50, before: 'clm_zzzz' }))
    expect(plan).toMatch(index)
    expect(plan).not.toMatch(/Seq Scan|TEMP B-TREE|SCAN payment_claims$/m)
  })

  it('pages through one payer and through everything, each once', async () => {
    for (const [filter, expected] of [
      [{ payer: RARE }, CLAIMS / 5000],
      [{}, CLAIMS],
    ] as const) {
      const seen = new Set<string>()
      let next: string | undefined
      let rows = 0
      do {
        const page = await store.searchClaims(filter, { limit: 500, before: next })
        for (const { id } of page.items) seen.add(id)
        rows += page.items.length
        next = page.next ?? undefined
      } while (next !== undefined)
      expect([rows, seen.size]).toEqual([expected, expected])
    }
  })

  it('adds up every settled one over the days of a year', async () => {
    const sums = { payments: 0, settled: 0n, rows: 0 }
    for (let since = Math.floor(NOW / DAY) * DAY; since <= NOW + 365 * DAY; since += DAY) {
      const { settled } = await store.sumRevenue(since, since + DAY)
      for (const { count, amount } of settled) {
        sums.payments += count
        sums.settled += BigInt(amount) * BigInt(count)
        sums.rows++
      }
    }
    const [expected] = await place.query(
      `SELECT count(*) AS payments, sum(CASE WHEN amount = '5000' THEN 5000 ELSE 1000 END) AS settled
       FROM payment_claims WHERE state = 'settled'`,
    )
    expect(sums).toMatchObject({
      payments: Number(expected?.['payments']),
      settled: BigInt(String(expected?.['settled'])),
    })
    // A price and a tool are a row of a day, however many paid.
    expect(sums.rows).toBeLessThanOrEqual(2 * 367)
  })
})

// What processes on one database tell each other of the limits that they count.
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { createPlace, type Place, times } from '../support/store.ts'

let place: Place
let one: Store
let two: Store
beforeAll(async () => {
  place = await createPlace('postgres', 'rates')
  one = await place.open('boot-1')
  two = await place.open('boot-2')
})
afterAll(() => place.remove())

const count = (name: string, used: number, leftMs = 60_000) => ({ name, used, leftMs })
/** Some of the minute has passed meanwhile. */
const told = (name: string, used: number) => ({ name, used, leftMs: expect.any(Number) as number })

it('keeps the newest count of each process, and tells those of the others that are open', async () => {
  expect(await one.exchangeRates!([count('a', 3), count('b', 1)])).toEqual([])
  expect(await one.exchangeRates!([count('a', 5)])).toEqual([])
  const [heard, ...others] = await two.exchangeRates!([count('a', 2), count('c', 1)])
  expect(heard).toEqual(told('a', 5))
  expect(heard!.leftMs).toBeGreaterThan(0)
  expect(heard!.leftMs).toBeLessThanOrEqual(60_000)
  expect(others).toEqual([])
  expect(await one.exchangeRates!([count('a', 6)])).toEqual([told('a', 2)])
})

it('tells of no window that has closed, and forgets it', async () => {
  await one.exchangeRates!(times(50, (i) => count(`old ${i}`, 1, 1)))
  const client = new pg.Client({ connectionString: place.config.databaseUrl })
  await client.connect()
  await client.query('SELECT pg_sleep(0.05)')
  expect(await two.exchangeRates!([count('old 7', 1)])).toEqual([])
  const { rows } = await client.query(`SELECT name, boot_id FROM rate_counts WHERE name LIKE 'old%'`)
  await client.end()
  expect(rows).toEqual([{ name: 'old 7', boot_id: 'boot-2' }])
})

it('is told by many at once', async () => {
  const names = times(100, (i) => `many ${i}`)
  const exchanges = times(40, (i) =>
    (i % 2 === 0 ? one : two).exchangeRates!(names.map((name) => count(name, i))),
  )
  await Promise.all(exchanges)
  const after = await one.exchangeRates!([count('many 7', 1)])
  expect(after).toHaveLength(1)
  expect(after[0]!.name).toBe('many 7')
})

it('is nothing that a database with one process needs', async () => {
  const embedded = await createPlace('sqlite', 'rates')
  try {
    expect((await embedded.open('boot-1')).exchangeRates).toBeUndefined()
  } finally {
    await embedded.remove()
  }
})

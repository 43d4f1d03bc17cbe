// What processes on one database tell each other of the limits that they count.
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { createPlace, NOW, type Place, times } from '../support/store.ts'

let place: Place
let one: Store
let two: Store
beforeAll(async () => {
  place = await createPlace('postgres', 'rates')
  one = await place.open('boot-1')
  two = await place.open('boot-2')
})
afterAll(() => place.remove())

const count = (name: string, used: number, endsAt = NOW + 60_000) => ({ name, used, endsAt })

it('keeps the newest count of each process, and tells those of the others that are open', async () => {
  expect(await one.exchangeRates!([count('a', 3), count('b', 1)], NOW)).toEqual([])
  expect(await one.exchangeRates!([count('a', 5)], NOW)).toEqual([])
  expect(await two.exchangeRates!([count('a', 2), count('c', 1)], NOW)).toEqual([count('a', 5)])
  expect(await one.exchangeRates!([count('a', 6)], NOW)).toEqual([count('a', 2)])
  expect(await one.exchangeRates!([count('a', 1, NOW + 120_000)], NOW + 60_000)).toEqual([])
})

it('forgets what closed a while ago', async () => {
  await one.exchangeRates!(
    times(50, (i) => count(`old ${i}`, 1)),
    NOW,
  )
  await two.exchangeRates!([count('new', 1, NOW + 300_000)], NOW + 181_000)
  const client = new pg.Client({ connectionString: place.config.databaseUrl })
  await client.connect()
  const { rows } = await client.query('SELECT name, boot_id FROM rate_counts ORDER BY name')
  await client.end()
  expect(rows).toEqual([{ name: 'new', boot_id: 'boot-2' }])
})

it('is told by many at once', async () => {
  const names = times(100, (i) => `many ${i}`)
  const told = times(40, (i) =>
    (i % 2 === 0 ? one : two).exchangeRates!(
      names.map((name) => count(name, i)),
      NOW,
    ),
  )
  await Promise.all(told)
  const after = await one.exchangeRates!([count('many 7', 1)], NOW)
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

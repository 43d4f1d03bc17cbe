// The way back to a copy whose data was moved: what may have happened where the data went happens once.
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrateToPostgres, moveBack } from '../../../../src/app/transfer/migrate.ts'
import { describeAftermath } from '../../../../src/cli/aftermath.ts'
import { parseFault } from '../../../../src/lib/fault-points.ts'
import type { DatabaseAddress } from '../../../../src/store/postgres/pool.ts'
import { databaseFor } from '../../../support/postgres.ts'
import { addAccount, createPlace, NOW, type Place } from '../../../support/store.ts'

const MOVED = {
  move_id: randomUUID(),
  to: '127.0.0.1:1/gateway',
  at: new Date(NOW - 3_600_000).toISOString(),
}

let place: Place
beforeEach(async () => {
  place = await createPlace('sqlite', 'back')
  const store = await place.open()
  await addAccount(store, 10)
  await store.close()
  change(
    `INSERT INTO market_sellers (id, skeleton, account_id, name, description, payout_address, state, version, created_at, updated_at)
     VALUES ('slr_1', 's', 'a', 'n', 'd', '0x1', 'active', 1, 1, 1)`,
    `INSERT INTO market_payout_batches (id, network, period, minimum, created_at) VALUES ('pbt_1', 'n', 'p', 1, 1)`,
    `INSERT INTO attempts (id, account_id, capability_id, credential_id, credential_version, boot_id, cost, state, method, host, request_digest, created_at)
     VALUES ('att_1', 'a', '', '', 0, 'b', 1, 'reserved', 'POST', 'h', 'd', 7)`,
  )
  await writeFile(inPlace('market.json'), JSON.stringify(SETTINGS))
})
afterEach(() => place.remove())

const SETTINGS = { fee: { bps: 10 }, payouts: { schedule: 'daily', hour: 5 } }
const inPlace = (name: string) => join(place.config.dataDir, name)

function change(...texts: string[]): void {
  const db = new DatabaseSync(inPlace('gateway.db'))
  for (const text of texts) db.exec(text)
  db.close()
}
const note = (state: 'begun' | 'moved', over: object = {}) =>
  writeFile(inPlace('moved.json'), JSON.stringify({ state, ...MOVED, ...over }))
const back = (options: Partial<Parameters<typeof moveBack>[0]> = {}) =>
  moveBack({ config: place.config, now: () => NOW, ...options })

/** What a gateway would find there. */
async function found() {
  const [batch] = await place.query('SELECT finished_at AS at FROM market_payout_batches')
  const [attempt] = await place.query('SELECT state FROM attempts')
  const market = JSON.parse(await readFile(inPlace('market.json'), 'utf8'))
  const isMoved = (await readdir(place.config.dataDir)).includes('moved.json')
  return { batch: batch?.['at'], attempt: attempt?.['state'], schedule: market.payouts.schedule, isMoved }
}
const AS_IT_WAS = { batch: null, attempt: 'reserved', schedule: 'daily', isMoved: false }
const PROTECTED = { batch: NOW, attempt: 'sending', schedule: 'manual', isMoved: false }

it('pays no seller and sends no request that was paid or sent since, and says what to look at', async () => {
  await note('moved')
  const { moved, aftermath } = await back()
  expect(moved).toMatchObject(MOVED)
  expect(aftermath).toMatchObject({
    payoutsHeld: true,
    ended: { payout_batches: 1, attempts_in_doubt: 1 },
    living: { sellers: 1 },
  })
  expect(await found()).toEqual(PROTECTED)
  const market = JSON.parse(await readFile(inPlace('market.json'), 'utf8'))
  expect(market).toEqual({ fee: { bps: 10 }, payouts: { schedule: 'manual', hour: 5 } })
  const events = await place.query(`SELECT body FROM audit_events WHERE chain = 'installation'`)
  expect(events.map(({ body }) => JSON.parse(String(body)))).toMatchObject([
    { event: 'data.moved_back', detail: { to: MOVED.to, moved_at: MOVED.at, payout_batches: 1 } },
  ])
  const said = describeAftermath(aftermath!, { age: '60 minutes', event: 'the move' }).join('\n')
  expect(said).toMatch(/The audit log goes on from the move\.[^]*Payouts to sellers are by hand/)
  expect(said).toContain('1 requests that were about to be sent count as sent')
})

it('leaves a schedule alone where there are no sellers', async () => {
  change('DELETE FROM market_payout_batches', 'DELETE FROM market_sellers')
  await note('moved')
  expect((await back()).aftermath).toMatchObject({ payoutsHeld: false })
  expect(await found()).toMatchObject({ schedule: 'daily', isMoved: false })
})

it.each(['after_rows_loaded', 'after_rows_committed'])(
  'that is cut off (%s) leaves the note, so that no gateway starts, and is run again',
  async (point) => {
    await note('moved')
    await expect(back({ fault: parseFault(`${point}:throw`) })).rejects.toThrow(`fault injected at ${point}`)
    const isCommitted = point === 'after_rows_committed'
    expect(await found()).toEqual({
      ...AS_IT_WAS,
      ...(isCommitted && { batch: NOW, attempt: 'sending' }),
      isMoved: true,
    })
    await back()
    expect(await found()).toEqual(PROTECTED)
  },
)

it('is refused where the copy is no more, and begins no other one', async () => {
  await rm(inPlace('gateway.db'))
  await note('moved')
  await expect(back()).rejects.toThrow(/There is no copy in .* any more\. Make a backup/)
  expect(await readdir(place.config.dataDir)).toEqual(expect.arrayContaining(['moved.json']))
  expect(await readdir(place.config.dataDir)).not.toContain('gateway.db')
})

it('is refused in words where nothing was moved', async () => {
  await expect(back()).rejects.toThrow(/was not moved/)
})

describe('from a move that was only begun', () => {
  const begin = async (fault: string) => {
    const to = { url: await databaseFor('back'), directUrl: undefined }
    const moving = migrateToPostgres({
      config: place.config,
      to,
      now: () => NOW,
      fault: parseFault(`${fault}:throw`),
    })
    await expect(moving).rejects.toThrow(`fault injected at ${fault}`)
    return to
  }
  /** As a process leaves it that is killed there. */
  const noteOf = (to: { url: string }) => {
    const { hostname, port, pathname } = new URL(to.url)
    return note('begun', { to: `${hostname}:${port}${pathname}` })
  }

  it('keeps everything as it is where that database says that nothing arrived', async () => {
    const to = await begin('after_rows_loaded')
    await noteOf(to)
    expect((await back({ to })).aftermath).toBeUndefined()
    expect(await found()).toEqual(AS_IT_WAS)
  })

  it('takes what arrived there for used', async () => {
    const to = await begin('after_rows_committed')
    expect(JSON.parse(await readFile(inPlace('moved.json'), 'utf8'))).toMatchObject({ state: 'begun' })
    expect((await back({ to })).aftermath).toMatchObject({ payoutsHeld: true })
    expect(await found()).toEqual(PROTECTED)
  })

  it.each<[string, DatabaseAddress | undefined]>([
    ['is not named', undefined],
    ['is another one', { url: 'postgres://u:p@127.0.0.1:2/other', directUrl: undefined }],
    ['does not answer', { url: `postgres://u:p@${MOVED.to}`, directUrl: undefined }],
  ])('takes it for used where the database %s', async (_what, to) => {
    await note('begun')
    expect((await back({ to })).aftermath).toMatchObject({ payoutsHeld: true })
    expect(await found()).toEqual(PROTECTED)
  })
})

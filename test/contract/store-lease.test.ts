// The session in which a process holds its lease ends, or is cut off, and nobody says so.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { type SilentRelay, startSilentRelay } from '../support/silent-relay.ts'
import {
  addSetting,
  createPlace,
  ending,
  log,
  NOW,
  type Place,
  reservation,
  type Setting,
} from '../support/store.ts'

const BOOT = 'boot-cut-off'
const NOTHING = { refunded: [], ambiguous: [] }

let place: Place
let relay: SilentRelay
let store: Store
let other: Store
let setting: Setting
const warned: string[] = []
beforeAll(async () => {
  place = await createPlace('postgres', 'lease')
  const url = place.config.databaseUrl!
  const { hostname, port } = new URL(url)
  relay = await startSilentRelay({ host: hostname, port: Number(port) })
  const direct = new URL(url)
  direct.host = `127.0.0.1:${relay.port}`
  store = await openPostgresStore({
    // Nothing but the lease goes through the relay.
    address: { url, directUrl: direct.href },
    bootId: BOOT,
    log: { ...log, warn: (said: unknown) => warned.push(String(said)) } as typeof log,
    // Twice as long without an answer, and the lease is lost: longer than a busy machine keeps anybody waiting.
    leaseCheckMs: 2500,
  })
  other = await place.open('boot-other')
  setting = await addSetting(store, 10)
  warned.length = 0
})
afterAll(async () => {
  await store.close()
  await relay.close()
  await place.remove()
})

const isHealthy = async () => (await store.health()).ok
const recover = () => other.recoverAttempts({ bootId: 'boot-other', now: NOW })

/** An attempt whose request has left. */
async function send() {
  const asked = reservation(setting, BOOT)
  expect((await store.reserveAttempt(asked)).ok).toBe(true)
  expect(await store.markSending({ id: asked.attempt.id, bootId: BOOT, now: NOW })).toBe(true)
  return asked.attempt
}
const holders = () =>
  place.query(`SELECT pid FROM pg_locks JOIN boots ON lock_key = objid::bigint
    WHERE locktype = 'advisory' AND granted AND boot_id = '${BOOT}'`)

it('a process whose session was ended finds out by itself, and begins nothing until it holds its lease again', async () => {
  const attempt = await send()
  relay.isClosed = true
  // The server's last word does not arrive either.
  relay.stall()
  const [holder] = await holders()
  await place.query(`SELECT pg_terminate_backend(${Number(holder!['pid'])})`)
  await expect.poll(isHealthy, { interval: 20 }).toBe(false)
  await expect(store.reserveAttempt(reservation(setting, BOOT))).rejects.toMatchObject({
    reason: 'lease lost',
  })
  // Long enough for several tries.
  await sleep(1000)
  relay.isClosed = false
  await expect.poll(isHealthy).toBe(true)
  expect(warned).toEqual([expect.stringContaining('the lease was lost')])
  // What it has under way is its own: nobody else takes it for dead.
  expect(await recover()).toEqual(NOTHING)
  expect((await store.finishAttempt(ending(attempt, BOOT))).ok).toBe(true)
  await send()
})

it('a process that is cut off from its session takes the lock over without letting anybody else find it free', async () => {
  const attempt = await send()
  const before = await holders()
  relay.stall()
  await expect
    .poll(
      async () => {
        expect(await recover()).toEqual(NOTHING)
        const now = await holders()
        return now.length === 1 && now[0]!['pid'] !== before[0]!['pid']
      },
      { interval: 0 },
    )
    .toBe(true)
  await expect.poll(isHealthy).toBe(true)
  expect(await recover()).toEqual(NOTHING)
  expect((await store.finishAttempt(ending(attempt, BOOT))).ok).toBe(true)
})

it('a process whose server was only slow goes on with the session that it had', async () => {
  const attempt = await send()
  const before = await holders()
  relay.isClosed = true
  const goOn = relay.stall()
  await expect.poll(isHealthy, { interval: 20 }).toBe(false)
  await sleep(1000)
  expect(await recover()).toEqual(NOTHING)
  goOn()
  await expect.poll(isHealthy).toBe(true)
  expect(await holders()).toEqual(before)
  relay.isClosed = false
  expect((await store.finishAttempt(ending(attempt, BOOT))).ok).toBe(true)
})

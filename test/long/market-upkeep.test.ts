// What happens to a seller without anybody asking: proofs are looked for again, and events arrive. Time is moved by hand.
import { createPublicKey, verify } from 'node:crypto'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { proveHost, registerSeller } from '../support/onboarding.ts'
import type { DnsZone } from '../support/dns-server.ts'
import { MAX_EVENTS } from '../../src/store/commands/market-events.ts'
import { openTempStore } from '../support/temp-store.ts'

const HOUR = 3600_000
const RECORD = '_agent-gateway.api.example.com'

let gw: TestGateway
let key: string
let origin: string
let shown: DnsZone
let moved = 0
/** The time that is told while it stands still. */
let held: number | undefined
const seller = (path: string, body?: object) =>
  gw.rest(body ? 'POST' : 'GET', `/v1/marketplace/seller${path}`, body, key)
const state = async () => {
  const { hosts, services } = (await seller('')).body
  return {
    host: hosts[0].state,
    service: services[0].state,
    reason: services[0].state_reason,
    by: services[0].paused_by,
  }
}
const eventTypes = async () => (await seller('/events')).body.events.map(({ type }: { type: string }) => type)

/** Rounds of housekeeping, so much later, until what they started is done: a round that comes while one is under way is left out. */
async function pass(ms: number, settled: () => Promise<unknown>): Promise<void> {
  moved += ms
  const round = async () => {
    vi.advanceTimersByTime(60_000)
    await settled()
  }
  await vi.waitFor(round, { timeout: 60_000, interval: 50 })
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  moved = 0
  held = undefined
  gw = await startTestGateway({ now: () => (held ?? Date.now()) + moved, undocumented: 'fail' })
  origin = gw.url('').replace(/\/$/, '')
  gw.upstream.respond(({ target }, res) =>
    target.startsWith('/.well-known/')
      ? res.writeHead(404).end()
      : res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
  )
  key = await registerSeller(gw, 'acme')
  await proveHost(gw, key, origin)
  shown = { TXT: [(await seller('')).body.hosts[0].dns.value] }
  await seller('/services', { service_id: 'one', name: 'One', origin, routes: [{ price_atomic: '1000' }] })
  await seller('/services/submit', { service_id: 'one' })
  const decided = { seller: 'acme', service_id: 'one', decision: 'approve', reason: 'fine' }
  await gw.rest('POST', '/v1/marketplace/moderation', decided)
  expect(await state()).toMatchObject({ host: 'proven', service: 'active' })
})
afterEach(async () => {
  vi.useRealTimers()
  await gw.close()
})

it('a proof that is gone pauses what is sold, with the reason; when it is back, that is sold again', async () => {
  gw.dns.set(RECORD, { TXT: ['v=spf1 -all'] })
  await pass(25 * HOUR, async () => expect(await state()).toMatchObject({ host: 'lapsed' }))
  expect(await state()).toEqual({
    host: 'lapsed',
    service: 'paused',
    by: 'proof',
    reason: expect.stringMatching(/^The proof that api\.example\.com.* is gone\.$/),
  })
  expect((await seller('/services/resume', { service_id: 'one' })).body.code).toBe('state_conflict')
  gw.dns.set(RECORD, shown)
  await pass(2 * HOUR, async () => expect(await state()).toMatchObject({ host: 'proven' }))
  expect(await state()).toEqual({ host: 'proven', service: 'active', by: null, reason: null })
  expect(await eventTypes()).toEqual(
    expect.arrayContaining(['host.lapsed', 'listing.paused', 'listing.resumed']),
  )
})

it('what its seller paused stays paused when the proof is back', async () => {
  await seller('/services/pause', { service_id: 'one', reason: 'holiday' })
  gw.dns.set(RECORD, { TXT: [] })
  await pass(25 * HOUR, async () => expect(await state()).toMatchObject({ host: 'lapsed' }))
  gw.dns.set(RECORD, shown)
  await pass(2 * HOUR, async () => expect(await state()).toMatchObject({ host: 'proven' }))
  expect(await state()).toMatchObject({ service: 'paused', by: 'seller', reason: 'holiday' })
})

it('DNS that fails is not a proof that is gone: only a day of failures is', async () => {
  gw.dns.set(RECORD, { rcode: 2 })
  const failures = async () => (await seller('')).body.hosts[0].failures
  await pass(25 * HOUR, async () => expect(await failures()).toBe(1))
  await pass(2 * HOUR, async () => expect(await failures()).toBe(2))
  await pass(2 * HOUR, async () => expect(await failures()).toBe(3))
  expect(await state()).toMatchObject({ host: 'proven', service: 'active' })
  await pass(21 * HOUR, async () => expect(await state()).toMatchObject({ host: 'lapsed' }))
  expect(await state()).toMatchObject({
    service: 'paused',
    reason: expect.stringContaining('could not be reached for a day'),
  })
})

it('a host that turns private is not sold from, at the next look', async () => {
  gw.dns.set('api.example.com', { A: ['10.0.0.7'] })
  await pass(25 * HOUR, async () => expect(await state()).toMatchObject({ host: 'lapsed' }))
  expect(await state()).toMatchObject({
    service: 'paused',
    reason: expect.stringContaining('not on the public internet'),
  })
})

it('events arrive signed, are sent again until they are taken, and are sent to no private address', async () => {
  const answers = [500, 204]
  const received: { headers: Record<string, string>; body: string }[] = []
  gw.upstream.respond(({ target, headers, body }, res) => {
    if (target !== '/hook') return void res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    received.push({ headers: Object.fromEntries(headers), body: body.toString() })
    res.writeHead(answers.shift() ?? 200).end()
  })
  await pass(0, async () =>
    expect((await seller('/events')).body.events.every((e: { state: string }) => e.state === 'dropped')).toBe(
      true,
    ),
  )
  await seller('', { webhook_url: `${origin}/hook` })
  // The second try is due five seconds after the first one, and asking for that one may take longer.
  held = Date.now()
  await seller('/services/pause', { service_id: 'one', reason: 'rest' })
  // The next try counts from when this one is written down, which is after it was received.
  await pass(0, async () =>
    expect((await seller('/events')).body.events[0]).toMatchObject({ tries: 1, problem: 'status_500' }),
  )
  expect(received).toHaveLength(1)
  await pass(10_000, async () => expect(received).toHaveLength(2))
  const [first, second] = received
  expect(second!.body).toBe(first!.body)
  expect(JSON.parse(first!.body)).toMatchObject({
    type: 'listing.paused',
    data: { seller: 'acme', service_id: 'one', reason: 'rest' },
  })
  const {
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': given,
    'webhook-key-id': kid,
  } = second!.headers
  const { keys } = (await gw.rest('GET', '/.well-known/jwks.json')).body
  const jwk = keys.find((one: { kid: string }) => one.kid === kid)
  const signed = Buffer.from(`${id}.${at}.${second!.body}`)
  const signature = Buffer.from(given!.replace(/^v1a,/, ''), 'base64')
  expect(verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(true)
  // It is written down once the answer has been read, which is after it was given.
  await expect
    .poll(async () => (await seller('/events')).body.events[0])
    .toMatchObject({ type: 'listing.paused', state: 'sent', tries: 2 })

  gw.dns.set('api.example.com', { A: ['10.0.0.7'] })
  await seller('/services/pause', { service_id: 'one', reason: 'more rest' })
  await pass(0, async () =>
    expect((await seller('/events')).body.events[0]).toMatchObject({ problem: 'private' }),
  )
  expect(received).toHaveLength(2)
})

it('a seller that steps to and fro all day fills no table with what it is told', async () => {
  const temp = await openTempStore()
  try {
    const tell = (i: number) =>
      temp.store.addMarketEvent({ sellerId: 'acme', event: { id: `evt_${i}`, type: 'x', data: {} }, now: 1 })
    await Promise.all(Array.from({ length: MAX_EVENTS + 50 }, (_, i) => tell(i)))
    await temp.store.addMarketEvent({
      sellerId: 'other',
      event: { id: 'evt_other', type: 'x', data: {} },
      now: 1,
    })
    let kept = 0
    for (let before: string | undefined; ;) {
      const page = await temp.store.listMarketEvents('acme', { limit: 1000, before })
      kept += page.items.length
      if (page.next === null) break
      before = page.next
    }
    expect(kept).toBe(MAX_EVENTS)
    expect((await temp.store.listMarketEvents('other', { limit: 9 })).items).toHaveLength(1)
  } finally {
    await temp.close()
  }
})

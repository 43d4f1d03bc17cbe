// Keys of email verification in the hands of the operator: listed, revoked, and limited over every gateway on one database.
import { afterEach, describe, expect, it } from 'vitest'
import { emailVerify } from '../../tools/email-verify.ts'
import { createWorld, ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

const NOON = Date.parse('2026-11-21T12:00:00.000Z')
const TODAY = '2026-11-21'

async function start(options: Parameters<typeof startTestGateway>[0]): Promise<TestGateway> {
  const gateway = await startTestGateway(options)
  open.push(gateway)
  gateway.dns.set('good.com', { MX: [[10, 'mx.good.com']], ttl: 60 })
  gateway.dns.set('mx.good.com', { A: ['93.184.216.34'], ttl: 60 })
  return gateway
}
type Made = { key_id: string; key: string }
const freeKey = async (gateway: TestGateway): Promise<Made> =>
  (await gateway.rest('POST', '/v1/keys/free', {}, '')).body
const verify = (gateway: TestGateway, key: string) =>
  gateway.rest('POST', '/v1/verify', { email: 'ada@good.com' }, key)
const revoke = (gateway: TestGateway, id: string, token?: string) =>
  gateway.rest('POST', `/v1/email/keys/${id}/revoke`, undefined, token)

describe.each(ENGINES)('email keys in %s', (engine) => {
  it('are listed with when they were made, used last and revoked, and what of the day is taken', async () => {
    const clock = { now: NOON }
    const env = { GATEWAY_EMAIL_DAILY_QUOTA: '20' }
    const gateway = await start({ engine, env, now: () => clock.now })
    const first = await freeKey(gateway)
    clock.now += 1_000
    const second = await freeKey(gateway)
    await verify(gateway, first.key)
    clock.now += 1_000
    await revoke(gateway, second.key_id)
    const listed = await gateway.rest('GET', '/v1/email/keys')
    const times = [NOON, NOON + 1_000, NOON + 2_000].map((at) => new Date(at).toISOString())
    expect(listed.body).toEqual({
      keys: [
        {
          key_id: second.key_id,
          created_at: times[1],
          last_seen_on: TODAY,
          used_today: 0,
          revoked_at: times[2],
        },
        { key_id: first.key_id, created_at: times[0], last_seen_on: TODAY, used_today: 1, revoked_at: null },
      ],
      next: null,
    })
    expect(listed.text).not.toContain('agw_ek_')
    const page = await gateway.rest('GET', `/v1/email/keys?limit=1&before=${second.key_id}`)
    expect(page.body.keys).toMatchObject([{ key_id: first.key_id }])
  })

  it('open nothing from the moment they are revoked, through any door', async () => {
    // Where no time passes, nothing that is remembered is forgotten by itself.
    const gateway = await start({ engine, now: () => NOON })
    const [ended, other] = [await freeKey(gateway), await freeKey(gateway)]
    for (const { key } of [ended, other]) expect((await verify(gateway, key)).status).toBe(200)
    const revoked = await revoke(gateway, ended.key_id)
    expect([revoked.status, revoked.body.key_id]).toEqual([200, ended.key_id])
    const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
    for (const door of ['rest', 'mcp', 'a2a'] as const)
      expect(await throughDoor[door](send, emailVerify, { email: 'ada@good.com' }, ended.key)).toMatchObject({
        code: 'key_invalid',
      })
    expect((await verify(gateway, other.key)).status).toBe(200)
    expect((await revoke(gateway, ended.key_id)).body).toEqual(revoked.body)
    const unknown = await revoke(gateway, 'ek_0000000000000000000000000000000000')
    expect([unknown.status, unknown.body.code]).toEqual([404, 'key_not_found'])
  })

  it('are for the administrator to see and to end', async () => {
    const gateway = await start({ engine })
    const { key_id, key } = await freeKey(gateway)
    const account = await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'team-b' })
    for (const [token, status] of [
      [account.body.key, 403],
      [key, 401],
      ['', 401],
    ] as const) {
      expect((await gateway.rest('GET', '/v1/email/keys', undefined, token)).status).toBe(status)
      expect((await revoke(gateway, key_id, token)).status).toBe(status)
    }
    expect((await verify(gateway, key)).status).toBe(200)
  })

  it('have their last day written down when they are used, and not when they are listed', async () => {
    const clock = { now: NOON }
    const gateway = await start({ engine, now: () => clock.now })
    const { key } = await freeKey(gateway)
    const lastSeen = async () => (await gateway.rest('GET', '/v1/email/keys')).body.keys[0].last_seen_on
    clock.now += 3 * 24 * 3600 * 1000
    expect(await lastSeen()).toBe(TODAY)
    await verify(gateway, key)
    await expect.poll(lastSeen).toBe('2026-11-24')
  })
})

describe('two gateways on one database', () => {
  const env = { GATEWAY_RATE_LIMIT: '' }

  it('give one network five keys an hour together, and go on counting after a restart', async () => {
    const world = await createWorld({ engine: 'postgres', env })
    open.push(world)
    const now = () => NOON
    const gateways = [await start({ world, now }), await start({ world, now })] as const
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async (_, i) =>
        gateways[i % 2]!.rest('POST', '/v1/keys/free', {}, '').then(({ status }) => status),
      ),
    )
    expect(statuses.filter((status) => status === 201)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(7)
    const third = await start({ world, now })
    expect((await third.rest('POST', '/v1/keys/free', {}, '')).status).toBe(429)
  })

  it('both refuse a key that one of them revoked, the other within a second', async () => {
    const world = await createWorld({ engine: 'postgres' })
    open.push(world)
    const clock = { now: NOON }
    const here = await start({ world })
    const there = await start({ world, now: () => clock.now })
    const { key_id, key } = await freeKey(here)
    expect((await verify(there, key)).status).toBe(200)
    await revoke(here, key_id)
    expect((await verify(here, key)).status).toBe(401)
    clock.now += 1_000
    expect((await verify(there, key)).status).toBe(401)
  })
})

// The consent of a merchant at the moment of a call: every fault of its DNS is a 403 that sends and costs nothing, and a
// record that was removed stops calls within 300 s.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDnsServer, type DnsZone, type TestDnsServer } from '../support/dns-server.ts'
import {
  createWorld,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
  type World,
} from '../support/gateway.ts'

const EDGE_NAME = 'gw.example.com'

let world: World
let other: TestDnsServer
let gateway: TestGateway
let time = Date.now()
beforeAll(async () => {
  other = await startDnsServer({ [UPSTREAM_HOST]: { A: ['127.0.0.1'] } })
  const made = await createWorld({ env: { GATEWAY_EDGE_NAME: EDGE_NAME } })
  world = { ...made, env: { ...made.env, GATEWAY_DNS_SERVERS: `${made.dns.address},${other.address}` } }
  gateway = await startTestGateway({ world, now: () => time })
})
afterAll(async () => {
  await gateway.close()
  await world.close()
  await other.close()
})

/** What is remembered of earlier tests is forgotten. */
const forget = () => void (time += 301_000)

async function expectedFor(host: string): Promise<string> {
  const { body } = await gateway.rest('POST', '/v1/edge/check', { host })
  forget()
  return body.expected
}

function publish(host: string, zone: DnsZone, second: DnsZone = zone): void {
  world.dns.set(`_agent-gateway.${host}`, zone)
  other.set(`_agent-gateway.${host}`, second)
}

const buy = (host: string, path = '/v1/orders') =>
  gateway.rest('POST', `/edge/${host}:${world.upstream.port}${path}`, { sku: 'tea' }, '')

/** What a call did: its answer, how often the merchant was reached, and what it cost. */
async function watch(call: () => ReturnType<typeof buy>) {
  const [balance, sent] = [await gateway.balance(), world.upstream.requests.length]
  const { status, body, text } = await call()
  return {
    status,
    code: status >= 400 ? body.code : undefined,
    refusal: status >= 400 ? body.refusal : undefined,
    text,
    sent: world.upstream.requests.length - sent,
    cost: balance - (await gateway.balance()),
  }
}

const NOTHING = { sent: 0, cost: 0 }

type Case = [what: string, (expected: string) => DnsZone | [DnsZone, DnsZone], refusal: string]

describe('a call to a merchant', () => {
  it.each<Case>([
    ['has no record', () => ({ rcode: 3 }), 'absent'],
    [
      'names another gateway',
      (text) => ({ TXT: [text.replace(EDGE_NAME, 'gw.example.net')] }),
      'wrong_gateway',
    ],
    [
      'names no account',
      (text) => ({ TXT: [text.replace(/acct=.*/, `acct=${'a'.repeat(26)}`)] }),
      'wrong_account',
    ],
    ['has expired', (text) => ({ TXT: [`${text}; until=1000000000`] }), 'expired'],
    ['has two records', (text) => ({ TXT: [text, `${text}; paths=/v1/`] }), 'several_records'],
    ['cannot be read', (text) => ({ TXT: [`${text}; paths=v1`] }), 'malformed'],
    ['is for another path', (text) => ({ TXT: [`${text}; paths=/v10,/v1/orders/`] }), 'path_not_covered'],
    ['is for another method', (text) => ({ TXT: [`${text}; methods=GET`] }), 'method_not_covered'],
    ['is an alias of itself', () => ({ CNAME: `_agent-gateway.${UPSTREAM_HOST}` }), 'alias_chain'],
    ['is seen by one resolver only', (text) => [{ TXT: [text] }, {}], 'resolvers_disagree'],
    ['is not told by one resolver', (text) => [{ TXT: [text] }, { rcode: 2 }], 'resolver_failed'],
  ])('whose consent %s is refused, and nothing is sent or charged', async (_what, zoneOf, refusal) => {
    const zones = zoneOf(await expectedFor(UPSTREAM_HOST))
    if (Array.isArray(zones)) publish(UPSTREAM_HOST, ...zones)
    else publish(UPSTREAM_HOST, zones)
    const { text, ...did } = await watch(() => buy(UPSTREAM_HOST))
    expect(did).toEqual({ status: 403, code: 'edge_not_authorized', refusal, ...NOTHING })
    // The buyer learns nothing about whose account it is.
    expect(text).not.toMatch(/acc_|balance/)
  })

  it.each<[string, (expected: string) => DnsZone]>([
    ['in one string', (text) => ({ TXT: [text] })],
    ['split into strings', (text) => ({ TXT: [[text.slice(0, 9), text.slice(9, 33), text.slice(33)]] })],
    [
      'beside those of other gateways',
      (text) => ({ TXT: [text.replace(EDGE_NAME, 'gw.example.net'), text] }),
    ],
    ['behind one alias', () => ({ CNAME: 'consent.example.net' })],
    ['for this very path', (text) => ({ TXT: [`${text}; paths=/v1/orders`] })],
  ])('whose consent is there %s is forwarded at the expense of its account', async (_what, zoneOf) => {
    const expected = await expectedFor(UPSTREAM_HOST)
    for (const server of [world.dns, other]) server.set('consent.example.net', { TXT: [expected] })
    publish(UPSTREAM_HOST, zoneOf(expected))
    expect(await watch(() => buy(UPSTREAM_HOST))).toMatchObject({ status: 200, sent: 1, cost: 1 })
  })

  it('whose consent is that of another host is refused', async () => {
    const expected = await expectedFor('shop.example.net')
    publish(UPSTREAM_HOST, { TXT: [expected] })
    expect(await watch(() => buy(UPSTREAM_HOST))).toMatchObject({ refusal: 'wrong_account', ...NOTHING })
  })

  it('whose consent is there but leads to a private address is refused', async () => {
    const host = 'private.example.com'
    publish(host, { TXT: [await expectedFor(host)] })
    for (const server of [world.dns, other]) server.set(host, { A: ['127.0.0.1', '10.0.0.1'] })
    expect(await watch(() => buy(host))).toMatchObject({ status: 403, code: 'target_blocked', ...NOTHING })
  })
})

describe('a record that is removed', () => {
  it('stops calls 300 s after it was read at the latest, whatever its TTL', async () => {
    publish(UPSTREAM_HOST, { TXT: [await expectedFor(UPSTREAM_HOST)], ttl: 86_400 })
    expect((await watch(() => buy(UPSTREAM_HOST))).status).toBe(200)
    publish(UPSTREAM_HOST, { rcode: 3 })
    time += 299_999
    expect((await watch(() => buy(UPSTREAM_HOST))).status).toBe(200)
    time += 1
    expect(await watch(() => buy(UPSTREAM_HOST))).toMatchObject({
      status: 403,
      refusal: 'absent',
      ...NOTHING,
    })
  })
  it('stops calls at once when the operator looks', async () => {
    publish(UPSTREAM_HOST, { TXT: [await expectedFor(UPSTREAM_HOST)], ttl: 86_400 })
    expect((await watch(() => buy(UPSTREAM_HOST))).status).toBe(200)
    publish(UPSTREAM_HOST, { rcode: 3 })
    await gateway.rest('POST', '/v1/edge/check', { host: UPSTREAM_HOST })
    expect(await watch(() => buy(UPSTREAM_HOST))).toMatchObject({
      status: 403,
      refusal: 'absent',
      ...NOTHING,
    })
  })
  it('is not stood in for by what was known, when the resolvers fail', async () => {
    publish(UPSTREAM_HOST, { TXT: [await expectedFor(UPSTREAM_HOST)], ttl: 86_400 })
    expect((await watch(() => buy(UPSTREAM_HOST))).status).toBe(200)
    publish(UPSTREAM_HOST, { rcode: 2 })
    time += 300_000
    expect(await watch(() => buy(UPSTREAM_HOST))).toMatchObject({ refusal: 'resolver_failed', ...NOTHING })
  })
  it('expires at its second, though it is remembered', async () => {
    const until = Math.floor(time / 1000) + 400
    publish(UPSTREAM_HOST, { TXT: [`${await expectedFor(UPSTREAM_HOST)}; until=${until}`], ttl: 86_400 })
    expect((await watch(() => buy(UPSTREAM_HOST))).status).toBe(200)
    const asked = world.dns.queries.filter(({ type }) => type === 'TXT').length
    time = until * 1000 - 1
    expect((await watch(() => buy(UPSTREAM_HOST))).status).toBe(200)
    time += 1
    expect(await watch(() => buy(UPSTREAM_HOST))).toMatchObject({ refusal: 'expired', ...NOTHING })
    expect(world.dns.queries.filter(({ type }) => type === 'TXT')).toHaveLength(asked)
  })
})

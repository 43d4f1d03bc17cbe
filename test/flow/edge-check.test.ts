// What an operator is told about a merchant's DNS, over every door, with two resolvers that can be made to fail.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDnsServer, type DnsZone, type TestDnsServer } from '../support/dns-server.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

const EDGE_NAME = 'gw.example.com'
const PORT = 8443
/** An address that may be reached: the only one that the test opens. */
const OPEN = { A: ['127.0.0.1'] }

let world: World
let other: TestDnsServer
let gateway: TestGateway
beforeAll(async () => {
  other = await startDnsServer()
  const made = await createWorld({ ports: [PORT], env: { GATEWAY_EDGE_NAME: EDGE_NAME } })
  world = {
    ...made,
    env: { ...made.env, GATEWAY_DNS_SERVERS: `${made.dns.address},${other.address}` },
  }
  gateway = await startTestGateway({ world })
})
afterAll(async () => {
  await gateway.close()
  await world.close()
  await other.close()
})

let hosts = 0
/** A name that no test asked about before. */
const newHost = () => `shop${hosts++}.example.com`
const consentOf = (host: string) => `_agent-gateway.${host}`
const check = async (host: string, token?: string) => gateway.rest('POST', '/v1/edge/check', { host }, token)

/** The record that this account has to publish for the host. */
const expectedFor = async (host: string, token?: string): Promise<string> =>
  (await check(host, token)).body.expected

function publish(host: string, zone: DnsZone, second: DnsZone = zone): void {
  for (const [server, consent] of [
    [world.dns, zone],
    [other, second],
  ] as const) {
    server.set(host, OPEN)
    server.set(consentOf(host), consent)
  }
}

describe('a host that is checked', () => {
  it('is told the record to publish, and is authorized once it is there', async () => {
    const host = newHost()
    const before = await check(host)
    expect(before.status).toBe(200)
    expect(before.body).toEqual({
      host,
      authorized: false,
      name: consentOf(host),
      expected: expect.stringMatching(/^v=agw1; gw=gw\.example\.com; acct=[a-z2-7]{26}$/),
      found: [
        { resolver: world.dns.address, status: 'absent', records: [], ttl_seconds: null },
        { resolver: other.address, status: 'absent', records: [], ttl_seconds: null },
      ],
      refusal: 'absent',
      detail: `There is no consent record at ${consentOf(host)}. Publish the TXT record there.`,
      paths: [],
      methods: [],
      expires_at: null,
      reachable: { ok: false, reason: 'not_found' },
    })

    publish(host, { TXT: [before.body.expected], ttl: 120 })
    expect((await check(host)).body).toEqual({
      ...before.body,
      authorized: true,
      found: [world.dns, other].map(({ address }) => ({
        resolver: address,
        status: 'found',
        records: [before.body.expected],
        ttl_seconds: 120,
      })),
      refusal: null,
      detail: `Transactions sent to ${gateway.baseUrl}/edge/${host}/ are forwarded, at the expense of this account.`,
      paths: ['/'],
      methods: ['POST'],
      reachable: { ok: true, reason: null },
    })
  })

  it('says what the record allows and for how long', async () => {
    const host = newHost()
    const until = Math.floor(Date.now() / 1000) + 3600
    publish(host, {
      TXT: [`${await expectedFor(host)}; paths=/v1/,/catalog; methods=GET,POST; until=${until}`],
    })
    expect((await check(host)).body).toMatchObject({
      authorized: true,
      paths: ['/v1/', '/catalog'],
      methods: ['GET', 'POST'],
      expires_at: new Date(until * 1000).toISOString(),
    })
  })

  it('has one token, with and without a port, and another for another account', async () => {
    const host = newHost()
    const expected = await expectedFor(host)
    expect(await expectedFor(`${host}:${PORT}`)).toBe(expected)
    expect(await expectedFor(newHost())).not.toBe(expected)

    const made = await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'second' })
    expect(made.status, made.text).toBe(201)
    const key: string = made.body.key
    expect(await expectedFor(host, key)).not.toBe(expected)
    publish(host, { TXT: [expected] })
    expect((await check(host)).body).toMatchObject({ authorized: true })
    expect((await check(host, key)).body).toMatchObject({ authorized: false, refusal: 'wrong_account' })
  })
})

type Case = [what: string, (expected: string) => DnsZone | [DnsZone, DnsZone], refusal: string | null]

const accountOf = (record: string, account: string) => record.replace(/acct=.*/, `acct=${account}`)
const LONG = Array.from({ length: 17 }, () => 'x'.repeat(255))
/** The header and question of the query with these flags, and so many answers announced. */
function answerTo(query: Buffer, flags: number, answers: number): Buffer {
  const bytes = Buffer.from(query.subarray(0, query.length - 11))
  bytes.writeUInt16BE(flags, 2)
  bytes.writeUInt16BE(answers, 6)
  bytes.writeUInt16BE(0, 10)
  return bytes
}
const cut: DnsZone['raw'] = (query) => [answerTo(query, 0x8380, 0)]
const garbage: DnsZone['raw'] = (query) => [
  Buffer.concat([answerTo(query, 0x8180, 3), Buffer.from('garbage')]),
]

describe('every fault of a zone', () => {
  it.each<Case>([
    ['absent', () => ({}), 'absent'],
    [
      'for the wrong gateway',
      (text) => ({ TXT: [text.replace(EDGE_NAME, 'gw.example.net')] }),
      'wrong_gateway',
    ],
    ['for the wrong account', (text) => ({ TXT: [accountOf(text, 'a'.repeat(26))] }), 'wrong_account'],
    ['expired', (text) => ({ TXT: [`${text}; until=1000000000`] }), 'expired'],
    ['there twice', (text) => ({ TXT: [text, `${text}; paths=/a`] }), 'several_records'],
    ['malformed', (text) => ({ TXT: [`${text}; path=/a`] }), 'malformed'],
    ['of a later version', (text) => ({ TXT: [text.replace('agw1', 'agw2')] }), 'unsupported_version'],
    ['not for POST', (text) => ({ TXT: [`${text}; methods=GET`] }), 'method_not_covered'],
    [
      'split into strings',
      (text) => ({ TXT: [[text.slice(0, 10), text.slice(10, 40), text.slice(40)]] }),
      null,
    ],
    ['too long for a datagram', (text) => ({ TXT: [text, ['x'.repeat(255), 'y'.repeat(255)]] }), null],
    ['cut over TCP too', () => ({ raw: cut }), 'answer_too_large'],
    ['larger than 4 KB', (text) => ({ TXT: [text, LONG] }), 'answer_too_large'],
    ['seen by one resolver only', (text) => [{ TXT: [text] }, {}], 'resolvers_disagree'],
    [
      'other on one resolver',
      (text) => [{ TXT: [text] }, { TXT: [`${text}; paths=/a`] }],
      'resolvers_disagree',
    ],
    ['SERVFAIL', () => ({ rcode: 2 }), 'resolver_failed'],
    ['SERVFAIL on one resolver', (text) => [{ TXT: [text] }, { rcode: 2 }], 'resolver_failed'],
    ['unanswered by one resolver', (text) => [{ TXT: [text] }, { silent: true }], 'resolver_failed'],
    ['garbage', () => ({ raw: garbage }), 'resolver_failed'],
    ['an alias of itself', () => ({ CNAME: '_agent-gateway.loop.example.net' }), 'alias_chain'],
    ['behind two aliases', () => ({ CNAME: 'two.example.net' }), 'alias_chain'],
    ['behind one alias', () => ({ CNAME: 'one.example.net' }), null],
  ])(
    'is named: %s',
    async (_what, zoneOf, refusal) => {
      const host = newHost()
      const expected = await expectedFor(host)
      for (const server of [world.dns, other]) {
        server.set('_agent-gateway.loop.example.net', { CNAME: '_agent-gateway.loop.example.net' })
        server.set('one.example.net', { TXT: [expected] })
        server.set('two.example.net', { CNAME: 'one.example.net' })
      }
      const zones = zoneOf(expected)
      if (Array.isArray(zones)) publish(host, ...zones)
      else publish(host, zones)
      const { body } = await check(host)
      expect(body).toMatchObject({ authorized: refusal === null, refusal })
      expect(body.detail).toMatch(/[A-Z].*\.$/)
    },
    20_000,
  )

  it('is shown without anything that moves a cursor', async () => {
    const host = newHost()
    publish(host, { TXT: ['\x1b[2Jgone\r\n'] })
    expect((await check(host)).body.found[0].records).toEqual(['\\027[2Jgone\\013\\010'])
  })

  it.each<[string, string, object]>([
    ['that leads to a private address', '10.0.0.1', { ok: false, reason: 'private' }],
    ['that leads to the metadata service', '169.254.169.254', { ok: false, reason: 'link_local' }],
  ])('is told apart from a host %s', async (_what, address, reachable) => {
    const host = newHost()
    publish(host, { TXT: [await expectedFor(host)] })
    for (const server of [world.dns, other]) server.set(host, { A: ['127.0.0.1', address] })
    const { body } = await check(host)
    expect(body).toMatchObject({ authorized: true, refusal: null, reachable })
    expect(body.detail).toContain('refused')
  })
})

describe('what is no host', () => {
  it.each<[string, number, string]>([
    ['shop.example.com:8444', 403, 'target_blocked'],
    ['shop.localhost', 403, 'target_blocked'],
    ['10.0.0.1', 400, 'input_invalid'],
    ['shop', 400, 'input_invalid'],
    ['Shop.example.com', 400, 'input_invalid'],
    ['shop.example.com.', 400, 'input_invalid'],
    ['shop.example.com/x', 400, 'input_invalid'],
    ['user@shop.example.com', 400, 'input_invalid'],
    ['b\u00fccher.example.com', 400, 'input_invalid'],
  ])('is refused: %s', async (host, status, code) => {
    const before = world.dns.queries.length
    expect((await check(host)).body).toMatchObject({ status, code })
    expect(world.dns.queries).toHaveLength(before)
  })
  it('is a public suffix', async () => {
    expect((await check('github.io')).body).toMatchObject({
      authorized: false,
      refusal: 'public_suffix',
      found: [],
    })
  })
  it('is asked about by nobody without a service key', async () => {
    expect((await check('shop.example.com', '')).status).toBe(401)
    const { capability } = await gateway.grant()
    expect((await check('shop.example.com', capability)).body.code).toBe('key_required')
  })
})

it('lets the sandbox serve its own sample site', async () => {
  expect((await check('sandbox.agent-gateway.test')).body).toMatchObject({
    authorized: true,
    reachable: { ok: true },
  })
})

it('keeps the token over a restart', async () => {
  const host = newHost()
  publish(host, { TXT: [await expectedFor(host)] })
  await gateway.close()
  gateway = await startTestGateway({ world })
  expect((await check(host)).body).toMatchObject({ authorized: true })
})

// Email verification as its callers see it, over a live gateway and a DNS server of the test's own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EmailVerification } from '../../schemas/email.ts'
import { emailVerify } from '../../tools/email-verify.ts'
import { emailVerifyBatch } from '../../tools/email-verify-batch.ts'
import { keysFree } from '../../tools/keys-free.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import type { DnsZone } from '../support/dns-server.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'

const PUBLIC = '93.184.216.34'
const ZONES: Readonly<Record<string, DnsZone | ((type: string) => DnsZone)>> = {
  'good.com': {
    MX: [
      [20, 'mx2.good.com'],
      [10, 'MX1.good.com'],
    ],
    ttl: 120,
  },
  'mx1.good.com': { A: [PUBLIC], ttl: 600 },
  'mx2.good.com': { A: [PUBLIC], ttl: 600 },
  'second-host.com': {
    MX: [
      [10, 'gone.second-host.com'],
      [20, 'mx1.good.com'],
    ],
    ttl: 120,
  },
  'only-a.com': { A: [PUBLIC], ttl: 120 },
  'only-aaaa.com': { AAAA: ['2606:2800:220:1::1'], ttl: 120 },
  'closed-a.com': { A: [PUBLIC], TXT: ['other', 'v=spf1 -all'], ttl: 120 },
  'sending-a.com': { A: [PUBLIC], TXT: ['v=spf1 a -all'], ttl: 120 },
  'spf-fails.com': (type) => (type === 'TXT' ? { rcode: 2 } : { A: [PUBLIC] }),
  'boxes.com': { MX: [[10, 'mail.mailinator.com']], ttl: 120 },
  'mail.mailinator.com': { A: [PUBLIC], ttl: 120 },
  'null-mx.com': { MX: [[0, '.']], A: [PUBLIC], ttl: 120 },
  'null-and-real.com': {
    MX: [
      [0, '.'],
      [10, 'mx1.good.com'],
    ],
    ttl: 120,
  },
  'no-route.com': { TXT: ['v=spf1 -all'] },
  'private-a.com': { A: ['10.1.2.3', '127.0.0.1'] },
  'loopback6.com': { AAAA: ['::1'] },
  'private-mx.com': { MX: [[10, 'mx.private-mx.com']] },
  'mx.private-mx.com': { A: ['192.168.0.9'], AAAA: ['fd00::1'] },
  'literal-mx.com': { MX: [[10, '127.0.0.1']] },
  'local-mx.com': {
    MX: [
      [10, 'localhost'],
      [20, 'mail.local'],
    ],
  },
  'dangling-mx.com': { MX: [[10, 'nowhere.dangling-mx.com']] },
  'servfail.com': { rcode: 2 },
  'refused.com': { rcode: 5 },
  'mx-host-fails.com': { MX: [[10, 'mx.mx-host-fails.com']] },
  'mx.mx-host-fails.com': { rcode: 2 },
  'a-fails.com': { rcode: 2, types: ['A', 'AAAA'] },
  'silent.com': { silent: true },
  'alias.com': { CNAME: 'good.com', ttl: 120 },
  'big.com': { MX: Array.from({ length: 40 }, (_, i) => [i, `mx1.good.com`] as const), ttl: 120 },
  'yahooo.com': { MX: [[10, 'mx1.good.com']], ttl: 120 },
  'hotmai.com': { MX: [[10, 'mx1.good.com']], ttl: 120 },
  'nate.com': { MX: [[10, 'mx1.good.com']], ttl: 120 },
  'mailinator.com': { MX: [[10, 'mx1.good.com']], ttl: 120 },
  'xn--bcher-kva.com': { MX: [[10, 'mx1.good.com']], ttl: 120 },
}

interface Case {
  readonly address: string
  readonly decision: EmailVerification['decision']
  readonly reasons: readonly string[]
}
const CASES: readonly Case[] = [
  { address: 'ada@good.com', decision: 'accept', reasons: [] },
  { address: 'ada@GOOD.com', decision: 'accept', reasons: [] },
  { address: 'ada@alias.com', decision: 'accept', reasons: [] },
  { address: 'ada@big.com', decision: 'accept', reasons: [] },
  { address: 'ada@second-host.com', decision: 'accept', reasons: [] },
  { address: 'ada@null-and-real.com', decision: 'accept', reasons: [] },
  { address: 'ada+list@good.com', decision: 'accept', reasons: ['subaddress'] },
  { address: 'ada@b\u00fccher.com', decision: 'accept', reasons: [] },
  { address: 'ada@only-a.com', decision: 'accept', reasons: ['implicit_mx'] },
  { address: 'ada@only-aaaa.com', decision: 'accept', reasons: ['implicit_mx'] },
  { address: 'ada@closed-a.com', decision: 'review', reasons: ['sends_no_mail', 'implicit_mx'] },
  { address: 'ada@sending-a.com', decision: 'accept', reasons: ['implicit_mx'] },
  { address: 'ada@spf-fails.com', decision: 'accept', reasons: ['implicit_mx'] },
  { address: 'ada@boxes.com', decision: 'review', reasons: ['throwaway_route'] },
  { address: 'postmaster@good.com', decision: 'review', reasons: ['role_address'] },
  { address: 'ada@yahooo.com', decision: 'review', reasons: ['typo'] },
  { address: 'Ada <ada@good.com>', decision: 'accept', reasons: ['display_name'] },
  { address: '"bank.com" <ada@good.com>', decision: 'review', reasons: ['misleading_name', 'display_name'] },
  { address: 'ada\u200b@good.com', decision: 'review', reasons: ['unusual_character'] },
  { address: 'ada\u0085@mailinator.com', decision: 'reject', reasons: ['disposable', 'unusual_character'] },
  { address: '"ada lovelace"@good.com', decision: 'review', reasons: ['quoted_local_part'] },
  { address: 'ada@[93.184.216.34]', decision: 'review', reasons: ['address_literal'] },
  { address: 'ada@servfail.com', decision: 'review', reasons: ['dns_failure'] },
  { address: 'ada@refused.com', decision: 'review', reasons: ['dns_failure'] },
  { address: 'ada@mx-host-fails.com', decision: 'review', reasons: ['dns_failure'] },
  { address: 'ada@a-fails.com', decision: 'review', reasons: ['dns_failure'] },
  { address: 'ada@silent.com', decision: 'review', reasons: ['dns_timeout'] },
  // A slip that a list of disposable domains caught is asked about first.
  { address: 'ada@hotmai.com', decision: 'review', reasons: ['probably_disposable', 'typo'] },
  { address: 'ada@gmial.com', decision: 'review', reasons: ['probably_disposable', 'typo'] },
  { address: '<ada@good.com>', decision: 'review', reasons: ['angle_brackets', 'display_name'] },
  { address: 'аda@good.com', decision: 'review', reasons: ['confusable'] },
  { address: 'ada@example.com', decision: 'accept', reasons: ['sandbox_domain'] },
  { address: 'ada@nate.com', decision: 'accept', reasons: [] },
  { address: 'ada@not-there.com', decision: 'reject', reasons: ['domain_not_found'] },
  { address: 'ada@null-mx.com', decision: 'reject', reasons: ['null_mx'] },
  { address: 'ada@no-route.com', decision: 'reject', reasons: ['no_mail_route'] },
  { address: 'ada@private-a.com', decision: 'reject', reasons: ['unreachable_route'] },
  { address: 'ada@loopback6.com', decision: 'reject', reasons: ['unreachable_route'] },
  { address: 'ada@private-mx.com', decision: 'reject', reasons: ['unreachable_route'] },
  { address: 'ada@literal-mx.com', decision: 'reject', reasons: ['unreachable_route'] },
  { address: 'ada@local-mx.com', decision: 'reject', reasons: ['unreachable_route'] },
  { address: 'ada@dangling-mx.com', decision: 'reject', reasons: ['unreachable_route'] },
  { address: 'ada@[127.0.0.1]', decision: 'reject', reasons: ['unreachable_route', 'address_literal'] },
  { address: 'ada@mailinator.com', decision: 'reject', reasons: ['disposable'] },
  { address: 'ada@box.mailinator.com', decision: 'reject', reasons: ['disposable'] },
  { address: 'ada..lovelace@good.com', decision: 'reject', reasons: ['syntax'] },
  { address: 'Ada <ada@good.com>, Bob <bob@good.com>', decision: 'reject', reasons: ['domain_invalid'] },
  { address: 'Ada <ada@null-mx.com>', decision: 'reject', reasons: ['null_mx', 'display_name'] },
  { address: 'ada(comment)@good.com', decision: 'reject', reasons: ['syntax'] },
  { address: 'ada@good.com\r\nBcc: eve@good.com', decision: 'reject', reasons: ['domain_invalid'] },
  { address: 'ada\u0000@good.com', decision: 'reject', reasons: ['syntax'] },
  { address: `${'a'.repeat(10_240)}@good.com`, decision: 'reject', reasons: ['syntax'] },
  { address: 'ada@xn--a.com', decision: 'reject', reasons: ['domain_invalid'] },
  { address: '', decision: 'reject', reasons: ['syntax'] },
]

let gateway: TestGateway
let key: string
const verify = async (email: string, token = key): Promise<EmailVerification> => {
  const { status, body } = await gateway.rest('POST', '/v1/verify', { email }, token)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)

beforeAll(async () => {
  gateway = await startTestGateway({
    env: { GATEWAY_EMAIL_DAILY_QUOTA: '2000' },
    // The DNS server is in this process, and sixty names are asked for at once: what it answers arrives, if late.
    times: { mail: { callMs: 30_000, nameMs: 30_000, spfMs: 30_000, attemptMs: 2_500 } },
  })
  for (const [name, zone] of Object.entries(ZONES)) gateway.dns.set(name, zone)
  const made = await gateway.rest('POST', '/v1/keys/free', {}, '')
  expect(made.status).toBe(201)
  key = made.body.key
})
afterAll(() => gateway?.close())

describe('every decision', () => {
  it('is reached over REST, for each address of a batch by itself and in the order of the input', async () => {
    const emails = CASES.map(({ address }) => address)
    const { status, body } = await gateway.rest('POST', '/v1/verify/batch', { emails }, key)
    expect(status).toBe(200)
    expect(body.results).toHaveLength(CASES.length)
    for (const [i, { address, decision, reasons }] of CASES.entries()) {
      const result: EmailVerification = body.results[i]
      expect({ address, decision: result.decision, reasons: result.reasons }).toEqual({
        address,
        decision,
        reasons,
      })
      expect(emailVerify.output.safeParse(result).success).toBe(true)
      expect(result.mailbox).toBe('unknown')
    }
  })

  it.each(['rest', 'mcp', 'a2a'] as const)('is the same over %s, one by one and as a batch', async (door) => {
    const some = CASES.filter(({ address }) => !/silent|^.{300}/.test(address))
    const batch = await throughDoor[door](
      send,
      emailVerifyBatch,
      { emails: some.map((each) => each.address) },
      key,
    )
    const { results } = batch.output as { results: EmailVerification[] }
    expect(results.map(({ decision, reasons }) => ({ decision, reasons }))).toEqual(
      some.map(({ decision, reasons }) => ({ decision, reasons })),
    )
    for (const { address, decision, reasons } of some) {
      const one = await throughDoor[door](send, emailVerify, { email: address }, key)
      expect(one.code, address).toBe('ok')
      expect(one.output, address).toMatchObject({ decision, reasons })
    }
  })
})

describe('an answer', () => {
  it('has the hosts in the order of their priority, the normalised form, and the time it may be kept', async () => {
    const answer = await verify('Ada@GOOD.com')
    expect(answer).toMatchObject({
      email: 'Ada@GOOD.com',
      normalized: 'Ada@good.com',
      did_you_mean: null,
      checks: {
        mx: {
          result: 'pass',
          hosts: [
            { host: 'mx1.good.com', priority: 10 },
            { host: 'mx2.good.com', priority: 20 },
          ],
        },
      },
    })
    expect(answer.cache_ttl_seconds).toBeGreaterThan(60)
    expect(answer.cache_ttl_seconds).toBeLessThanOrEqual(120)
  })
  it('says what was meant, and changes nothing by itself', async () => {
    expect(await verify('ada@yahooo.com')).toMatchObject({
      normalized: 'ada@yahooo.com',
      did_you_mean: 'ada@yahoo.com',
    })
  })
  it('is not to be kept while DNS is in doubt, and changes with it', async () => {
    gateway.dns.set('recovers.com', (_type, before) =>
      before < 2 ? { rcode: 2 } : { MX: [[10, 'mx1.good.com']], ttl: 60 },
    )
    expect(await verify('ada@recovers.com')).toMatchObject({ decision: 'review', cache_ttl_seconds: 0 })
    expect(await verify('ada@recovers.com')).toMatchObject({ decision: 'accept' })
  })
  it('takes one lost answer for no answer: there is a second attempt', async () => {
    gateway.dns.set('lossy.com', (_type, before) =>
      before === 0 ? { silent: true } : { MX: [[10, 'mx1.good.com']], ttl: 60 },
    )
    expect(await verify('ada@lossy.com')).toMatchObject({ decision: 'accept' })
  })
  it('believes neither what was not asked nor records of a name that does not exist', async () => {
    const forged = (query: Buffer) => {
      const other = Buffer.from(query)
      other.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0)
      other.writeUInt16BE(0x8183, 2)
      return [other]
    }
    gateway.dns.set('forged.com', { raw: forged })
    gateway.dns.set('garbage.com', {
      raw: (query) => [
        Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, 0x80]), query.subarray(4, -11)]),
      ],
    })
    const answers = await Promise.all([verify('ada@forged.com'), verify('ada@garbage.com')])
    expect(answers).toMatchObject([{ decision: 'review', reasons: ['dns_timeout'] }, { decision: 'review' }])
  })
  it('comes from one question per name, however many want it at once, and then from memory', async () => {
    gateway.dns.set('popular.com', { MX: [[10, 'mx1.good.com']], ttl: 60 })
    const asked = () => gateway.dns.queries.filter(({ name }) => name === 'popular.com').length
    const emails = Array.from({ length: 50 }, (_, i) => `user${i}@popular.com`)
    await Promise.all([
      gateway.rest('POST', '/v1/verify/batch', { emails }, key),
      gateway.rest('POST', '/v1/verify/batch', { emails }, key),
    ])
    await verify('another@popular.com')
    expect(asked()).toBe(1)
  })
  it('asks nothing about an address that is refused by its spelling or its list', async () => {
    const before = gateway.dns.queries.length
    await verify('ada..x@asked-for-nothing.com')
    await verify('ada@mailinator.com')
    expect(gateway.dns.queries.length).toBe(before)
  })
})

describe('bad requests', () => {
  it.each<[string, string, unknown, string]>([
    ['no address', '/v1/verify', {}, 'input_missing_field'],
    ['a number', '/v1/verify', { email: 7 }, 'input_wrong_type'],
    ['a list', '/v1/verify', { email: ['ada@good.com'] }, 'input_wrong_type'],
    [
      'something else beside it',
      '/v1/verify',
      { email: 'ada@good.com', force: true },
      'input_unknown_property',
    ],
    ['no batch', '/v1/verify/batch', {}, 'input_missing_field'],
    ['an empty batch', '/v1/verify/batch', { emails: [] }, 'input_invalid'],
    ['101 addresses', '/v1/verify/batch', { emails: Array(101).fill('ada@good.com') }, 'input_invalid'],
    ['no text', '/v1/verify', { email: null }, 'input_wrong_type'],
    ['no list', '/v1/verify/batch', { emails: 'ada@good.com' }, 'input_wrong_type'],
  ])('are refused: %s', async (_what, path, body, code) => {
    const answer = await gateway.rest('POST', path, body, key)
    expect([answer.status, answer.body.code]).toEqual([400, code])
  })
  it.each(['rest', 'mcp', 'a2a'] as const)(
    'get an answer each over %s, however long one is',
    async (door) => {
      const emails = ['ada@good.com', 'x'.repeat(60_000), `ada@${'good.'.repeat(10_000)}com`, 'ada@good.com']
      const { output } = await throughDoor[door](send, emailVerifyBatch, { emails }, key)
      const { results } = output as { results: EmailVerification[] }
      expect(results.map(({ decision }) => decision)).toEqual(['accept', 'reject', 'reject', 'accept'])
    },
  )
  it.each(['rest', 'mcp', 'a2a'] as const)(
    'get an answer each over %s, where one is no text: it spoils nothing but itself',
    async (door) => {
      const emails: unknown[] = [
        'ada@good.com',
        null,
        42,
        { email: 'ada@good.com' },
        ['x'],
        false,
        'eve@good.com',
      ]
      const { output } = await throughDoor[door](send, emailVerifyBatch, { emails }, key)
      const { results } = output as { results: EmailVerification[] }
      expect(results.map(({ email, decision, checks }) => [email, decision, checks.syntax.rule])).toEqual([
        ['ada@good.com', 'accept', null],
        ['null', 'reject', 'not_a_string'],
        ['42', 'reject', 'not_a_string'],
        ['[object]', 'reject', 'not_a_string'],
        ['[array]', 'reject', 'not_a_string'],
        ['false', 'reject', 'not_a_string'],
        ['eve@good.com', 'accept', null],
      ])
    },
  )
  it('with a hundred times the same address get a hundred times the same answer', async () => {
    const emails = Array(100).fill('ada@good.com')
    const { body } = await gateway.rest('POST', '/v1/verify/batch', { emails }, key)
    expect(new Set(body.results.map((result: unknown) => JSON.stringify(result))).size).toBe(1)
    expect(body.results).toHaveLength(100)
  })
  it.each<[string, string, string]>([
    ['no key', '', 'key_required'],
    ['a key that is none', 'agw_ek_x', 'key_invalid'],
    ['another word', 'hello', 'key_required'],
  ])('with %s get 401', async (_what, token, code) => {
    const answer = await gateway.rest('POST', '/v1/verify', { email: 'ada@good.com' }, token)
    expect([answer.status, answer.body.code]).toEqual([401, code])
    // Whoever has no account is not sent to look for the key of one.
    expect(answer.body.title).not.toContain('service key')
    expect(answer.body.detail).toContain('email key')
  })
  it('take a service key too, which has no day', async () => {
    const answer = await gateway.rest('POST', '/v1/verify', { email: 'ada@good.com' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ratelimit')).toBeNull()
  })
  it('of other tools take no email key, and say which key they want', async () => {
    const answer = await gateway.rest('GET', '/v1/credits', undefined, key)
    expect([answer.status, answer.body.code]).toEqual([401, 'key_required'])
    expect(answer.body.detail).toContain('email verification only')
    expect((await gateway.rest('POST', '/v1/execute', { intent: 'demo' }, key)).status).toBe(200)
  })
})

describe('an agent alone', () => {
  const DOORS = ['rest', 'mcp', 'a2a'] as const
  const through = (door: (typeof DOORS)[number], tool: AnyTool, input: Record<string, unknown>, token = '') =>
    throughDoor[door](send, tool, input, token)

  it.each(DOORS)(
    'gets a key over %s and verifies with it, as a member of the input where it can set no header',
    async (door) => {
      const made = await through(door, keysFree, {})
      expect(made.code).toBe('ok')
      const { key: email_key } = made.output as { key: string }
      const one = await through(door, emailVerify, { email: 'ada@good.com', email_key })
      expect(one.output).toMatchObject({ decision: 'accept' })
      const many = await through(door, emailVerifyBatch, { emails: ['ada@null-mx.com'], email_key })
      expect(many.output).toMatchObject({ results: [{ decision: 'reject' }] })
      expect(gateway.log()).not.toContain(email_key)
    },
  )

  it.each(DOORS)(
    'is refused over %s with a key that is none, and with a key of another kind',
    async (door) => {
      const refused = async (email_key: unknown, token?: string) =>
        (await through(door, emailVerify, { email: 'ada@good.com', email_key }, token)).code
      expect(await refused(`${key}x`)).toBe('key_invalid')
      expect(await refused(gateway.operatorKey)).toBe('key_invalid')
      expect(await refused(7)).toBe('key_required')
      // The argument was written for this call; what the connection has is for all of them.
      expect(await refused(`${key}x`, key)).toBe('key_invalid')
      expect(await refused(key, `${key}x`)).toBe('ok')
    },
  )
})

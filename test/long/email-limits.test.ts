// What a free key may do in a day, how many of them one network gets, what a verifier of mailboxes adds, and that nothing
// of what is verified is left behind.
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashToken } from '../../src/lib/tokens.ts'
import { emailVerify } from '../../tools/email-verify.ts'
import { emailVerifyBatch } from '../../tools/email-verify-batch.ts'
import {
  createWorld,
  ENGINES,
  type RestAnswer,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { throughDoor } from '../support/three-doors.ts'

const PUBLIC = '93.184.216.34'
const open: { close(): Promise<void> }[] = []
beforeEach(() => awayFromMidnight())
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

async function start(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(options)
  open.push(gateway)
  gateway.dns.set('good.com', { MX: [[10, 'mx.good.com']], ttl: 60 })
  gateway.dns.set('mx.good.com', { A: [PUBLIC], ttl: 60 })
  return gateway
}
/** What is said of an address once its domain was found: what DNS did not answer in time is asked again. */
async function known<T extends { readonly reasons: readonly string[] }>(
  verify: () => Promise<T>,
): Promise<T> {
  const said: T[] = []
  const late = async () => {
    const answer = await verify()
    said.unshift(answer)
    return answer.reasons.filter((reason) => /^dns_(?:failure|timeout)$/.test(reason))
  }
  await expect.poll(late).toEqual([])
  return said[0]!
}
const freeKey = async (gateway: TestGateway): Promise<string> =>
  (await gateway.rest('POST', '/v1/keys/free', {}, '')).body.key
const batch = (gateway: TestGateway, key: string, count: number): Promise<RestAnswer> =>
  gateway.rest('POST', '/v1/verify/batch', { emails: Array(count).fill('ada@good.com') }, key)

describe.each(ENGINES)('the day of a key on %s', (engine) => {
  it('is counted by address, said in every answer, and over when it is over', async () => {
    const gateway = await start({ engine, env: { GATEWAY_EMAIL_DAILY_QUOTA: '20' } })
    const key = await freeKey(gateway)
    const first = await batch(gateway, key, 12)
    expect(first.status).toBe(200)
    expect(first.headers.get('ratelimit-policy')).toBe('"daily";q=20;w=86400')
    expect(first.headers.get('ratelimit')).toMatch(/^"daily";r=8;t=\d+$/)

    const refused = await batch(gateway, key, 9)
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(refused.body).toMatchObject({ limit: 20, remaining: 8 })
    expect(refused.headers.get('ratelimit')).toMatch(/^"daily";r=8;/)
    expect(refused.body.retry_after_seconds).toBeLessThanOrEqual(86_400)
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.retry_after_seconds))

    expect((await batch(gateway, key, 8)).status).toBe(200)
    const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
    for (const door of ['rest', 'mcp', 'a2a'] as const)
      expect((await throughDoor[door](send, emailVerify, { email: 'ada@good.com' }, key)).code).toBe(
        'rate_limited',
      )
    expect((await batch(gateway, await freeKey(gateway), 20)).status).toBe(200)
  })

  it('goes on after a restart where it was', async () => {
    const world = await createWorld({ engine, env: { GATEWAY_EMAIL_DAILY_QUOTA: '20' } })
    open.push(world)
    const before = await startTestGateway({ world })
    const key = await freeKey(before)
    await batch(before, key, 5)
    await before.close()
    const after = await start({ world })
    expect((await batch(after, key, 1)).headers.get('ratelimit')).toMatch(/^"daily";r=14;/)
  })
})

describe('limits', () => {
  it('stand beside each other in the head of an answer', async () => {
    const gateway = await start({ env: { GATEWAY_RATE_LIMIT: '' } })
    const answer = await batch(gateway, await freeKey(gateway), 3)
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=3000;w=60, "daily";q=1000;w=86400')
    expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=2999;t=\d+, "daily";r=997;t=\d+$/)
  })
  it('let one network have five keys an hour', async () => {
    const now = () => Date.parse('2026-11-21T13:20:00.000Z')
    const gateway = await start({ env: { GATEWAY_RATE_LIMIT: '' }, now })
    const made = () => gateway.rest('POST', '/v1/keys/free', {}, '')
    for (let i = 0; i < 5; i++) expect((await made()).status).toBe(201)
    const refused = await made()
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(refused.headers.get('retry-after')).toBe('2400')
  })
  it('of the day are off where the operator says 0', async () => {
    const gateway = await start({ env: { GATEWAY_EMAIL_DAILY_QUOTA: '0' } })
    const made = await gateway.rest('POST', '/v1/keys/free', {}, '')
    expect(made.body.daily_quota).toBeNull()
    expect((await batch(gateway, made.body.key, 100)).headers.get('ratelimit')).toBeNull()
  })
})

describe('a source of registrations', () => {
  it('is asked over https for the domain alone, and makes a new one a review', async () => {
    const world = await createWorld()
    open.push(world)
    const env = { ...world.env, GATEWAY_EMAIL_DOMAIN_AGE: world.url('/rdap') }
    const clock = { now: Date.now() }
    const gateway = await start({ world: { ...world, env }, now: () => clock.now })
    const yesterday = new Date(clock.now - 86_400_000).toISOString()
    const events = [{ eventAction: 'registration', eventDate: yesterday }]
    world.upstream.respond((_request, res) => void res.writeHead(200).end(JSON.stringify({ events })))
    const verify = async () => {
      // That a source did not answer within a second is remembered for a minute.
      clock.now += 61_000
      return (await gateway.rest('POST', '/v1/verify', { email: 'Ada.Lovelace@good.com' })).body
    }
    await expect.poll(verify).toMatchObject({
      decision: 'review',
      reasons: ['new_domain'],
      checks: { domain: { registered_on: yesterday.slice(0, 10) } },
    })
    const [request] = world.upstream.requests
    expect([request!.method, request!.target]).toEqual(['GET', '/rdap/domain/good.com'])
    expect(JSON.stringify(request!.headers)).not.toMatch(/lovelace/i)
  })
})

describe('a verifier of mailboxes', () => {
  async function startWithVerifier() {
    const world = await createWorld()
    open.push(world)
    const env = { ...world.env, GATEWAY_EMAIL_VERIFIER_URL: world.url('/mailbox?token=t') }
    const gateway = await start({ world: { ...world, env } })
    const verify = async (email: string) => (await gateway.rest('POST', '/v1/verify', { email })).body
    const answer = (status: number, text: string) =>
      world.upstream.respond((_request, res) => void res.writeHead(status).end(text))
    return { world, verify, answer }
  }
  it('is asked by POST with the address, and decides where it knows', async () => {
    const { world, verify, answer } = await startWithVerifier()
    answer(200, '{"result":"undeliverable"}')
    // Who does not answer in time knows nothing, and is asked again.
    await expect
      .poll(() => verify('Ada@good.com'))
      .toMatchObject({
        mailbox: 'undeliverable',
        reasons: ['mailbox_undeliverable'],
      })
    const [request] = world.upstream.requests
    expect([request!.method, request!.target]).toEqual(['POST', '/mailbox?token=t'])
    expect(JSON.parse(request!.body.toString())).toEqual({ email: 'Ada@good.com' })
    answer(200, '{"result":"deliverable"}')
    await expect
      .poll(() => verify('ada@good.com'))
      .toMatchObject({ mailbox: 'deliverable', decision: 'accept' })
  })
  it('is not asked about what is rejected anyway', async () => {
    const { world, verify } = await startWithVerifier()
    expect(await verify('ada..x@good.com')).toMatchObject({ decision: 'reject' })
    expect(world.upstream.requests).toEqual([])
    let asked = 0
    const reject = async () => {
      asked = world.upstream.requests.length
      return (await verify('ada@not-there.com')).decision
    }
    await expect.poll(reject).toBe('reject')
    expect(world.upstream.requests.length).toBe(asked)
  })
  it.each<[string, number, string]>([
    ['fails', 500, '{"result":"undeliverable"}'],
    ['redirects', 302, ''],
    ['says nothing', 200, ''],
    ['says something else', 200, '{"result":"no"}'],
    ['says what is no object', 200, '"undeliverable"'],
    ['says too much', 200, `{"result":"undeliverable","x":"${'x'.repeat(20_000)}"}`],
  ])('that %s knows nothing', async (_what, status, text) => {
    const { verify, answer } = await startWithVerifier()
    answer(status, text)
    expect(await known(() => verify('ada@good.com'))).toMatchObject({
      mailbox: 'unknown',
      decision: 'accept',
    })
  })
  it('that does not answer holds nobody up for longer than two seconds', async () => {
    const { world, verify } = await startWithVerifier()
    world.upstream.respond(() => {})
    expect(await known(() => verify('ada@good.com'))).toMatchObject({
      mailbox: 'unknown',
      decision: 'accept',
    })
  })
})

/** Every row of every table, as text; bytes as hexadecimal digits. */
async function readTables(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    )
    const texts: string[] = []
    for (const { name } of tables)
      for (const { row } of (await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`))
        .rows)
        texts.push(row)
    return texts.join('\n')
  } finally {
    await client.end()
  }
}

describe.each(ENGINES)('what is verified (%s)', (engine) => {
  it('is in no log line, no row, no task and no file, however it was sent', async () => {
    const person = `canary${randomBytes(8).toString('hex')}`
    const domain = `canary${randomBytes(8).toString('hex')}.com`
    const gateway = await start({ engine, env: { GATEWAY_LOG_LEVEL: 'trace' } })
    gateway.dns.set(domain, { MX: [[10, 'mx.good.com']], ttl: 60 })
    const key = await freeKey(gateway)
    const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
    const email = `${person}@${domain}`
    for (const door of ['rest', 'mcp', 'a2a'] as const) {
      const one = await known(async () => {
        const { output } = await throughDoor[door](send, emailVerify, { email }, key)
        return output as { reasons: readonly string[] }
      })
      expect(one).toMatchObject({ email, decision: 'accept' })
      await throughDoor[door](send, emailVerify, { email: `${email}\r\n..` }, key)
      await throughDoor[door](send, emailVerify, { email }, '')
      await throughDoor[door](send, emailVerify, { email, [email]: email }, key)
      await throughDoor[door](
        send,
        emailVerifyBatch,
        { emails: [email, `x${email}`, email.repeat(200)] },
        key,
      )
      await throughDoor[door](send, emailVerifyBatch, { emails: Array(101).fill(email) }, key)
    }
    // Words in place of a skill, in a message of A2A.
    await fetch(`${gateway.baseUrl}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: `is ${email} real?` }] } },
      }),
    })
    const files = await readdir(gateway.env['GATEWAY_DATA_DIR']!, { recursive: true, withFileTypes: true })
    const stored = Buffer.concat(
      await Promise.all(
        files.filter((each) => each.isFile()).map((each) => readFile(join(each.parentPath, each.name))),
      ),
    )
    const url = gateway.env['GATEWAY_DATABASE_URL']
    const rows = url === undefined ? stored.toString('latin1') : await readTables(url)
    // The key itself is there as a digest only.
    expect(
      url === undefined ? stored.includes(hashToken(key)) : rows.includes(hashToken(key).toString('hex')),
    ).toBe(true)
    for (const secret of [person, domain, key]) {
      for (const form of [
        secret,
        Buffer.from(secret).toString('hex'),
        Buffer.from(secret).toString('base64'),
      ]) {
        expect(rows).not.toContain(form)
        expect(stored.includes(form)).toBe(false)
      }
      expect(gateway.log()).not.toContain(secret)
    }
    expect(gateway.log()).toContain('gateway.email.verify')
  })
})

// POST /v1/inspect as callers meet it: three doors, whose policy, what is refused, and what is left behind (nothing).
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { InspectResult } from '../../schemas/commerce.ts'
import { REASONS } from '../../src/commerce/policy/reasons.ts'
import { inspectTransaction } from '../../tools/inspect.ts'
import { SAMPLES } from '../data/commerce/samples.ts'
import { TOKENS } from '../data/commerce/tokens.ts'
import { change, type Plain, type SampleSource, wire } from '../support/commerce.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'

const DOORS = ['rest', 'mcp', 'a2a'] as const
const PATH = '/v1/inspect'

let gateway: TestGateway
let nowMs = 1_790_000_030_000
beforeAll(async () => {
  gateway = await startTestGateway({ now: () => nowMs })
})
afterAll(() => gateway?.close())
beforeEach(() => {
  // Past what the reader of the policy remembers.
  nowMs += 1000
})

const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
const post = (body: unknown, token = '') => gateway.rest('POST', PATH, body, token)
const through = (door: (typeof DOORS)[number], input: unknown) =>
  throughDoor[door](send, inspectTransaction as never, input, gateway.operatorKey)

describe('an inspection', () => {
  it.each(['x402-http', 'mpp-post', 'ap2-payment', 'ucp-complete', 'acp-delegate', 'mcp-2026'])(
    'of %s is the same through every door, and free',
    async (name) => {
      const sample = wire(SAMPLES[name]!)
      const before = await gateway.balance()
      const results = []
      for (const door of DOORS) results.push(InspectResult.parse((await through(door, sample)).output))
      expect(results[0]!.protocol).toBe(name.split('-')[0])
      expect(results[0]!.forwarded).toBe(false)
      expect(results[1]).toEqual(results[0])
      expect(results[2]).toEqual(results[0])
      expect(await gateway.balance()).toBe(before)
    },
  )

  it('needs no key; a wrong one is told', async () => {
    expect((await post({ target: 'https://shop.example/' })).status).toBe(200)
    expect((await post({ target: 'https://shop.example/' }, 'agw_sk_wrong')).status).toBe(401)
  })

  it('asks no name server about any name it is given', async () => {
    for (const target of ['https://api.example.com/checkout-sessions', 'https://never-asked.example.net/mcp'])
      await post({
        target,
        method: 'POST',
        headers: { 'UCP-Agent': 'profile="https://profile.example.org/ucp"', Host: 'host.example.org' },
        body: { resource: 'https://other.example.org/' },
      })
    const asked = gateway.dns.queries.map(({ name }) => name)
    expect(
      asked.filter((name) => /never-asked|profile\.example|other\.example|host\.example/.test(name)),
    ).toEqual([])
    expect(gateway.upstream.requests).toEqual([])
  })

  it('is given for what cannot be read: a finding, never a failure', async () => {
    const headers: Record<string, Plain>[] = [
      { 'PAYMENT-SIGNATURE': '%%%' },
      { 'PAYMENT-SIGNATURE': Buffer.from('['.repeat(10_000)).toString('base64') },
      { 'PAYMENT-SIGNATURE': ['AAAA', 'BBBB'], 'X-PAYMENT': 'AAAA' },
      { Authorization: ['Payment e30', 'Payment e30'] },
      { __proto__x: 'a', constructor: 'b', 'UCP-Agent': '\u0000\ud800' },
      { 'Signature-Input': 'sig1=(((((', Signature: ':::', 'Content-Digest': '=' },
      { 'X-Long': 'a'.repeat(20_000) },
    ]
    for (const one of headers) {
      const { status, body } = await post({ target: 'https://shop.example/x', headers: one, body: '{' })
      expect([status, body.policy.decision], JSON.stringify(one).slice(0, 80)).toEqual([200, 'deny'])
    }
    const bodies = [
      'x'.repeat(256 * 1024),
      `${'['.repeat(10_000)}1`,
      '"\ud800"',
      '{"__proto__":{"x402Version":2}}',
      '\u0000',
    ]
    for (const body of bodies)
      expect((await post({ target: 'https://shop.example/x', body })).status).toBe(200)
    for (const target of [
      'x',
      '//',
      'https://',
      'https://[',
      'javascript:alert(1)',
      'https://user@',
      '\u0000',
    ])
      expect((await post({ target })).body.policy.decision, target).toBe('deny')
  })

  it.each<[string, unknown, string]>([
    ['no target', {}, '/target'],
    ['a header that is a number', { target: 'https://a.example', headers: { a: 1 } }, '/headers/a'],
    ['a method with a space', { target: 'https://a.example', method: 'GET /' }, '/method'],
    ['a member that is unknown', { target: 'https://a.example', url: '' }, '/url'],
  ])('refuses %s with 400, and says where', async (_what, body, pointer) => {
    const answer = await post(body)
    expect(answer.status).toBe(400)
    expect(answer.body.fields.map((field: { pointer: string }) => field.pointer)).toContain(pointer)
  })

  it('can only give reasons that the schema lists', async () => {
    const { body } = await gateway.rest('GET', '/v1/test/schema', undefined, '')
    expect(body.policy_reasons.map(({ code }: { code: string }) => code)).toEqual(Object.keys(REASONS))
  })
})

describe('whose policy', () => {
  const file = () => join(gateway.dataDir, 'data', 'transaction-policy.json')
  const edit = async (document: unknown) => {
    await writeFile(file(), typeof document === 'string' ? document : JSON.stringify(document))
    nowMs += 1000
  }
  const sample = () => wire(SAMPLES['x402-http']!)
  const caps = (max: string) => ({
    caps: [{ asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', network: 'eip155:84532', max }],
  })

  it('is the default without a key, and that of the account with one of its keys or capabilities', async () => {
    const made = await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'team' })
    const [theirs, account] = [made.body.key as string, made.body.account_id as string]
    expect(account).toMatch(/^acct_/)
    await edit({ default: caps('24999'), accounts: { [account]: caps('25000') } })
    expect((await post(sample())).body.policy).toMatchObject({ decision: 'deny', policy_source: 'default' })
    expect((await post(sample(), gateway.operatorKey)).body.policy).toMatchObject({
      decision: 'deny',
      policy_source: 'default',
    })
    expect((await post(sample(), theirs)).body.policy).toEqual(
      expect.objectContaining({ decision: 'allow', policy_source: 'account', reasons: [] }),
    )
  })

  it('stays as it was when a hand edit breaks it, and the log says so', async () => {
    await edit({ default: { halted: true } })
    expect((await post(sample())).body.policy.reasons[0].code).toBe('HALTED')
    await edit('{"default": {"halted": fal')
    expect((await post(sample())).body.policy.reasons[0].code).toBe('HALTED')
    expect(gateway.log()).toContain('transaction-policy.json is not valid')
    await edit({})
    expect((await post(sample())).body.policy.decision).toBe('review')
  })
})

describe('what is counted', () => {
  const ASSET = { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', network: 'eip155:84532' }
  const edit = async (rules: unknown) => {
    const file = join(gateway.dataDir, 'data', 'transaction-policy.json')
    await writeFile(file, JSON.stringify({ default: rules }))
    nowMs += 1000
  }
  const count = (source: SampleSource) => ({ ...wire(source), count: true })

  it('counts for the account of the key, through every door, and once', async () => {
    await edit({
      caps: [{ ...ASSET, max: '25000' }],
      spend_windows: [{ ...ASSET, period: 'hour', max: '25000' }],
    })
    const paid = SAMPLES['x402-http']!
    const results = []
    for (const door of DOORS) results.push(InspectResult.parse((await through(door, count(paid))).output))
    expect(results.map(({ spend }) => [spend!.status, spend!.windows[0]!.spent])).toEqual([
      ['counted', '25000'],
      ['already_counted', '25000'],
      ['already_counted', '25000'],
    ])
    const other = change(SAMPLES['x402-get']!, [
      {
        op: 'set',
        at: '/headers/PAYMENT-SIGNATURE/$base64/payload/authorization/nonce',
        value: `0x${'b7'.repeat(32)}`,
      },
    ])
    for (const door of DOORS) {
      const { policy, spend } = InspectResult.parse((await through(door, count(other))).output)
      expect(policy.reasons.map(({ code }) => code)).toContain('SPEND_OVER_CAP')
      expect(spend).toMatchObject({ status: 'denied', windows: [{ spent: '25000', left: '0' }] })
    }
    // Nobody's windows, nobody's payments.
    const { body } = await post(wire(other))
    expect([body.spend, body.policy.decision]).toEqual([null, 'allow'])
  })

  it('needs a key, and a role that pays', async () => {
    const sample = count(SAMPLES['x402-http']!)
    const anonymous = await post(sample)
    expect([anonymous.status, anonymous.body.code]).toEqual([401, 'key_required'])
    const made = await gateway.rest('POST', '/v1/keys', { name: 'auditor', role: 'auditor' })
    const auditor = made.body.key as string
    expect(auditor).toMatch(/^agw_sk_/)
    expect((await post(wire(SAMPLES['x402-http']!), auditor)).body.spend.status).toBe('already_counted')
    const refused = await post(sample, auditor)
    expect([refused.status, refused.body.code]).toEqual([403, 'role_required'])
  })

  it('leaves digests in the store, and no address, nonce or host', async () => {
    const directory = join(gateway.dataDir, 'data')
    for (const name of await readdir(directory)) {
      const bytes = await readFile(join(directory, name), 'latin1').catch(() => '')
      if (name === 'transaction-policy.json') continue
      for (const needle of ['52908400098527886e0f7030069857d2e4169ee7', '036cbd53842c', 'b7'.repeat(20)])
        expect(bytes.toLowerCase().includes(needle), `${needle} in ${name}`).toBe(false)
    }
  })
})

describe('canaries', () => {
  const CARD = ['4000', '0566', '5566', '5556'].join('')
  const github = TOKENS.find(([kind]) => kind === 'github_token')![1]
  const stripe = TOKENS.find(([kind]) => kind === 'stripe_secret_key')![1]
  const proof = `0x${'c0ffee42'.repeat(16)}1b`
  const payment = Buffer.from(
    JSON.stringify({
      x402Version: 2,
      resource: { url: `https://shop.example/reports?key=${stripe}`, description: `note ${github}` },
      accepted: {
        scheme: 'exact',
        network: 'eip155:84532',
        amount: '1',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        payTo: '0x52908400098527886E0F7030069857D2E4169EE7',
      },
      payload: {
        signature: proof,
        authorization: {
          from: '0x52908400098527886E0F7030069857D2E4169EE7',
          to: '0x52908400098527886E0F7030069857D2E4169EE7',
          value: '1',
          nonce: `0x${'ab12cd34'.repeat(8)}`,
        },
      },
    }),
  ).toString('base64')
  const chain = (wire(SAMPLES['ap2-payment']!).body as { payment_mandate_chain: string })
    .payment_mandate_chain
  const messages: readonly unknown[] = [
    {
      target: `https://shop.example/checkout_sessions/cs_1/complete?api_key=${stripe}`,
      method: 'POST',
      headers: {
        'PAYMENT-SIGNATURE': payment,
        Authorization: 'Bearer canary-bearer-token-0123456789',
        Cookie: 'canary-cookie=0123456789',
        'X-Api-Key': github,
      },
      body: {
        payment_data: { instrument: { credential: { type: 'spt', token: 'spt_canary_token' } }, cvc: '987' },
        [stripe]: { note: `card ${CARD}` },
      },
    },
    {
      target: 'https://psp.example/agentic_commerce/delegate_payment',
      method: 'POST',
      headers: { 'API-Version': '2026-04-17' },
      body: {
        payment_method: { type: 'card', number: CARD, cvc: '987', cryptogram: 'canary-cryptogram==' },
        allowance: { max_amount: 1 },
      },
    },
    {
      target: 'https://wallet.example/pay',
      method: 'POST',
      body: { payment_mandate_chain: chain, private_key: 'c0ffee42'.repeat(8) },
    },
    {
      target: 'https://wallet.example/pay',
      headers: { Authorization: `Payment ${payment}` },
      body: `raw ${stripe} ${CARD}`,
    },
  ]
  const broken = [
    { target: 7, headers: { 'PAYMENT-SIGNATURE': payment, [stripe]: 1 }, body: { number: CARD } },
    {
      target: 'https://a.example',
      method: `${github} `,
      headers: { Authorization: 'Bearer canary-bearer-token-0123456789' },
      [stripe]: CARD,
    },
  ]
  const NEEDLES = [
    payment,
    payment.slice(40, 90),
    'canary-bearer',
    'canary-cookie',
    'spt_canary',
    'canary-cryptogram',
    CARD,
    '0566556655',
    '987',
    proof.slice(2, 40),
    github,
    stripe,
    'c0ffee42'.repeat(8),
    ...chain.split(/~+/).filter((part) => part.length > 20),
  ]

  it.each(DOORS)('come back in no answer over %s', async (door) => {
    for (const message of messages) {
      const { code, raw } = await through(door, message)
      expect(code).toBe('ok')
      // Digests and ids may hold three digits in a row.
      const text = raw.replaceAll(
        /"(?:sha256_prefix|messageId|contextId|ruleset_version)\\?":\s?\\?"[^"]*"/g,
        '',
      )
      for (const needle of NEEDLES) expect(text.includes(needle), `${needle} over ${door}`).toBe(false)
    }
    for (const message of broken) {
      const { code, raw } = await through(door, message)
      expect(code).not.toBe('ok')
      // Of a refusal the places of what is wrong are told, in the words of who sent them.
      for (const needle of NEEDLES.filter((one) => ![stripe, '987'].includes(one)))
        expect(raw.includes(needle), `${needle} over ${door}`).toBe(false)
    }
  })

  it('are in no log, no task and no file of the store', async () => {
    for (const needle of NEEDLES.filter((one) => one !== '987'))
      expect(gateway.log().includes(needle), needle).toBe(false)
    const answer = await send('/a2a', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        authorization: `Bearer ${gateway.operatorKey}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
    })
    expect(((await answer.json()) as { result: { tasks?: unknown[] } }).result.tasks ?? []).toEqual([])
    const directory = join(gateway.dataDir, 'data')
    const files = await readdir(directory)
    expect(files.some((name) => name.startsWith('gateway.db'))).toBe(true)
    for (const name of files) {
      const bytes = await readFile(join(directory, name), 'latin1').catch(() => '')
      for (const needle of NEEDLES.filter((one) => one !== '987'))
        expect(bytes.includes(needle), `${needle} in ${name}`).toBe(false)
    }
  })
})

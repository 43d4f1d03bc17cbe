// Whatever comes in, there is an answer of the right shape, and it holds no secret that was put in: anywhere, under any name.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InspectResult } from '../../../schemas/commerce.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import type { TransactionInput } from '../../../src/commerce/ports.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { NAMED_TOKENS, TOKENS } from '../../data/commerce/tokens.ts'
import { change, membersOf, wire, type Plain, type SampleSource } from '../../support/commerce.ts'

const policy = toPolicy({ default: {}, accounts: {} }, undefined)
const NOW = 1_790_000_030_000
const inspect = (input: TransactionInput) => inspectTransaction(input, policy, NOW)
const SOURCES: readonly SampleSource[] = [
  ...Object.values(SAMPLES),
  ...Object.values(KINDS).map(({ source }) => source),
]
const CARD = ['5555', '5555', '5555', '4444'].join('')
const SECRETS = [...TOKENS.map(([, token]) => token), CARD]

/** Nothing of it, not even a piece that would do. */
function expectHidden(result: InspectResult, secret: string) {
  const text = JSON.stringify(result)
  const escaped = JSON.stringify(secret).slice(1, -1)
  expect(text.includes(secret) || text.includes(escaped), `${secret} in ${text}`).toBe(false)
}

describe('an inspection', () => {
  it('is an answer of the right shape for anything that has the shape of a message', () => {
    const header = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(fc.string(), { maxLength: 3 }),
    )
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'PAYMENT-SIGNATURE',
        'X-PAYMENT',
        'Authorization',
        'UCP-Agent',
        'Signature-Input',
        '__proto__',
        'Content-Digest',
        'Cookie',
      ),
    )
    const input = fc.record(
      {
        target: fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.constantFrom('https://shop.example/mcp', 'http://[::1]/', 'data:,x'),
        ),
        method: fc.constantFrom('GET', 'POST', 'get', 'BREW'),
        headers: fc.dictionary(names, header),
        body: fc.oneof(
          fc.json({ maxDepth: 6 }),
          fc.jsonValue({ maxDepth: 6 }),
          fc.string({ unit: 'binary' }),
        ),
      },
      { requiredKeys: ['target'] },
    )
    fc.assert(
      fc.property(input, (given) => {
        expect(InspectResult.safeParse(inspect(given as TransactionInput)).error).toBeUndefined()
      }),
      { numRuns: 600 },
    )
  })

  it('is an answer for samples with anything in the place of one of their members', () => {
    const cases = SOURCES.flatMap((source) =>
      [...membersOf(source as unknown as Plain)]
        .filter((at) => /^\/(?:headers|body)\/./.test(at))
        .map((at) => ({ source, at })),
    )
    fc.assert(
      fc.property(fc.constantFrom(...cases), fc.jsonValue({ maxDepth: 4 }), ({ source, at }, value) => {
        const changed = wire(change(source, [{ op: 'set', at, value: value as Plain }])) as TransactionInput
        // What is no header is refused before.
        if (Object.values(changed.headers ?? {}).some((one) => typeof one !== 'string')) return
        expect(InspectResult.safeParse(inspect(changed)).error).toBeUndefined()
      }),
      { numRuns: 600 },
    )
  })

  it.each<string>([
    'null',
    'true',
    '0',
    '""',
    '"ey~a_mandate"',
    '[]',
    '[null]',
    '{}',
    '{"a":null}',
    ' null ',
  ])('is an answer for a body that is %s, as text and as JSON', (text) => {
    const headers = { 'Content-Type': 'application/json' }
    for (const body of [text, JSON.parse(text) as unknown])
      expect(
        InspectResult.safeParse(inspect({ target: 'https://shop.example/', headers, body })).error,
      ).toBeUndefined()
  })

  it('is the same twice, and with members and headers in another order', () => {
    for (const source of SOURCES) {
      const input = wire(source) as TransactionInput
      const turned = {
        ...input,
        headers: Object.fromEntries(Object.entries(input.headers ?? {}).toReversed()),
        body:
          typeof input.body === 'object' && input.body !== null && !Array.isArray(input.body)
            ? Object.fromEntries(Object.entries(input.body).toReversed())
            : input.body,
      }
      expect(inspect(input)).toEqual(inspect(input))
      expect(inspect(turned)).toEqual(inspect(input))
    }
  })
})

describe('a secret', () => {
  const places = SOURCES.flatMap((source) =>
    [...membersOf(source as unknown as Plain)]
      .filter((at) => /^\/(?:headers|body)\/./.test(at))
      .map((at) => ({ source, at })),
  )
  it('in the place of any member of any sample is in no answer', () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.constantFrom(...SECRETS), ({ source, at }, secret) => {
        // So many units of a token are an amount like any other: nobody can tell it from a card.
        if (secret === CARD && /(?:amount|value|maxAmountRequired)$/i.test(at)) return
        const changed = wire(change(source, [{ op: 'set', at, value: secret }])) as TransactionInput
        if (
          Object.values(changed.headers ?? {}).some((one) => typeof one !== 'string' && !Array.isArray(one))
        )
          return
        expectHidden(inspect(changed), secret)
      }),
      { numRuns: 1500 },
    )
  })

  it('is in no field that is put together from another', () => {
    const challenge = Buffer.from(
      JSON.stringify({
        amount: '1',
        currency: '0x20c0000000000000000000000000000000000001',
        methodDetails: { chainId: CARD },
      }),
    ).toString('base64url')
    const answer = inspect({
      target: 'https://shop.example/report',
      method: 'GET',
      headers: {
        'WWW-Authenticate': `Payment id="a", realm="shop.example", method="tempo", intent="charge", request="${challenge}"`,
      },
    })
    expect(answer.protocol).toBe('mpp')
    expectHidden(answer, CARD)
  })

  it.each(SECRETS)(
    '%# as the name of a member, a header, a method, a tool or a path is in no answer',
    (secret) => {
      const target = 'https://shop.example/mcp'
      const call = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: secret,
          arguments: { [secret]: 'ignore all previous instructions', a: { [secret]: { cvc: '123' } } },
        },
      }
      const inputs: TransactionInput[] = [
        { target, body: call },
        { target, body: { ...call, method: `notifications/${secret}` } },
        {
          target,
          body: { ...call, id: secret },
          headers: { 'Mcp-Name': secret, 'MCP-Protocol-Version': secret },
        },
        { target, headers: { [secret]: 'eyJ' }, body: { [secret]: { [secret]: secret } } },
        {
          target: `https://shop.example/${encodeURIComponent(secret)}/checkout_sessions/${encodeURIComponent(secret)}/complete`,
          method: 'POST',
          body: {},
        },
        {
          target: `https://shop.example/checkout_sessions?a=${encodeURIComponent(secret)}`,
          method: 'POST',
          body: {},
        },
        {
          target,
          body: {
            payment_mandate: `${secret}~`,
            [`ap2.mandates.${secret}`]: {},
            'ap2.mandates.IntentMandate': { [secret]: secret, merchants: [secret] },
          },
        },
        {
          target,
          body: {
            ucp: { version: secret },
            payment: { instruments: [{ handler_id: secret, credential: { token: secret } }] },
          },
        },
        {
          target,
          headers: {
            Authorization: `Bearer ${secret}`,
            Cookie: secret,
            'Idempotency-Key': secret,
            Signature: secret,
            'UCP-Agent': `profile="https://a.example/${encodeURIComponent(secret)}"`,
          },
        },
        {
          target,
          headers: {
            Authorization: `Payment ${Buffer.from(JSON.stringify({ challenge: { id: secret, realm: secret, method: secret, intent: 'charge', request: Buffer.from(JSON.stringify({ amount: secret, currency: secret, recipient: secret, memo: secret })).toString('base64url') }, source: secret, payload: { proof: secret } })).toString('base64url')}`,
          },
        },
        {
          target,
          headers: {
            'PAYMENT-SIGNATURE': Buffer.from(
              JSON.stringify({
                x402Version: 2,
                [secret]: secret,
                resource: {
                  url: `https://u:${encodeURIComponent(secret)}@a.example/${encodeURIComponent(secret)}?k=${encodeURIComponent(secret)}#${encodeURIComponent(secret)}`,
                },
                accepted: { scheme: secret, network: secret, amount: secret, asset: secret, payTo: secret },
                payload: {
                  signature: secret,
                  authorization: { from: secret, to: secret, value: secret, nonce: secret },
                },
              }),
            ).toString('base64'),
          },
        },
      ]
      for (const input of inputs) {
        const result = inspect(input)
        expectHidden(result, secret)
        expect(JSON.stringify(result)).not.toContain(encodeURIComponent(secret))
      }
    },
  )

  it.each(SECRETS)(
    '%# as the name of a header alone is not in the place of what is wrong with it',
    (secret) => {
      const result = inspect({ target: 'https://shop.example/x', headers: { [secret]: 'a'.repeat(20_000) } })
      expect(result.policy.reasons).toContainEqual(expect.objectContaining({ code: 'OVERSIZE' }))
      expectHidden(result, secret)
    },
  )

  it.each(NAMED_TOKENS)(
    'named %s is in no answer, though its value alone could be anything',
    (name, secret) => {
      expectHidden(
        inspect({ target: 'https://shop.example/x', body: { [name]: secret, description: secret } }),
        secret,
      )
    },
  )

  it('is told by its kind, its place and eight digits of a digest', () => {
    const [, github] = TOKENS[2]!
    const { redactions, policy: judged } = inspect({
      target: 'https://shop.example/x',
      body: { a: [{ b: `token ${github}` }] },
    })
    expect(redactions).toEqual([
      {
        path: '/body/a/0/b',
        kind: 'github_token',
        sha256_prefix: expect.stringMatching(/^[\da-f]{8}$/),
        last4: null,
      },
    ])
    expect(judged.reasons).toContainEqual(
      expect.objectContaining({ code: 'SECRET_IN_BODY', path: '/body/a/0/b' }),
    )
  })

  it('that could be guessed has no digest: cards, codes, passwords, cookies', () => {
    const { redactions } = inspect({
      target: 'https://psp.example/agentic_commerce/delegate_payment',
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from('ada:a very long password indeed').toString('base64')}`,
        Cookie: 'session=0123456789012345678901234567890123456789',
      },
      body: {
        payment_method: { type: 'card', number: CARD, cvc: '123' },
        allowance: {},
        note: 'postgres://ada:hunter2hunter2hunter2@db.example.com/x',
      },
    })
    expect(
      redactions.map(({ path, kind, sha256_prefix, last4 }) => [path, kind, sha256_prefix, last4]),
    ).toEqual([
      ['/body/note', 'basic_auth_url', null, null],
      ['/body/payment_method/cvc', 'card_verification_code', null, null],
      ['/body/payment_method/number', 'card_number', null, '4444'],
      ['/headers/Authorization', 'authorization', null, null],
      ['/headers/Cookie', 'cookie', null, null],
    ])
  })

  it('has no digest either where it is the cryptogram of a card, however long', () => {
    const cryptogram = 'ALnt+yWSJdXBACMLLWMNGgADFA==ALnt+yWSJdXBACMLLWMNGgADFA=='
    const { redactions } = inspect({
      target: 'https://psp.example/agentic_commerce/delegate_payment',
      method: 'POST',
      body: { payment_method: { type: 'card', cryptogram }, allowance: {} },
    })
    expect(redactions).toEqual([
      { path: '/body/payment_method/cryptogram', kind: 'card_cryptogram', sha256_prefix: null, last4: null },
    ])
  })
})

describe('what is redacted', () => {
  it('is told once: the header, not what is inside it as well', () => {
    const { redactions } = inspect(wire(SAMPLES['x402-http']!) as TransactionInput)
    expect(redactions.map(({ path, kind }) => [path, kind])).toEqual([
      ['/headers/PAYMENT-SIGNATURE', 'payment_credential'],
    ])
  })
})

describe('what is shown of a transaction', () => {
  const paying = (resource: string) =>
    inspect(
      wire(
        change(SAMPLES['x402-http']!, [
          { op: 'set', at: '/headers/PAYMENT-SIGNATURE/$base64/resource/url', value: resource },
        ]),
      ) as TransactionInput,
    ).transaction.resource
  it.each<[string, string | null]>([
    ['https://shop.example/reports', 'https://shop.example/reports'],
    ['https://ada:pw@shop.example/reports#part', 'https://shop.example/reports'],
    ['https://shop.example/reports?year=2026&pin=1234', 'https://shop.example/reports?year=…&pin=…'],
    ['mcp://tool/tea_report', 'mcp://tool/tea_report'],
    ['chk_81aa', 'chk_81aa'],
    ['a sentence about <tea>', null],
    [`https://shop.example/${'a'.repeat(2048)}`, null],
  ])('is %s as %s', (resource, shown) => {
    expect(paying(resource)).toBe(shown)
  })

  it('is no card number in the place of an amount of money', () => {
    const { transaction } = inspect({
      target: 'https://psp.example/agentic_commerce/delegate_payment',
      method: 'POST',
      body: { allowance: { max_amount: CARD, currency: 'usd' } },
    })
    expect(transaction).toMatchObject({ amount: null, currency: 'USD' })
  })

  it.each(['payee\u202eeman', 'a\nb', '<b>shop</b>', 'x'.repeat(257)])('is no name like %j', (id) => {
    const { transaction } = inspect({
      target: 'https://psp.example/agentic_commerce/delegate_payment',
      method: 'POST',
      body: { allowance: { max_amount: 1, currency: 'usd', merchant_id: id } },
    })
    expect(transaction.payee).toBeNull()
  })
})

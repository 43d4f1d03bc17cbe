// A permit is for one request, byte for byte: whatever is changed of it is a 409 before anything is debited or resolved, and
// the permit goes on to work for the request it is for.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
let actions: ActionsClient
beforeAll(async () => {
  gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '10000' } })
  actions = await createActionsClient(gw, gw.url)
})
afterAll(() => gw.close())

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly body_base64?: string
}

const base = (): Asked => ({
  url: gw.url('/v1/orders/17?expand=items'),
  method: 'POST',
  headers: { 'content-type': 'application/json', prefer: 'return=minimal' },
  body: '{"sku":"tea","count":2}',
})
const terms = () => actions.mandate({ methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], max_calls: 10_000 })

/** Everything refused, nothing sent or charged; then the request itself, once. */
async function expectOnlyItself(bound: Asked, others: readonly Asked[]): Promise<string[][]> {
  const { permit } = await actions.prepare({ ...bound }, terms())
  const before = { sent: gw.upstream.requests.length, balance: await gw.balance() }
  const differs: string[][] = []
  for (const other of others) {
    const refused = await actions.execute(permit, { ...other })
    expect([refused.status, refused.body.code, refused.body.conflict], JSON.stringify(other)).toEqual([
      409,
      'permit_mismatch',
      'binding',
    ])
    differs.push(refused.body.differs)
  }
  expect({ sent: gw.upstream.requests.length, balance: await gw.balance() }).toEqual(before)
  expect((await actions.execute(permit, { ...bound })).status).toBe(200)
  expect(gw.upstream.requests.length).toBe(before.sent + 1)
  return differs
}

/** A text with one of its bytes replaced, left out, doubled or with one put before it. */
const oneByte = (text: string, bytes: string) =>
  fc
    .record({
      at: fc.nat(text.length - 1),
      how: fc.constantFrom('replace', 'insert', 'drop'),
      byte: fc.constantFrom(...bytes),
    })
    .map(({ at, how, byte }) => {
      const kept = how === 'insert' ? at : at + 1
      return text.slice(0, at) + (how === 'drop' ? '' : byte) + text.slice(kept)
    })
    .filter((changed) => changed !== text)

const URL_BYTES = 'abzAZ019-._~/?=&%:@#;+ \\\u00e9'
const BODY_BYTES = 'aZ09{}[]":, \n\t\u0000\u00e9'

describe('one byte', () => {
  it('of the URL, wherever it is, is another request', async () => {
    const bound = base()
    await fc.assert(
      fc.asyncProperty(
        fc.array(oneByte(bound.url, URL_BYTES), { minLength: 4, maxLength: 4 }),
        async (urls) => {
          for (const differs of await expectOnlyItself(
            bound,
            urls.map((url) => ({ ...bound, url })),
          ))
            expect(differs).toEqual(['url'])
        },
      ),
      { numRuns: 25 },
    )
  })

  it('of the body, as text or as bytes, is another request', async () => {
    const bound = base()
    const bodies = fc.array(oneByte(bound.body!, BODY_BYTES), { minLength: 3, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(bodies, async (changed) => {
        const { body: _body, ...bare } = bound
        const others = changed.flatMap((body) => [
          { ...bound, body },
          { ...bare, body_base64: Buffer.from(body).toString('base64') },
        ])
        for (const differs of await expectOnlyItself(bound, others)) expect(differs).toEqual(['body'])
      }),
      { numRuns: 15 },
    )
  })

  it('of a header, its name or its value, is another request', async () => {
    const bound = base()
    const value = oneByte(bound.headers['content-type']!, 'aZ09/;=., \t\u00e9')
    const name = oneByte('prefer', 'abz-09')
    await fc.assert(
      fc.asyncProperty(value, name, async (contentType, other) => {
        const { prefer, ...rest } = bound.headers
        const others = [
          { ...bound, headers: { ...bound.headers, 'content-type': contentType } },
          { ...bound, headers: { ...rest, [other]: prefer! } },
          { ...bound, headers: rest },
          { ...bound, headers: { ...bound.headers, accept: 'text/plain' } },
        ]
        for (const differs of await expectOnlyItself(bound, others)) expect(differs).toEqual(['headers'])
      }),
      { numRuns: 15 },
    )
  })

  it('of a body of bytes is another request too', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(bytes, fc.nat(39), fc.integer({ min: 1, max: 255 }), async (given, at, flip) => {
        const changed = Uint8Array.from(given)
        changed[at % changed.length]! ^= flip
        const { body: _body, ...bare } = base()
        const asBody = (some: Uint8Array) => ({ ...bare, body_base64: Buffer.from(some).toString('base64') })
        await expectOnlyItself(asBody(given), [asBody(changed), { ...bare }])
      }),
      { numRuns: 10 },
    )
  })
})

describe('a change of', () => {
  it.each<[string, (bound: Asked) => Body, string[]]>([
    ['the method', () => ({ method: 'PUT' }), ['method']],
    ['the method to one without a body', () => ({ method: 'DELETE' }), ['method']],
    ['the method to one that takes no body', () => ({ method: 'GET' }), ['method', 'body']],
    ['the method, the body left out with it', () => ({ method: 'GET', body: undefined }), ['method', 'body']],
    ['the host', () => ({ url: 'https://www.example.com/v1/orders/17?expand=items' }), ['url']],
    ['the port', () => ({ url: 'https://api.example.com/v1/orders/17?expand=items' }), ['url']],
    ['the host to a private address', () => ({ url: 'https://10.0.0.1/' }), ['url']],
    ['the scheme', (bound) => ({ url: bound.url.replace('https', 'http') }), ['url']],
    ['the case of the host', (bound) => ({ url: bound.url.replace('api.', 'API.') }), ['url']],
    ['a fragment', (bound) => ({ url: `${bound.url}#x` }), ['url']],
    ['a dot segment that means the same', (bound) => ({ url: bound.url.replace('/17', '/./17') }), ['url']],
    ['an escape that means the same', (bound) => ({ url: bound.url.replace('/17', '/%317') }), ['url']],
    ['the body to more bytes than are allowed', () => ({ body: 'ü'.repeat(65_537) }), ['body']],
    [
      'an authorization of one’s own',
      (bound) => ({ headers: { ...bound.headers, authorization: 'x' } }),
      ['headers'],
    ],
    [
      'everything',
      () => ({ url: 'https://www.example.com/', method: 'PATCH', headers: {}, body: 'x' }),
      ['method', 'url', 'headers', 'body'],
    ],
  ])('%s is named', async (_what, change, expected) => {
    const bound = base()
    const other = { ...bound, ...change(bound) } as Asked
    expect(await expectOnlyItself(bound, [other])).toEqual([expected])
  })

  it('nothing that goes on the wire is none: bytes for text, header names in capitals, defaults written out', async () => {
    const bound = base()
    const { body, ...bare } = bound
    const spellings: Asked[] = [
      { ...bare, body_base64: Buffer.from(body!).toString('base64') },
      { ...bound, headers: { Prefer: 'return=minimal', 'Content-Type': 'application/json' } },
      { ...bound, headers: { ...bound.headers, accept: '*/*', 'user-agent': 'agent-gateway/5' } },
    ]
    const wires = new Set<string>()
    for (const spelling of spellings) {
      const { permit } = await actions.prepare({ ...bound }, terms())
      expect((await actions.execute(permit, { ...spelling })).status).toBe(200)
      const { method, target, headers, body: sent } = gw.upstream.requests.at(-1)!
      wires.add(
        JSON.stringify([
          method,
          target,
          headers.filter(([name]) => name !== 'idempotency-key'),
          sent.toString(),
        ]),
      )
    }
    expect(wires.size).toBe(1)
  })
})

describe('what a caller can not send at all', () => {
  it.each<[string, Body]>([
    ['a method there is none of', { method: 'TRACE' }],
    ['a method in small letters', { method: 'post' }],
    ['another kind of deadline', { timeout_ms: 1 }],
    ['more characters than any body may have', { body: 'x'.repeat(131_073) }],
    ['a body that is no base64', { body: undefined, body_base64: '*' }],
  ])('%s is a 400 of the schema, and costs the permit nothing', async (_what, change) => {
    const bound = base()
    const { permit } = await actions.prepare({ ...bound }, terms())
    const refused = await actions.execute(permit, { ...bound, ...change })
    expect(refused.status).toBe(400)
    expect((await actions.execute(permit, { ...bound })).status).toBe(200)
  })
})

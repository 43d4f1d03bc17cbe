import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExecuteRequest } from '../../../schemas/execute-request.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { createTestOutcomes } from '../../support/outcomes.ts'
import { resolve } from '../../support/uses.ts'

const A = 'https://a.example.com/'
const sandbox = createTestOutcomes({ rules: { ports: [443], allowSandboxName: true } })
const production = createTestOutcomes()

interface Repair {
  readonly understood: {
    readonly capability: string | null
    readonly sources: string[]
    readonly candidates: string[]
  }
  readonly nearest: string
  readonly example: Record<string, unknown>
  readonly free_example: Record<string, unknown>
  readonly price: { readonly amount_atomic: string }
  readonly send: string
}

/** What is asked before any payment: the same way in as the request that follows. */
function refusalOf(input: unknown, outcomes = sandbox) {
  try {
    outcomes.plan(ExecuteRequest.parse(input))
  } catch (thrown) {
    if (thrown instanceof GatewayError)
      return {
        code: thrown.code,
        detail: thrown.message,
        extras: thrown.extras,
        repair: thrown.extras.repair as unknown as Repair,
      }
    throw thrown
  }
  throw new Error('was not refused')
}

const REFUSED: [name: string, code: string, nearest: string, input: unknown][] = [
  ['nothing said', 'intent_unknown', 'extract-preview', {}],
  ['an unknown job', 'intent_unknown', 'extract-preview', { intent: 'sing a song' }],
  ['an unknown job with an address', 'intent_unknown', 'web-extraction', { intent: `translate ${A}` }],
  ['an unknown job near a price', 'intent_unknown', 'product-offers', { intent: 'price of bitcoin' }],
  ['an unknown tool', 'intent_unknown', 'extract-preview', { tool: 'gateway.nothing', input: { html: 'x' } }],
  [
    'two capabilities at once',
    'intent_unknown',
    'web-extraction',
    { intent: 'web-extraction or feed-digest?' },
  ],
  ['html missing', 'input_missing_field', 'extract-preview', { capability: 'extract-preview' }],
  [
    'only an address for a preview',
    'input_missing_field',
    'extract-preview',
    { capability: 'extract-preview', url: A },
  ],
  ['no page', 'input_missing_field', 'web-extraction', { intent: 'extract this article' }],
  ['no shop', 'input_missing_field', 'product-offers', { intent: 'compare the prices of these products' }],
  ['no page in Arabic', 'input_missing_field', 'web-extraction', { intent: 'استخرج محتوى هذه الصفحة' }],
  ['a conflict', 'input_conflict', 'extract-preview', { intent: 'demo', html: 'x' }],
  [
    'a conflict of sources',
    'input_conflict',
    'web-extraction',
    { intent: 'read the page https://b.example.com/', url: A },
  ],
  [
    'too many sources',
    'input_invalid',
    'web-extraction',
    { intent: `pages ${[1, 2, 3, 4].map((i) => `${A}${i}`).join(' ')}` },
  ],
]

describe('repair guidance', () => {
  it.each(REFUSED)(
    'after %s names the nearest capability, its price and an example that works',
    (_, code, nearest, input) => {
      for (const outcomes of [sandbox, production]) {
        const refusal = refusalOf(input, outcomes)
        expect(refusal.code).toBe(code)
        const { repair } = refusal
        expect(repair.nearest).toBe(nearest)
        const terms = outcomes.plan(ExecuteRequest.parse(repair.example)).charge
        expect(resolve(repair.example)).toMatchObject({ ok: true, capability: nearest })
        const isFree = terms === null
        expect(isFree ? '0' : repair.price.amount_atomic).toBe(String(terms?.amountAtomic ?? 0n))
        expect(repair.send.includes('402')).toBe(!isFree)
        expect(outcomes.plan(ExecuteRequest.parse(repair.free_example)).charge).toBeNull()
      }
    },
  )

  it.each<[string, unknown, Record<string, unknown>]>([
    ['an address', { intent: `translate ${A}` }, { capability: 'web-extraction', urls: [A] }],
    [
      'an address, a query and test of its use',
      { intent: `translate ${A} about tea`, limit: 3 },
      { capability: 'web-extraction', urls: [A], query: 'tea' },
    ],
    [
      'a feed and how many',
      { intent: 'email me the top 3 headlines of https://a.example.com/feed' },
      { capability: 'feed-digest', urls: ['https://a.example.com/feed'], limit: 3 },
    ],
  ])('fills %s into the example', (_, input, example) => {
    expect(refusalOf(input).repair.example).toEqual(example)
  })

  it('says what was understood', () => {
    expect(
      refusalOf({ intent: 'email me the top 3 prices of https://a.example.com/p/1' }).repair.understood,
    ).toEqual({
      capability: null,
      candidates: ['product-offers', 'feed-digest', 'web-extraction'],
      sources: ['https://a.example.com/p/1'],
      limit: 3,
      query: null,
      fields: ['/intent'],
    })
    expect(refusalOf({ capability: 'product-offers', query: 'tea' })).toMatchObject({
      detail: expect.stringMatching(/url or urls or sources/),
      repair: {
        understood: { capability: 'product-offers', query: 'tea' },
        missing: ['url', 'urls', 'sources'],
      },
    })
  })

  it.each<[string, unknown]>([
    ['words', { intent: 'hunter2 hunter2' }],
    ['a name', { tool: 'hunter2' }],
    ['a property of html', { input: { html: { hunter2: 1 } } }],
    ['a password in an address', { intent: 'translate https://mina:hunter2@a.example.com/' }],
    ['a password behind two schemes', { intent: 'translate https://https://mina:hunter2@a.example.com/' }],
    [
      'a password in what is no address',
      { intent: 'demo', action: 'http://b.example.comhttps://mina:hunter2@a.example.com' },
    ],
    ['a password in a field', { intent: 'translate', url: 'https://mina:hunter2@a.example.com/' }],
    [
      'a password in a fallback',
      { intent: 'translate', sources: [{ url: A, fallbacks: ['https://hunter2@a.example.com/'] }] },
    ],
    ['a token in a query', { intent: 'translate https://a.example.com/x?access_token=hunter2' }],
    ['a key in a query', { intent: 'translate https://a.example.com/x?api-key=hunter2' }],
    [
      'a signature in a query',
      { intent: 'translate', urls: ['https://a.example.com/x?X-Amz-Signature=hunter2'] },
    ],
    ['a signed token', { intent: 'translate https://a.example.com/eyJhbGci-hunter2' }],
    ['a token in a path', { intent: 'translate https://hooks.example.com/T00/hunter2abcdefghijklmnop' }],
    ['a token in a query of words', { intent: 'translate', query: 'hunter2abcdefghijklmnop' }],
    ['a body', { http: { method: 'POST', url: A, body: 'hunter2' } }],
    ['a header', { http: { url: 'x', headers: { authorization: 'hunter2' } } }],
    ['a command', { command: "curl -H 'authorization: hunter2' -X POST https://a.example.com/" }],
  ])('never quotes %s back', (_, input) => {
    const { detail, extras } = refusalOf(input)
    expect(JSON.stringify([detail, extras])).not.toContain('hunter2')
  })

  it('fills in no address that may hold a secret', () => {
    for (const url of ['https://mina:hunter2@a.example.com/', `${A}?token=hunter2`, 'http://a.example.com/'])
      expect(refusalOf({ intent: 'translate', url }).repair.example).not.toHaveProperty('urls')
  })
})

describe('the example after a conflict', () => {
  it('does not choose between the addresses that contradict each other', () => {
    const { repair } = refusalOf({ intent: 'read the page https://b.example.com/', url: A })
    expect(repair.understood.sources).toEqual([A, 'https://b.example.com/'])
    expect(JSON.stringify(repair.example)).not.toMatch(/[ab]\.example\.com/)
  })
})

describe('guidance for a request that does not match the schema', () => {
  const guide = (input: unknown, outcomes = sandbox) => outcomes.guide(input) as unknown as Repair

  it.each<[string, unknown, Record<string, unknown>]>([
    [
      'another spelling',
      { capability: 'Web_Extraction', url: A },
      { capability: 'web-extraction', urls: [A] },
    ],
    ['no hyphen', { capability: 'productoffers', url: A }, { capability: 'product-offers', urls: [A] }],
    [
      'a name of its own',
      { capability: 'price-comparison', url: A },
      { capability: 'product-offers', urls: [A] },
    ],
    [
      'an option out of range',
      { capability: 'web-extraction', url: A, query: 'tea', max_age_seconds: 99 },
      { capability: 'web-extraction', urls: [A], query: 'tea' },
    ],
    [
      'an unknown property',
      { intent: 'latest news', url: 'https://a.example.com/feed', limit: 3, q: 1 },
      { capability: 'feed-digest', urls: ['https://a.example.com/feed'], limit: 3 },
    ],
  ])('keeps what can be kept beside %s', (_, input, example) => {
    expect(guide(input).example).toEqual(example)
  })

  it.each<[string, string, unknown]>([
    ['nothing', 'extract-preview', undefined],
    ['a list', 'extract-preview', [{ capability: 'feed-digest' }]],
    ['a capability that nothing is like', 'extract-preview', { capability: 'everything' }],
    ['a capability that is no text', 'extract-preview', { capability: 7 }],
    ['a limit beside a capability', 'feed-digest', { capability: 'feed-digest', limit: 31 }],
    [
      'four addresses',
      'web-extraction',
      { capability: 'web-extraction', urls: [1, 2, 3, 4].map((i) => A + i) },
    ],
    ['a wrapped property', 'web-extraction', { tool: 'web-extraction', arguments: { url: A, q: 1 } }],
    ['a name of Object', 'extract-preview', JSON.parse('{"__proto__":{"intent":"news"},"constructor":1}')],
  ])('names %s: the nearest is %s', (_, nearest, input) => {
    expect(guide(input).nearest).toBe(nearest)
  })

  it('says of a capability that does not exist where it stood', () => {
    expect(guide({ capability: 'price-comparison' }).understood).toMatchObject({
      candidates: ['product-offers'],
      fields: ['/capability'],
    })
  })

  it('stands in every refusal of what is wrapped, too', () => {
    expect(refusalOf({ tool: 'feed-digest', arguments: { q: 1 } })).toMatchObject({
      code: 'input_unknown_property',
      repair: { nearest: 'feed-digest', free_example: { intent: 'demo', capability: 'feed-digest' } },
    })
  })

  it('always has an example that works, and shows no value that was wrong', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(A, 'demo', 'news', 'https://10.0.0.1/', 'feed-digest'),
    )
    const names = [
      'intent',
      'capability',
      'url',
      'urls',
      'sources',
      'html',
      'limit',
      'query',
      'tool',
      'arguments',
      'x',
    ]
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 }), (input) => {
        for (const outcomes of [sandbox, production]) {
          const { example, free_example } = guide({ ...input, foo: 'hunter2' }, outcomes)
          for (const request of [example, free_example]) outcomes.plan(ExecuteRequest.parse(request))
          expect(JSON.stringify(example)).not.toContain('hunter2')
        }
      }),
    )
  })
})

describe('too many sources', () => {
  it('are said to be that, in the field that names them', () => {
    const { detail, extras } = refusalOf({ url: A, urls: [1, 2, 3].map((i) => A + i) })
    expect(detail).toMatch(/^\/url and \/urls: more than 3 different sources\. Send at most 3\./)
    expect(extras.fields?.map(({ message }) => message)).toEqual([
      expect.stringMatching(/at most 3/),
      expect.stringMatching(/at most 3/),
    ])
  })
})

describe('the example of a refusal', () => {
  it.each(['https://10.0.0.1/', 'https://localhost/', 'https://a.example.com:8443/'])(
    'holds no address that is never called: %s',
    (url) => {
      const { repair } = refusalOf({ intent: 'translate', url })
      expect(sandbox.plan(ExecuteRequest.parse(repair.example)).charge).not.toBeNull()
      expect(repair.example).not.toHaveProperty('urls')
    },
  )
})

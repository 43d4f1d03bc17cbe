import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExecuteRequest } from '../../schemas/execute-request.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { findUrls } from '../../src/outcomes/intents/urls.ts'
import { readSentence } from '../../src/outcomes/phrases.ts'
import { createTestOutcomes } from '../support/outcomes.ts'
import { resolve } from '../support/uses.ts'

const outcomes = createTestOutcomes()

const PIECES = [
  'demo', 'extract', 'preview', 'web-extraction', 'product-offers', 'feed_digest', 'price', 'prices', 'compare', 'news', 'headlines', 'top',
  '5', 'ten', 'about', 'tea', 'page', 'this', 'not', 'without', 'but', 'only', 'translate', 'write', 'poem', 'buy', 'html', '<p>x', '<!--',
  'https://a.example.com/', 'https://shop.example.com/p/1', 'https://a.example.com/feed.xml', 'http://b.example.com', 'c.example.com/x',
  'https://mina:pw@a.example.com', 'https://', 'www.', 'أخبار', 'سعر', 'استخرج', 'النص', 'مش', 'عايز', 'عن', 'لا', '٥', 'عناوين', 'تجربة',
  'ترجم', 'و', 'وhttps://a.example.com/x', '؟', '،', '.', ',', '(', ')', '"', '“', '”', '«', '»', '\n', '\u200F', '\u202E', '\uD800', '😀',
  '\uFFFC', '\u0640', '\u064E', '__proto__', 'constructor', 'toString', "don't", '{id}', '$(x)', '|', '\\', "'",
] // prettier-ignore
const words = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(' ')),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 200 }),
)
const url = fc.constantFrom(
  'https://a.example.com/',
  'https://A.example.com',
  'https://b.example.com/feed.xml',
  'https://u:p@a.example.com/',
  'urn:x',
  'http://a.example.com/',
  'https://127.0.0.1/',
)
const odd = fc.oneof({ depthSize: 'small' }, words, fc.jsonValue(), url)
const request = fc.letrec((tie) => ({
  request: fc.record(
    {
      intent: fc.oneof({ depthSize: 'small' }, words, tie('request')),
      capability: fc.constantFrom('extract-preview', 'web-extraction', 'product-offers', 'feed-digest'),
      html: fc.string(),
      url,
      urls: fc.array(url, { maxLength: 4 }),
      sources: fc.array(
        fc.oneof(
          url,
          fc.record({ url, fallbacks: fc.array(url, { maxLength: 2 }) }, { requiredKeys: ['url'] }),
        ),
        { maxLength: 3 },
      ),
      action: words,
      desired_action: words,
      command: fc.oneof(
        words,
        words.map((rest) => `curl ${rest}`),
        words.map((rest) => `feed-digest --limit 3 ${rest}`),
      ),
      tool: words,
      name: fc.constantFrom('gateway_execute', 'demo', 'x', 'web_extraction'),
      limit: fc.integer({ min: 0, max: 31 }),
      query: words,
      testnet: fc.boolean(),
      input: fc.oneof({ depthSize: 'small' }, fc.dictionary(fc.string(), fc.jsonValue()), tie('request')),
      arguments: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), tie('request')),
      task: fc.oneof({ depthSize: 'small' }, fc.dictionary(fc.string(), fc.jsonValue()), tie('request')),
      http: fc.dictionary(fc.constantFrom('url', 'method', 'body', 'headers', 'x'), odd),
      operation: fc.dictionary(
        fc.constantFrom(
          'url',
          'method',
          'server',
          'path',
          'parameters',
          'desired_action',
          '$ref',
          '__proto__',
        ),
        odd,
      ),
    },
    { requiredKeys: [] },
  ),
})).request as fc.Arbitrary<Record<string, unknown>>

/** What becomes of a request before any payment. */
function ask(input: unknown): { readonly answer: unknown; readonly refusal?: GatewayError } {
  const parsed = ExecuteRequest.safeParse(input)
  if (!parsed.success) return { answer: 'not of the schema' }
  try {
    const { charge: terms } = outcomes.plan(parsed.data)
    return { answer: terms && { amount: String(terms.amountAtomic), digest: terms.requestDigest } }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return { answer: [thrown.code, thrown.message, thrown.extras], refusal: thrown }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const turnMembers = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(turnMembers)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toReversed()
            .map(([key, member]) => [key, turnMembers(member)]),
        )
      : value

describe('whatever is asked', () => {
  it('gets a price or a refusal of the table, always the same, in whatever order its members stand', () => {
    fc.assert(
      fc.property(request, (input) => {
        const { answer, refusal } = ask(input)
        expect(ask(input).answer).toEqual(answer)
        expect(refusal?.status ?? 400).toBeOneOf([400, 403])
        expect(JSON.stringify(answer)).not.toMatch(/u:p@|mina:pw/)
        if (!JSON.stringify(input).includes('"__proto__"'))
          expect(ask(turnMembers(input)).answer).toEqual(answer)
      }),
      { numRuns: 400 },
    )
  })

  it('gets an example that works wherever it gets repair guidance', () => {
    fc.assert(
      fc.property(request, (input) => {
        const repair = ask(input).refusal?.extras.repair as
          { example: unknown; free_example: unknown; nearest: string } | undefined
        if (repair === undefined) return
        expect(resolve(repair.example)).toMatchObject({ ok: true, capability: repair.nearest })
        expect(resolve(repair.free_example)).toMatchObject({ ok: true, kind: 'demo' })
      }),
      { numRuns: 400 },
    )
  })

  it('is read in full length, whatever it repeats', () => {
    for (const piece of PIECES)
      for (const intent of [piece.repeat(3000 / piece.length), `${piece} `.repeat(3000 / (piece.length + 1))])
        expect(ask({ intent }).answer).not.toBe('not of the schema')
  })
})

describe('a URL in a sentence', () => {
  const said = fc
    .webUrl({ validSchemes: ['https'], withQueryParameters: true, withFragments: true })
    .filter((each) => /[a-z\d/]$/i.test(each) && !/[,;()]/.test(each))
  const before = fc.constantFrom(
    '',
    'read ',
    '(',
    '<',
    '"',
    '«',
    'اقرأ ',
    'و',
    '\u200F',
    '[x](',
    'see:',
    '**',
    '“',
  )
  const after = fc.constantFrom(
    '',
    '.',
    ', then',
    ')',
    '>',
    '"',
    '»',
    '؟',
    '، ثم',
    '؛',
    '\u200F',
    '!',
    '**',
    '”',
    '\n',
    '…',
    ').',
  )

  it('is found as it would be sent, whatever stands around it', () => {
    fc.assert(
      fc.property(before, said, after, (left, each, right) => {
        const wanted = new URL(each)
        wanted.hash = ''
        expect(findUrls(left + each + right).urls).toEqual([wanted.href])
      }),
      { numRuns: 2000 },
    )
  })

  it('is not left in the rest, and what was found is found again', () => {
    fc.assert(
      fc.property(words, (text) => {
        const { urls, rest } = findUrls(text)
        for (const each of urls.filter((one) => !one.includes('@')))
          expect(findUrls(`a ${each} b`).urls).toEqual([each])
        for (const each of urls) expect(rest).not.toContain(each)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the same sentence in other clothes', () => {
  const dress: Record<string, (text: string) => string> = {
    'upper case': (text) => text.toUpperCase(),
    'full width': (text) =>
      text.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
    'stretched letters': (text) => text.replace(/[اوي]/g, '$&ـــ'),
    'Arabic diacritics': (text) => text.replace(/[\u0628-\u064A]/g, '$&\u064E'),
    'Arabic digits': (text) => text.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]!),
    'Persian digits': (text) => text.replace(/\d/g, (digit) => '۰۱۲۳۴۵۶۷۸۹'[Number(digit)]!),
    'invisible characters': (text) => text.replace(/[a-z\u0628-\u064A]/g, '$&\u200B'),
    'direction marks': (text) => `\u202B${text}\u202C`,
    'an emoji': (text) => `🙂 ${text} 🎉`,
    'more spaces': (text) => ` ${text.replaceAll(' ', ' \u00A0 ')} `,
  }
  const sentences = [
    'top 5 headlines',
    'compare the prices of these products',
    'extract this article',
    '٧ عناوين'.replace('٧', '7'),
    'قارن أسعار المنتجات',
    'استخرج محتوى الصفحة',
    'latest 12 news entries',
  ]
  it.each(Object.keys(dress))('means the same in %s', (name) => {
    for (const sentence of sentences) {
      const { points, limit } = readSentence(sentence)
      const dressed = readSentence(dress[name]!(sentence))
      expect([[...dressed.points], dressed.limit], sentence).toEqual([[...points], limit])
    }
  })
})

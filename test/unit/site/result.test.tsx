// Answers of tools as people read them: whatever a tool answers is drawn, and what strangers wrote in it does nothing.
import fc from 'fast-check'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { FeedDigestResult } from '../../../schemas/feed-digest.ts'
import { PreviewResult } from '../../../schemas/extract-preview.ts'
import { ProductOffersResult } from '../../../schemas/product-offers.ts'
import { WebExtractionResult } from '../../../schemas/web-extraction.ts'
import { describeOutput } from '../../../src/core/advertised-schema.ts'
import { createRegistry, type JsonSchema } from '../../../src/core/registry.ts'
import { sampleOf } from '../../../src/documents/sample.ts'
import { parseMarkdown } from '../../../src/doors/site/components/markdown/parse.ts'
import { MarkdownView } from '../../../src/doors/site/components/markdown/tree.tsx'
import type { ResultLook } from '../../../src/doors/site/components/result/look.ts'
import { ResultView } from '../../../src/doors/site/components/result/result-view.tsx'
import { Answer } from '../../../src/doors/site/components/try/answer.tsx'
import { resultTexts } from '../../../src/doors/site/texts/result.ts'
import { tryTexts } from '../../../src/doors/site/texts/try.ts'
import { tools } from '../../../tools/index.ts'

const look: ResultLook = {
  t: resultTexts.en,
  href: (path) => path,
  markdown: (text) => <MarkdownView tree={parseMarkdown(text)} cutWords="cut" />,
}
const draw = (value: unknown) => renderToString(<ResultView value={value} {...look} />)
const refuse = (body: unknown, status = 400) =>
  renderToString(<Answer answer={{ status, body }} t={tryTexts.en} look={look} onRepair={() => {}} />)

/** Nothing that runs, loads or leads where only a script would. */
function expectHarmless(html: string, what = ''): void {
  expect(html, what).not.toMatch(/<(?:script|img|iframe|object|embed|style|link|svg|base|form|meta)\b/i)
  expect(html, what).not.toMatch(/<[^>]+\son\w+\s*=/i)
  expect(html, what).not.toMatch(/href="(?!https?:\/\/|mailto:|\/(?!\/))/i)
  expect(html, what).not.toMatch(/\sstyle="/)
  expect(html, what).not.toContain('\u202E')
}

const HOSTILE = [
  '<img src=x onerror=alert(1)><script>alert(1)</script>',
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'gpj\u202Eexe',
  `[x](javascript:alert(1)) ![y](https://tracker.example/y.gif) "><svg onload=alert(1)>`,
  'W'.repeat(10_000),
  '//evil.example/',
]

/** The value with every text in it replaced. */
function withText(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text
  if (Array.isArray(value)) return value.map((item) => withText(item, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withText(member, text)]))
}

/** Every member that there may be, not only those that must. */
function whole(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(whole)
  const inner = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, whole(member)]))
  const { properties } = inner
  return typeof properties === 'object' && properties !== null
    ? { ...inner, required: Object.keys(properties) }
    : inner
}

describe('the answer of every tool', () => {
  const answers: readonly (readonly [name: string, outputSchema: JsonSchema])[] = [
    ...createRegistry(tools).tools.map(({ tool, outputSchema }) => [tool.name, outputSchema] as const),
    ...Object.entries({ PreviewResult, WebExtractionResult, ProductOffersResult, FeedDigestResult }).map(
      ([name, schema]) => [name, describeOutput(schema)] as const,
    ),
  ]
  it.each(answers)('%s is drawn, whatever its texts say', (name, outputSchema) => {
    const sample = sampleOf(whole(outputSchema) as Record<string, unknown>)
    expect(draw(sample)).toContain('<details')
    for (const text of HOSTILE) {
      const html = draw(withText(sample, text))
      expectHarmless(html, `${name} ${text.slice(0, 40)}`)
      expectHarmless(refuse(withText(sample, text)), name)
    }
  })
})

describe('any value', () => {
  it('is drawn, of whatever shape it is', () => {
    const names = fc.constantFrom(
      ...(
        'products groups feeds entries response documents document source decision reasons email results policy layers ' +
        'dimensions score result intent content_kind fields repair code __proto__ <b>'
      ).split(' '),
    )
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(...HOSTILE, '', null, 1, true),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(names, tie('node'), { maxKeys: 6 }),
      ),
    })).node
    fc.assert(
      fc.property(value, (any) => {
        expectHarmless(draw(any))
        expectHarmless(refuse(any))
      }),
      { numRuns: 150 },
    )
  })

  it('takes bounded room', () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`m${at}`, { a: at, b: [at] }]))
    const long = Array.from({ length: 20_000 }, (_, at) => ({ id: at, name: 'x' }))
    let deep: unknown = 'x'
    for (let level = 0; level < 500; level++) deep = { deep }
    for (const value of [wide, long, deep, { text: 'x'.repeat(1_000_000) }])
      expect(draw(value).length).toBeLessThan(300_000)
    expect(draw(long)).toContain('19970 more in the JSON')
  })
})

describe('a page', () => {
  it('is told from binary content, of which type and size are said', () => {
    const response = {
      status: 200,
      content_type: 'image/png',
      content_kind: 'base64',
      content: 'AAAA',
      bytes: 3,
    }
    expect(draw({ request: { url: 'https://example.com/' }, response })).toContain(
      'Binary content, not shown: image/png, 3 bytes.',
    )
  })
})

describe('a refusal', () => {
  it('says what is wrong, where, when to come back and what works', () => {
    const html = refuse({
      code: 'rate_limited',
      title: 'Too many requests',
      detail: 'Wait.',
      retry_after_seconds: 7,
      fields: [{ pointer: '/url', message: 'Required' }],
      repair: { example: { intent: 'demo' } },
    })
    for (const words of [
      'Too many requests',
      'Wait.',
      'Try again in 7 s.',
      '/url',
      'Required',
      'Use the input that works',
    ])
      expect(html).toContain(words)
    expect(html).toContain('href="/problems/rate_limited"')
  })

  it('links to no page for a code that is none', () => {
    expect(refuse({ code: '../../evil', title: 'x' })).not.toContain('<a ')
  })
})

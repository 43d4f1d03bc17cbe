import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateTokens, fitAnswer } from '../../../src/doors/long-answer.ts'
import { at, type Json } from '../../support/tree.ts'
import { tokensOf } from '../../support/tokens.ts'

const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

describe('the estimate of tokens', () => {
  it.each([
    ['prose', file('CHANGELOG.md').slice(0, 30_000)],
    ['a program', file('src/core/call.ts')],
    ['JSON', file('package-lock.json').slice(0, 60_000)],
    ['base64', randomBytes(20_000).toString('base64')],
    ['hex', randomBytes(20_000).toString('hex')],
    ['numbers', Array.from({ length: 5000 }, (_, index) => (index * 7919) % 100_000).join()],
    ['Arabic', 'اقرأ هذا المقال وأعطني نصه، واستخرج محتوى هذه الصفحة من فضلك. '.repeat(200)],
    ['Chinese', '绿茶应在七十至八十度的水中浸泡三分钟，水温过高会使茶叶变苦。'.repeat(200)],
    ['emoji', '😀🎉🚀👩‍💻 '.repeat(400)],
  ])('of %s is seldom too low and never far too high', (_what, text) => {
    const ratio = estimateTokens(text) / tokensOf(text)
    expect(ratio).toBeGreaterThan(0.93)
    expect(ratio).toBeLessThan(3)
  })
})

const readOn = (next: number) => `go on at ${next}`

describe('an answer that is too long', () => {
  it('is left as it is while it is short enough', () => {
    const output = { text: 'word '.repeat(2000), list: [1, 2] }
    expect(fitAnswer(output, { from: 0, readOn })).toBe(output)
  })

  it.each([
    [
      'one text',
      { url: 'https://a.example/', response: { content: randomBytes(50_000).toString('base64') } },
    ],
    ['several texts', { documents: [1, 2, 3].map((id) => ({ id, markdown: `${id} tea `.repeat(12_000) })) }],
    ['a JSON document', { content: Array.from({ length: 4000 }, (_, id) => ({ id, name: `n${id}` })) }],
    ['both', { text: 'é'.repeat(40_000), content: { rows: Array.from({ length: 5000 }, (_, id) => [id]) } }],
    ['pairs of surrogates', { text: `a${'😀'.repeat(20_000)}` }],
  ])('is cut with %s, says how to read on, and nothing of it is lost', (_what, output) => {
    const pieces = new Map<string, string>()
    let from = 0
    for (let part = 0; ; part++) {
      const shown = fitAnswer(output, { from, readOn }) as Json
      expect(tokensOf(shown)).toBeLessThan(25_000)
      const { places, next, read_on } = shown['left_out'] as {
        places: { at: string; from: number; to: number; of: number }[]
        next?: number
        read_on?: string
      }
      for (const { at: pointer } of places) {
        const text = at(shown, ...pointer.slice(1).split('/')) as string
        pieces.set(pointer, (pieces.get(pointer) ?? '') + text)
      }
      if (next === undefined) break
      expect(read_on).toBe(`go on at ${next}`)
      expect(part).toBeLessThan(40)
      from = next
    }
    for (const [pointer, text] of pieces) {
      const whole = at(output, ...pointer.slice(1).split('/'))
      expect(text, pointer).toBe(typeof whole === 'string' ? whole : JSON.stringify(whole))
    }
    expect(pieces.size).toBeGreaterThan(0)
  })

  it('is never longer than a client takes, whatever it is made of', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.integer({ min: 1, max: 2000 }).map((count) => 'tea ü 茶 😀"\\'.repeat(count)),
    )
    const answer = fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }),
      fc.oneof(leaf, fc.array(leaf, { maxLength: 5 })),
      {
        maxKeys: 6,
      },
    )
    fc.assert(
      fc.property(answer, (output) => {
        expect(tokensOf(fitAnswer(output, { from: 0, readOn }))).toBeLessThan(25_000)
      }),
      { numRuns: 10 },
    )
  })
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cleanJson, cleanLine, cleanText } from '../../../../src/market/sellers/words.ts'

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/u

it.each([
  ['a right-to-left override', 'abc\u202edef', 'abcdef'],
  ['characters of no width', 'pay\u200bpal\ufeff', 'paypal'],
  ['tags that hide a sentence', 'hi\u{e0049}\u{e0067}', 'hi'],
  ['control characters', 'a\u0000\u001b[31mb', 'a[31mb'],
  ['HTML, which stays text', '<script>x</script>', '<script>x</script>'],
  ['half of a character', 'a\ud800b', 'a\ufffdb'],
  ['towers of marks', `a${'\u0301'.repeat(40)}`, 'á\u0301\u0301\u0301'],
  ['spaces of many kinds', 'a\u00a0\u2003  b', 'a b'],
])('cleans a line of %s', (_, text, clean) => {
  expect(cleanLine(text, 80)).toBe(clean)
})

it('keeps paragraphs, and cuts by characters', () => {
  expect(cleanText('a\r\n\r\n\r\n\u2028b\t c ', 80)).toBe('a\n\nb  c')
  expect(cleanLine('👩🏽‍🚀👩🏽‍🚀', 1)).toBe('👩')
})

it('joins what stood on either side of a hidden character, as it is once that is gone', () => {
  expect(cleanLine('e\0\u0301', 80)).toBe('\u00e9')
  const clean = cleanText('\u1a75\0\u0316', 2)
  expect(cleanText(clean, 2)).toBe(clean)
})

it('leaves nothing that is not seen, whatever comes in, and nothing more the second time', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.integer({ min: 1, max: 50 }),
      (text, max) => {
        const clean = cleanText(text, max)
        expect(clean.replaceAll('\n', '')).not.toMatch(HIDDEN)
        expect([...clean].length).toBeLessThanOrEqual(max)
        expect(cleanText(clean, max)).toBe(clean)
      },
    ),
  )
})

it('cleans what a schema says, and refuses names and constants that hide something', () => {
  expect(cleanJson({ description: 'x\u202e', type: 'object' })).toEqual({ description: 'x', type: 'object' })
  expect(cleanJson({ properties: { 'a\u200b': {} } })).toBeUndefined()
  expect(cleanJson({ const: 'a\u200b' })).toBeUndefined()
  expect(cleanJson({ enum: ['a', 'b\nc'] })).toEqual({ enum: ['a', 'b\nc'] })
})

// The text normaliser: shortcuts for ordinary text must not be seen in what comes out.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanText, collapseSpaces, countInvisible, countWords } from '../../../src/outcomes/extract/text.ts'

describe('words', () => {
  it.each([
    ["don't stop", 2],
    ['a--b a-b a- -b', 5],
    ['1,000.5 percent.', 2],
    ['l’été — naïve…', 2],
    ['日本語', 3],
    ['كتاب جديد', 2],
    ['', 0],
  ])('of %j are %i', (text, words) => {
    expect(countWords(text)).toBe(words)
  })

  it('of Latin text are as many as beside another script, where each character is looked up', () => {
    const latin = fc.string({ unit: fc.constantFrom(...'aZ9é’\'.,- —\n(ß…·ª"') })
    fc.assert(
      fc.property(latin, (text) => {
        expect(countWords(text)).toBe(countWords(`${text} ع`) - 1)
      }),
    )
  })
})

describe('clean text', () => {
  it.each([
    ['line ends', 'a\r\nb\rc\u0085d\u2028e', 'a\nb\nc\nd\ne'],
    ['what nobody sees', 'a\u200Bb\u202Ec\u{E0041}d\u00ADe\u0000f', 'abcdef'],
    ['letters and marks apart', 'e\u0301', '\u00E9'],
    ['half a pair', 'a\uD800b', 'a\uFFFDb'],
    ['joiners of emoji and of Persian', '👩\u200D💻 می\u200Cخواهم', '👩\u200D💻 می\u200Cخواهم'],
  ])('has its rule for %s', (_, text, clean) => {
    expect(cleanText(text)).toBe(clean)
  })

  it('has one space where there is white space', () => {
    expect(collapseSpaces(' a  b\tc \n d\u00A0e ')).toBe('a b c d e')
  })
})

it('counts invisible characters by kind', () => {
  expect(countInvisible('a\u200B\uFEFF\u206A\u202E\u2069\u{E0041}\u{E0101}\u{E0FFF}\uDB40b')).toEqual({
    zeroWidth: 3,
    bidi: 2,
    tags: 2,
  })
})

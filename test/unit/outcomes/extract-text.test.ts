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

  it('holds nothing that is invisible, but what emoji, Persian and Indic need', () => {
    const invisible = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cs}]/u
    const left = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => {
      const character = String.fromCodePoint(code)
      return invisible.test(character) && invisible.test(cleanText(`a${character}b`))
    })
    // Mongolian selectors of letters, the two joiners, the two looks of emoji.
    expect(left).toEqual([0x180b, 0x180c, 0x180d, 0x180f, 0x200c, 0x200d, 0xfe0e, 0xfe0f])
  })

  it.each([
    ['the joiners that stay', '\u200C\u200D\u200D\u200C\u200C'],
    ['selectors of emoji', '\uFE0E\uFE0F\uFE0F\uFE0E'],
    ['both, cut apart by what goes', '\u200C\u200B\uFE0F\u{E0041}\u200D\u2065\u200C'],
  ])('has no message in %s', (_, message) => {
    expect(cleanText(`a${message}b`)).toBe('ab')
  })

  it('has a space where a letter is as wide as one and blank', () => {
    expect(cleanText('a\u3164b\uFFA0c')).toBe('a b c')
  })

  it('keeps thirty marks on a letter, which hundreds of thousands would take minutes to sort', () => {
    const piled = cleanText(`e${'\u0323\u0301'.repeat(250_000)} e${'\u0301\u200B\u0323'.repeat(250_000)}`)
    expect(piled.split(' ').map((word) => word.normalize('NFD').length)).toEqual([31, 31])
  })

  it('has one space where there is white space', () => {
    expect(collapseSpaces(' a  b\tc \n d\u00A0e ')).toBe('a b c d e')
  })
})

it('counts invisible characters by kind', () => {
  expect(
    countInvisible('a\u200B\uFEFF\u206A\u202E\u2069\u{E0041}\u{E0101}\u{E0FFF}\u{E1000}\uDB40\u200Fb'),
  ).toEqual({
    zeroWidth: 3,
    bidi: 2,
    tags: 3,
  })
})

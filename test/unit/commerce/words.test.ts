// Many words looked for in one pass: the same answer as of one search for each.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWordFinder } from '../../../src/commerce/secrets/words.ts'

const WORDS = [
  'he',
  'she',
  'hers',
  'his',
  'abab',
  'bab',
  'b',
  'sk_',
  'SK-',
  '://',
  '.',
  '-----BEGIN ',
  '[inst',
]
const find = createWordFinder(WORDS)

describe('words in a text', () => {
  it.each<[string, string[]]>([
    ['ushers', ['he', 'hers', 'she']],
    ['ABAB', ['abab', 'b', 'bab']],
    ['ababab', ['abab', 'b', 'bab']],
    ['Sk-x sK_', ['SK-', 'sk_']],
    ['a------BEGIN x', ['-----BEGIN ', 'b']],
    ['h e', []],
    ['', []],
  ])('of %j are those that stand in it, one inside another too, in either case', (text, held) => {
    const { has } = find(text)
    expect(WORDS.filter(has).toSorted()).toEqual(held.toSorted())
  })

  it('are those that a search for each alone finds', () => {
    const part = fc.oneof(
      fc.constantFrom(...WORDS, ...WORDS.map((word) => word.toUpperCase()), 'hi', 'ab', '--', 'é', '\u212a'),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        const { has, hasNumbered } = find(text)
        // Letters beyond ASCII have no other case here.
        const plain = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
        for (const word of WORDS) {
          expect(has(word), word).toBe(plain.includes(word.toLowerCase()))
          expect(hasNumbered(find.numberOf(word)), word).toBe(has(word))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('are told from what is not ASCII', () => {
    expect(find('plain \u007f').isAscii).toBe(true)
    expect(find('plain \u0080').isAscii).toBe(false)
    expect(find('\u{1f3f4} then plain').isAscii).toBe(false)
  })
})

// What is passed over here is never read as numbers, so that each way to write a byte is tried at its bounds.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findNumberChains } from '../../../../src/egress/leak/number-chains.ts'

const find = (text: string, before = 0) =>
  findNumberChains(Buffer.from(`${'~'.repeat(before)}${text}`, 'latin1').subarray(before), 12, () => {})

/** Each writes a byte of a text. */
const notations = {
  hexadecimal: [
    (byte: number) => byte.toString(16).padStart(2, '0'),
    (byte: number) => `0x${byte.toString(16)}`,
    (byte: number) => `${byte.toString(16)}h`,
    (byte: number) => `U+${byte.toString(16).padStart(4, '0')}`,
  ],
  decimal: [
    String,
    (byte: number) => `${byte}u8`,
    (byte: number) => byte.toString(8).padStart(3, '0'),
    (byte: number) => `0o${byte.toString(8)}`,
  ],
  binary: [(byte: number) => byte.toString(2).padStart(8, '0'), (byte: number) => `0b${byte.toString(2)}`],
} as const
const ways = Object.entries(notations).flatMap(([notation, writes]) =>
  writes.map((write) => ({ notation, write })),
)

describe('a chain of numbers', () => {
  it('is found wherever twelve bytes of a text are written one by one, in any notation and with words between', () => {
    const texts = fc.array(fc.integer({ min: 0x20, max: 0x7e }), { minLength: 12, maxLength: 20 })
    const between = fc.stringMatching(/^[ ,(&\n;]{1,4}(?:and)?[ ,(&\n;]{1,2}(?:Chr)?[ ,(&\n;]{1,20}$/)
    fc.assert(
      fc.property(texts, between, fc.constantFrom(...ways), fc.nat(3), (bytes, separator, way, before) => {
        // The `U` of a code point is a word itself.
        const parts = way.write(0).startsWith('U') ? separator.replace('and', '') : separator
        const numbers = bytes.map(way.write).join(parts)
        const text = `{"name":"a text", "${numbers}"`
        const { regions, notations: found } = find(text, before)
        expect([...found]).toContain(way.notation)
        const start = text.indexOf(numbers)
        const covers = regions.some((region) => region.start <= start && region.end >= start + numbers.length)
        expect(covers).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it('is not what dates, counts and links make of their numbers, or eleven bytes', () => {
    const ordinary = JSON.stringify({
      id: 1_000_123,
      url: 'https://api.example.com/items/123?page=12&per_page=30',
      created_at: '2011-01-26T19:01:12Z',
      sha: '356a192b7913b04c54574d18c28d46e6395428ab',
    })
    const listed = '{"id":12,"name":"a"},'.repeat(99)
    for (const text of [ordinary.repeat(20), listed, Array(11).fill('103').join(',')])
      expect(find(text)).toEqual({ regions: [], notations: new Set() })
  })

  it('comes in regions that follow one another, whichever notation began first', () => {
    const token = fc.oneof(
      fc.stringMatching(/^[\da-fx]{1,8}$/),
      fc.stringMatching(/^[01]{8}$/),
      fc.constant('word'),
    )
    const gap = fc.constantFrom(' ', ', ', ' '.repeat(20), ' '.repeat(36), ' '.repeat(200))
    fc.assert(
      fc.property(fc.array(fc.tuple(token, gap), { maxLength: 120 }), (parts) => {
        const text = parts.flat().join('')
        const { regions } = find(text)
        let end = -1
        for (const region of regions) {
          expect(region.start).toBeGreaterThan(end)
          end = region.end
        }
        expect(end).toBeLessThanOrEqual(text.length)
      }),
    )
  })

  it('is looked for in a few bytes, wherever they stand in memory', () => {
    const memory = Buffer.from('10,20,30,40,50')
    for (let start = 0; start < 4; start++)
      for (let length = 0; length < 5; length++) {
        const bytes = memory.subarray(start, start + length)
        expect(findNumberChains(bytes, 12, () => {}).regions).toEqual([])
      }
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markText } from '../../../src/doors/site/components/inspect/marks.ts'

const range = fc.tuple(fc.nat(40), fc.nat(12)).map(([from, length]) => ({ from, to: from + length + 1 }))

describe('a marked text', () => {
  it('is the text, whatever is marked in it', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 40, unit: fc.constantFrom('a', '"', '\n', 'é') }),
        fc.array(range),
        (text, ranges) => {
          const { lines } = markText(
            text,
            ranges.map((range, finding) => ({ range, finding })),
          )
          expect(lines.map((pieces) => pieces.map((piece) => piece.text).join('')).join('\n')).toBe(text)
        },
      ),
    )
  })

  it('marks exactly the letters of each range, however they overlap', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 5 }), (ranges) => {
        const text = Array.from({ length: 60 }, (_, at) => String.fromCharCode(0x100 + at)).join('')
        const { lines } = markText(
          text,
          ranges.map((range, finding) => ({ range, finding })),
        )
        for (const [finding, { from, to }] of ranges.entries()) {
          const marked = lines.flat().filter(({ findings }) => findings.includes(finding))
          expect(marked.map((piece) => piece.text).join('')).toBe(text.slice(from, to))
          expect(marked.filter(({ begins }) => begins.includes(finding))).toHaveLength(1)
        }
      }),
    )
  })

  it('never shows a letter of what is masked, also where a mark cuts it', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 3 }), fc.array(range, { maxLength: 3 }), (ranges, hidden) => {
        const text = Array.from({ length: 60 }, (_, at) => String.fromCharCode(0x100 + at)).join('')
        const { lines } = markText(
          text,
          ranges.map((range, finding) => ({ range, finding })),
          hidden.map((range) => ({ range, words: '•' })),
        )
        const shown = lines
          .flat()
          .map((piece) => piece.text)
          .join('')
        const secret = new Set(hidden.flatMap(({ from, to }) => text.slice(from, to).split('')))
        for (const letter of text) expect(shown.includes(letter)).toBe(!secret.has(letter))
      }),
    )
  })

  it('says how many lines it leaves out of a very long text', () => {
    const { lines, left } = markText('\n'.repeat(5000), [])
    expect([lines.length, left]).toEqual([1500, 3501])
  })
})

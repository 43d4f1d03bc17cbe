// Styled letters among bytes that are no text: only every other word is looked at, so that each place and each length counts.
import { expect, it } from 'vitest'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { readCompatibility } from '../../../../src/egress/leak/compatibility.ts'

/** Of three bytes in UTF-8, and of four. */
const LETTERS = [
  ['Ｋ', 'K'],
  ['𝐊', 'K'],
] as const
const NO_TEXT = 0x80

const read = (bytes: Buffer) => {
  const content = readCompatibility(bytes, false, createBudget(1e6))
  return content && Buffer.from(content.bytes).toString('latin1')
}

const fours = Array.from({ length: 16 }, (_, bits) =>
  Array.from({ length: 4 }, (_, place) => LETTERS[(bits >> place) & 1] ?? LETTERS[0]),
)

it.each([0, 1, 2, 9])('finds four letters at each place, with %i bytes behind them', (behind) => {
  const missed: string[] = []
  for (const four of fours)
    for (let before = 1; before <= 17; before++) {
      const body = Buffer.concat([
        Buffer.alloc(before, NO_TEXT),
        Buffer.from(four.map(([styled]) => styled).join('')),
        Buffer.alloc(behind, NO_TEXT),
      ])
      if (!read(body)?.includes('KKKK'))
        missed.push(`${before} bytes, ${four.map(([styled]) => styled).join('')}`)
    }
  expect(missed).toEqual([])
})

it('finds four in memory that begins at any place', () => {
  const body = Buffer.concat([Buffer.alloc(3, NO_TEXT), Buffer.from('ＫＫＫＫ')])
  for (let at = 0; at < 8; at++) {
    const memory = Buffer.alloc(at + body.length)
    body.copy(memory, at)
    expect(read(memory.subarray(at))).toContain('KKKK')
  }
})

it('takes three for chance', () => {
  expect(read(Buffer.concat([Buffer.alloc(5, NO_TEXT), Buffer.from('ＫＫＫ')]))).toBeUndefined()
})

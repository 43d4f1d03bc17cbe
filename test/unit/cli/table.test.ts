// Tables on a terminal: no line is wider than it, ids stay whole while they can, and nothing in a cell moves the cursor.
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { formatTable, shorten, terminalWidth } from '../../../src/cli/table.ts'

const ID = 'clm_1m8kmat8hnnkj6qsjpgja527vnzc4msn77y'
const rows = [
  { claim_id: ID, state: 'settled', payer: `0x${'ab'.repeat(20)}`, label: '茶'.repeat(20), reason: null },
]
const COLUMNS = ['claim_id', 'state', 'payer', 'label', 'reason']
const widest = (text: string) => Math.max(...text.split('\n').map((line) => stringWidth(line)))

describe('a table', () => {
  it('is whole where nobody says how wide a line may be', () => {
    const whole = formatTable(rows, COLUMNS)
    expect(whole).toContain(`0x${'ab'.repeat(20)}`)
    expect(whole).toContain('茶'.repeat(20))
  })

  it.each([120, 100, 88])('of %i cells shortens the widest in their middle, and no id', (width) => {
    const text = formatTable(rows, COLUMNS, width)
    expect(widest(text)).toBe(width)
    expect(text.split('\n')).toHaveLength(2)
    expect(text).toContain(ID)
    expect(text).toMatch(/0xa[ab]*…[ab]+/)
  })

  it('counts wide characters as two cells, and cuts none in half', () => {
    expect(shorten('茶茶茶茶', 8)).toBe('茶茶茶茶')
    expect(shorten('茶茶茶茶', 7)).toBe('茶…茶茶')
    expect(shorten('👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 5)).toBe('👨‍👩‍👧‍👦…👨‍👩‍👧‍👦')
    const text = formatTable([{ a: '茶', b: 'x' }], ['a', 'b'])
    expect(text).toBe('A   B\n茶  x')
  })

  it('has one field a line where an id leaves no room, and the id is whole while it can be', () => {
    const text = formatTable([...rows, ...rows], COLUMNS, 60)
    expect(text.split('\n')).toHaveLength(11)
    expect(text).toContain(`claim_id  ${ID}\n`)
    expect(widest(text)).toBeLessThanOrEqual(60)
  })

  it('is never wider than the terminal, and nothing in it moves the cursor', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.constantFrom('\u001b[2J', '\t\t\t', 'a\r\nb', '\ud800', '\u202eabc', ID, '茶'.repeat(40)),
    )
    const row = fc.record({ claim_id: text, label: text, payer: text, n: fc.integer() })
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 10, max: 200 }),
        (all, width) => {
          const shown = formatTable(all, ['claim_id', 'label', 'payer', 'n'], width)
          expect(widest(shown)).toBeLessThanOrEqual(width)
          expect(shown.replaceAll('\n', '')).not.toMatch(
            /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u,
          )
        },
      ),
      { numRuns: 100 },
    )
  })

  it('is as wide as it wants in a pipe, and with --wide', () => {
    const terminal = { isTTY: true, columns: 80 }
    expect(terminalWidth({}, terminal)).toBe(80)
    expect(terminalWidth({ wide: true }, terminal)).toBeUndefined()
    expect(terminalWidth({}, { columns: 80 })).toBeUndefined()
    // A terminal that does not say how wide it is.
    expect(terminalWidth({}, { isTTY: true, columns: 0 })).toBeUndefined()
  })
})

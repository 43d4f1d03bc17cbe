// The pass reads two bytes at once; here the same is said a byte at a time, without regard to speed.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { squeeze } from '../../../../src/egress/leak/squeeze.ts'

const AROUND = 12
const squeezed = (bytes: Uint8Array, marksAll = false) =>
  squeeze(bytes, { around: AROUND, marksAll }, new Uint8Array(bytes.length + 1), createBudget(Infinity))
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const lettersOf = (text: string) => text.replaceAll(/[^a-z0-9]/gi, '').toLowerCase()

/** Letters of escapes that stand for none are left out, and names of members go to a text of their own, the last of them first. */
function squeezePlainly(text: string): { text: string; names: string } {
  let values = ''
  let names = ''
  let lastClose = -1
  for (let at = 0; at < text.length; at++) {
    const rest = text.slice(at)
    if (/^\\(?:[nrt"/]|\\(?![a-z0-9\\]))/i.test(rest)) at++
    else if (rest.startsWith(':')) {
      // `"a":`, `"a" :`, and the same in apostrophes.
      const quote = /["'](?= ?$)/.exec(text.slice(0, at))
      if (quote === null || quote.index === 0) continue
      const start = text.lastIndexOf(quote[0], quote.index - 1)
      if (start < Math.max(0, lastClose)) continue
      lastClose = quote.index
      const { length } = lettersOf(text.slice(start + 1, quote.index).replaceAll(/\\[nrt]/g, ''))
      if (length > values.length) continue
      names = values.slice(values.length - length) + names
      values = values.slice(0, values.length - length)
    } else values += lettersOf(text[at] ?? '')
  }
  return { text: values, names }
}

const ordinary = fc.string({
  unit: fc.constantFrom(
    ...'ab1Z09_- ,.{}[]"":::\\\\nrt/%&=+;#x\n\r\0é',
    '":"',
    '","a":',
    '"a" :',
    "'",
    "'a':",
    '\\n',
    '\\"',
    '\\u0041',
  ),
  maxLength: 120,
  size: 'max',
})

describe('what squeezing leaves', () => {
  it('is every letter and digit but for plain escapes, with the names of members apart', () => {
    fc.assert(
      fc.property(ordinary, fc.nat(3), (text, before) => {
        const memory = Buffer.from(`${'~'.repeat(before)}${text}`, 'latin1')
        const bytes = memory.subarray(before)
        const { text: values, names } = squeezed(bytes)
        expect({ text: textOf(values), names: textOf(names) }).toEqual(squeezePlainly(textOf(bytes)))
      }),
      { numRuns: 3000 },
    )
  })

  it('comes with each run of at least twenty-two digits of base64', () => {
    const pieces = fc.array(
      fc.tuple(fc.stringMatching(/^[\w+/\r\n-]{0,40}$/), fc.constantFrom('"', ' ', '"."', '==', '')),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(pieces, (list) => {
        const text = list.flat().join('')
        const runs = squeezed(Buffer.from(text)).runs.map(({ start, end }) => text.slice(start, end))
        expect(runs).toEqual(text.match(/[\w+/\r\n-]{22,}/g) ?? [])
      }),
      { numRuns: 500 },
    )
  })
})

describe('an escape is marked wherever it stands', () => {
  const escapes = [
    '%41',
    '%u0041',
    '&#65;',
    '&amp;',
    '&lt',
    '=41',
    '=\n',
    '+AEE-',
    '\\u0041',
    '\\x41',
    '\\101',
    '\\\\n',
    '\0',
  ]
  it.each(escapes)('%j', (escape) => {
    for (const before of ['', 'a', '"', 'ab', '":', 'a:', '""', '\\n', 'a\\n', '%', '&', '= ', '+'])
      for (const after of ['', ' ', 'zz']) {
        const bytes = Buffer.from(`${before}${escape}${after}`)
        const { escapes: regions } = squeezed(bytes)
        const isMarked = regions.some(
          ({ start, end }) =>
            start <= before.length && end >= Math.min(bytes.length, before.length + escape.length),
        )
        expect(isMarked, JSON.stringify(before)).toBe(true)
      }
  })

  it('of what is no letter only where little else is in a secret', () => {
    for (const text of ['\\/', 'a\\"', 'ab\\n', '\\ ']) {
      expect(squeezed(Buffer.from(text)).escapes).toEqual([])
      expect(squeezed(Buffer.from(text), true).escapes).toHaveLength(1)
    }
  })

  it('and CSS reads it differently where two hexadecimal digits follow', () => {
    for (const [text, hasCss] of [
      ['\\41', true],
      ['a\\5fb', true],
      ['\\u0041', false],
      ['\\\\n41', false],
    ] as const)
      expect(squeezed(Buffer.from(text)).hasCss, text).toBe(hasCss)
  })
})

it('moves no letters for a name whose beginning is in another one', () => {
  const { text, names } = squeezed(Buffer.from(`K1 "x'AB":CD':`))
  expect([textOf(text), textOf(names)]).toEqual(['k1cd', 'xab'])
})

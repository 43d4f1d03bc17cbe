import { describe, expect, it } from 'vitest'
import { locateIn } from '../../../../src/cli/testing/places.ts'

const text = `{
  "target": "https://a.example",
  "headers": {
    "PAYMENT-SIGNATURE": "e30=", "a/b": "x"
  },
  "body": "{\\"amount\\": 1}"
}
`
const at = (place: string | null) => {
  const { line, column, endLine, endColumn } = locateIn(text)(place)
  return `${line}:${column}-${endLine}:${endColumn}`
}

describe('a place of a report in its file', () => {
  it('is where the name of the member stands', () => {
    expect(at('/target')).toBe('2:3-2:11')
    expect(at('/headers/PAYMENT-SIGNATURE')).toBe('4:5-4:24')
    expect(at('/headers/a~1b')).toBe('4:34-4:39')
  })

  it('is in the line that it begins, without indent and at every place of the file', () => {
    const flat = locateIn('{\n"target": "x",\n"body":\n1\n}')
    expect([flat('/target'), flat('/body')]).toEqual([
      { line: 2, column: 1, endLine: 2, endColumn: 9 },
      { line: 3, column: 1, endLine: 3, endColumn: 7 },
    ])
  })

  it('is that of what holds it where it is encoded, hidden or missing', () => {
    expect(at('/headers/PAYMENT-SIGNATURE#/accepted/amount')).toBe('4:5-4:24')
    expect(at('/body#/amount')).toBe('6:3-6:9')
    expect(at('/headers/*')).toBe('3:3-3:12')
    expect(at('/nothing/of/it')).toBe('1:1-1:2')
    expect(at(null)).toBe('1:1-1:2')
  })

  it('is the beginning of a text that is no JSON', () => {
    expect(locateIn('{"a":')('/a')).toEqual({ line: 1, column: 1, endLine: 1, endColumn: 2 })
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeAt, readJsonRanges } from '../../../src/lib/json-ranges.ts'

/** Every pointer into a value, and what stands there. */
function* placesOf(value: unknown, at = ''): Generator<[pointer: string, value: unknown]> {
  yield [at, value]
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value))
    yield* placesOf(inner, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

const sliceAt = (text: string, pointer: string) => {
  const node = nodeAt(readJsonRanges(text)!, pointer)
  return node && text.slice(node.from, node.to)
}

describe('ranges of JSON', () => {
  it('hold at every pointer the text of the value that a parser finds there, however it is laid out', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.constantFrom(undefined, 1, 4, '\t', ' \r\n '),
        (value, indent) => {
          const text = ` ${JSON.stringify(value, undefined, indent)}\n`
          const root = readJsonRanges(text)!
          for (const [pointer, expected] of placesOf(JSON.parse(text))) {
            const node = nodeAt(root, pointer)!
            expect(JSON.parse(text.slice(node.from, node.to))).toEqual(expected)
            const name = node.name && JSON.parse(text.slice(node.name.from, node.name.to))
            if (name !== undefined)
              expect(pointer.endsWith(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)).toBe(true)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([
    ['escapes in names', '{"a\\u002fb": {"~": [1, 2]}}', '/a~1b/~0/1', '2'],
    ['quotes and backslashes in strings', '{"a":"\\"}\\\\","b":3}', '/b', '3'],
    ['the last of a repeated member', '{"a":1,"a":[2]}', '/a', '[2]'],
    ['an empty name', '{"":{"":0}}', '//', '0'],
    ['a name of every object', '{"__proto__":7,"toString":8}', '/__proto__', '7'],
    ['space around everything', ' { "a" : [ 1 ,\n\t2 ] } ', '/a/1', '2'],
    ['a number with an exponent', '[-1.5e+3]', '/0', '-1.5e+3'],
  ])('find %s', (_, text, pointer, slice) => {
    expect(sliceAt(text, pointer)).toBe(slice)
  })

  it.each(['/a/2', '/b', '/a/-', 'a', '/a/0/c'])('are none at %s, where nothing is', (pointer) => {
    expect(nodeAt(readJsonRanges('{"a":[0,1]}')!, pointer)).toBeUndefined()
  })

  it.each(['', '{', '{"a":1}x', "{'a':1}", 'POST / HTTP/1.1', '['.repeat(100_000)])(
    'are none of what is no JSON',
    (text) => {
      expect(readJsonRanges(text)).toBeUndefined()
    },
  )

  it('are none of what is nested too deeply, and cost no stack', () => {
    expect(readJsonRanges('['.repeat(5000) + ']'.repeat(5000))).toBeUndefined()
  })
})

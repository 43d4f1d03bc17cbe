// What changed between two texts, as the history of a policy shows it.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { diffLines } from '../../../src/doors/console/policies/diff.ts'

const shown = (before: string, after: string) =>
  diffLines(before, after).map(({ is, text }) => `${{ same: ' ', gone: '-', new: '+' }[is]}${text}`)

it('shows the lines that went before those that came', () => {
  expect(shown('{\n  "a": 1,\n  "b": 2\n}\n', '{\n  "a": 1,\n  "b": 3,\n  "c": 4\n}\n')).toEqual([
    ' {',
    '   "a": 1,',
    '-  "b": 2',
    '+  "b": 3,',
    '+  "c": 4',
    ' }',
  ])
})

it('is made of both texts, whatever they are', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const without = (left: string) => lines.filter(({ is }) => is !== left).map((line) => line.text)
      const linesOf = (whole: string) => whole.replace(/\n$/, '').split('\n')
      expect(without('new')).toEqual(linesOf(before))
      expect(without('gone')).toEqual(linesOf(after))
    }),
  )
})

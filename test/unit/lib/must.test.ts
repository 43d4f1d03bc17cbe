import { expect, it } from 'vitest'
import { must } from '../../../src/lib/must.ts'

it.each([0, '', false, Number.NaN])('an invariant holds for %j', (value) => {
  expect(must(value, 'the value')).toBe(value)
})

it.each([undefined, null])('a broken invariant is named: %s', (value) => {
  expect(() => must(value, 'the last of the list')).toThrow(new TypeError('missing: the last of the list'))
})

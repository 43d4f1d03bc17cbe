import { expect, it } from 'vitest'
import { toTimestamp, toTimestampOrNull } from '../../../src/lib/timestamp.ts'

it.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [1_790_000_000_007, '2026-09-21T14:13:20.007Z'],
  [-1, '1969-12-31T23:59:59.999Z'],
])('%d is written in UTC with its milliseconds', (time, text) => {
  expect(toTimestamp(time)).toBe(text)
})

it('refuses what is no time, as dates do', () => {
  expect(() => toTimestamp(Number.NaN)).toThrow(RangeError)
})

it('says nothing of a moment that has not come', () => {
  expect(toTimestampOrNull(null)).toBeNull()
  expect(toTimestampOrNull(0)).toBe('1970-01-01T00:00:00.000Z')
})

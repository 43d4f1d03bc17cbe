import { expect, it } from 'vitest'
import { readTraceparent } from '../../../src/doors/http/request.ts'

it.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', false],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', false],
  ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', false],
  [['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'], false],
  [undefined, false],
])('of traceparent %s: valid is %s', (value, isValid) => {
  expect(readTraceparent(value)).toBe(isValid ? value : undefined)
})

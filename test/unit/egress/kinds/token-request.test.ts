import { expect, it } from 'vitest'
import { ExchangeFailed } from '../../../../src/egress/kinds/failure.ts'
import { checkToken } from '../../../../src/egress/kinds/token-request.ts'

it.each([
  ['of 8 characters is taken', true, 'k'.repeat(8)],
  ['of 7 is refused', false, 'k'.repeat(7)],
  ['of 8192 is taken', true, 'k'.repeat(8_192)],
  ['of 8193, which takes long to look for in an answer, is refused', false, 'k'.repeat(8_193)],
  ['with a space is refused', false, 'kkkkkkkk k'],
])('a token %s', (_, isTaken, token) => {
  const check = () => checkToken(token, 'auth.example.com')
  if (isTaken) expect(check()).toBe(token)
  else expect(check).toThrow(ExchangeFailed)
})

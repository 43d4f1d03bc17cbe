import { describe, expect, it } from 'vitest'
import { oneKey, paidIdempotencyKey, withIdempotencyKey } from '../../../src/core/idempotency-key.ts'
import { egressFetch } from '../../../tools/egress-fetch.ts'
import { health } from '../../../tools/health.ts'

const input = { url: 'https://api.example.com/' }

describe('the key beside an input', () => {
  it.each<[string, unknown[], unknown]>([
    ['nowhere', [undefined, undefined], undefined],
    ['in one place', [undefined, 'a', undefined], 'a'],
    ['in every place', ['a', 'a', 'a'], 'a'],
  ])('is one when it stands %s', (_, presented, expected) => {
    expect(oneKey(...presented)).toBe(expected)
    expect(withIdempotencyKey(egressFetch, input, oneKey(...presented))).toEqual({
      ...input,
      ...(expected !== undefined && { idempotency_key: expected }),
    })
    expect(paidIdempotencyKey(oneKey(...presented))).toBe(expected)
  })

  it('is refused when it stands twice with different values, of a tool that takes one and of one that is paid', () => {
    for (const presented of [
      ['a', 'b'],
      ['a', undefined, 'b'],
      ['a', null],
    ]) {
      const key = oneKey(...presented)
      expect(() => withIdempotencyKey(egressFetch, input, key)).toThrow(
        expect.objectContaining({ code: 'input_conflict' }),
      )
      expect(() => paidIdempotencyKey(key)).toThrow(expect.objectContaining({ code: 'input_conflict' }))
    }
  })

  it('is refused when it is null, which would be lost where null is leaving a member out', () => {
    for (const nullIsAbsent of [true, false])
      expect(() => withIdempotencyKey(egressFetch, input, null, nullIsAbsent)).toThrow(
        expect.objectContaining({ code: 'input_wrong_type' }),
      )
  })

  it('counts beside a null in the input only where null is leaving a member out', () => {
    const withNull = { ...input, idempotency_key: null }
    expect(withIdempotencyKey(egressFetch, withNull, 'a', true)).toEqual({ ...input, idempotency_key: 'a' })
    expect(() => withIdempotencyKey(egressFetch, withNull, 'a', false)).toThrow(
      expect.objectContaining({ code: 'input_conflict' }),
    )
  })

  it('is no matter to a tool that neither takes one nor is paid', () => {
    expect(withIdempotencyKey(health, {}, oneKey('a', 'b'))).toEqual({})
  })
})

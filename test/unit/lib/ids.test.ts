import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstIdAt, newId, timeOfId } from '../../../src/lib/ids.ts'

const time = fc.integer({ min: 0, max: 32 ** 9 - 1 })

describe('ids', () => {
  it('are a prefix and 35 characters of Crockford base32', () => {
    expect(newId('rcp')).toMatch(/^rcp_[0-9a-hjkmnp-tv-z]{35}$/)
  })

  it('sort by the time they were made', () => {
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a < b)
        expect(newId('att', a) < newId('att', b)).toBe(true)
      }),
    )
  })

  it('say when they were made', () => {
    fc.assert(
      fc.property(time, (at) => {
        expect(timeOfId(newId('att', at))).toBe(at)
        expect(timeOfId(firstIdAt('att', at))).toBe(at)
      }),
    )
    for (const none of ['', 'att_', 'att_01234567', 'att_01234567i0', '0123456789'])
      expect(timeOfId(none)).toBeUndefined()
  })

  it('are bounded by a moment that no id can name, too', () => {
    for (const at of [Date.parse('9999-12-31T00:00:00Z'), 8.64e15])
      expect(firstIdAt('att', at) > newId('att')).toBe(true)
    expect(firstIdAt('att', -1) < newId('att', 0)).toBe(true)
  })

  it('of one millisecond differ in their random part only', () => {
    const ids = Array.from({ length: 1000 }, () => newId('rcp', 1_800_000_000_000))
    expect(new Set(ids).size).toBe(1000)
    expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(1)
    // Every place of the random part takes every character: no bits are lost.
    for (let place = 13; place < 39; place++) expect(new Set(ids.map((id) => id[place])).size).toBe(32)
  })
})

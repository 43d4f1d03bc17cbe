import { describe, expect, it } from 'vitest'
import { toIsoTime } from '../../../src/outcomes/extract/times.ts'

describe('times of a page', () => {
  it.each<[string, string | undefined]>([
    ['2026-03-04', '2026-03-04'],
    ['2026-03', '2026-03'],
    ['2026-03-04T05:06:07Z', '2026-03-04T05:06:07Z'],
    ['2026-03-04T05:06:07.8+0300', '2026-03-04T05:06:07.8+03:00'],
    [' 2026-03-04 05:06 ', '2026-03-04T05:06'],
    ['Wed, 04 Mar 2026 05:06:07 GMT', '2026-03-04T05:06:07Z'],
    ['4 Mar 2026 05:06 -0730', '2026-03-04T05:06-07:30'],
    ['March 4th, 2026', '2026-03-04'],
    ['4 March 2026', '2026-03-04'],
    ['03/04/2026', undefined],
    ['2026-13-04', undefined],
    ['2026-03-32', undefined],
    ['Smarch 4, 2026', undefined],
    ['March 40, 2026', undefined],
    ['yesterday', undefined],
    ['', undefined],
    ['1'.repeat(5000), undefined],
  ])('reads "%s" as %s', (stated, iso) => {
    expect(toIsoTime(stated)).toBe(iso)
  })
})

import { describe, expect, it } from 'vitest'
import { nearestTo } from '../../../src/lib/edit-distance.ts'

describe('the word that was meant', () => {
  const known = ['web', 'payments', 'egress', 'gateway_web_fetch', 'gateway_marketplace_search']
  it.each([
    ['webb', 'web'],
    ['payment', 'payments'],
    ['gateway_wbe_fecth', 'gateway_web_fetch'],
    ['gateway_marketplace_serach', 'gateway_marketplace_search'],
    // Four slips are the most, however long the word is, and two of five characters are another word.
    ['gateway_marktplac_serch', 'gateway_marketplace_search'],
    ['gatewy_marktplac_serc', undefined],
    ['bwbwb', undefined],
    ['', undefined],
  ])('for %j is %j', (wanted, expected) => {
    expect(nearestTo(wanted, known)).toBe(expected)
  })

  it('is not sought for long where a stranger sends what is no word', () => {
    // Counting every edit between these would take minutes.
    const many = Array.from({ length: 20 }, () => 'abab'.repeat(10_000))
    expect(nearestTo('aabb'.repeat(10_000), many)).toBeUndefined()
  })
})

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
    const many = Array.from({ length: 100 }, (_, at) => `gateway_some_tool_of_number_${at}`)
    const started = performance.now()
    for (let at = 0; at < 1000; at++) nearestTo(`gateway_${'xy'.repeat(60)}`, many)
    expect(performance.now() - started).toBeLessThan(500)
  })
})

import { describe, expect, it } from 'vitest'
import { createRegulars } from '../../../src/payments/regulars.ts'

const payment = (payer: string, network = 'eip155:8453') => ({ network, payer })

describe('regular buyers', () => {
  it('are of one network, until the first bad payment or for ten minutes after the last good one', () => {
    let now = 0
    const regulars = createRegulars(() => now)
    expect(regulars.has(payment('0xa'))).toBe(false)
    regulars.note(payment('0xa'), true)
    expect(regulars.has(payment('0xa'))).toBe(true)
    expect(regulars.has(payment('0xa', 'eip155:84532'))).toBe(false)
    now = 599_999
    expect(regulars.has(payment('0xa'))).toBe(true)
    now = 600_000
    expect(regulars.has(payment('0xa'))).toBe(false)
    regulars.note(payment('0xa'), true)
    regulars.note(payment('0xa'), false)
    expect(regulars.has(payment('0xa'))).toBe(false)
  })

  it('are forgotten in the order in which they were seen when there are too many', () => {
    const regulars = createRegulars(() => 0)
    for (let i = 0; i < 10_000; i++) regulars.note(payment(`0x${i}`), true)
    regulars.note(payment('0x0'), true)
    regulars.note(payment('0xnew'), true)
    expect(['0x0', '0x1', '0x2', '0xnew'].map((payer) => regulars.has(payment(payer)))).toEqual([
      true,
      false,
      true,
      true,
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { hasGoodChecksum } from '../../../src/lib/eip55.ts'

/** The examples of EIP-55. */
const GOOD = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

describe('the checksum of an address', () => {
  it.each(GOOD)('is that of %s, and of no other capitals', (address) => {
    expect(hasGoodChecksum(address)).toBe(true)
    expect(hasGoodChecksum(address.toLowerCase())).toBe(true)
    const swapped = address.replace(/[a-f]/, (letter) => letter.toUpperCase())
    expect(hasGoodChecksum(swapped)).toBe(false)
  })
})

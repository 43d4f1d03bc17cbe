import { describe, expect, it } from 'vitest'
import { allocate } from '../../../src/market/fee.ts'
import { DIGEST_AT_EXECUTE_ATOMIC, OWN_FEE, OWN_LISTING, OWN_NOTE } from '../../../src/market/own-listing.ts'
import { descriptors } from '../../../src/outcomes/descriptors.ts'

describe('our own listing', () => {
  it('costs 100000, of which 3000 are the fee and 97000 the proceeds', () => {
    const [route] = OWN_LISTING.document.routes
    expect(OWN_LISTING.document.routes).toHaveLength(1)
    expect(allocate(BigInt(route?.priceAtomic ?? ''), OWN_FEE)).toEqual({
      grossAtomic: 100_000n,
      platformFeeAtomic: 3_000n,
      sellerProceedsAtomic: 97_000n,
    })
  })

  it('says what the same digest costs at /v1/execute, as it is sold there', () => {
    expect(descriptors.find(({ id }) => id === 'feed-digest')?.amountAtomic).toBe(DIGEST_AT_EXECUTE_ATOMIC)
    expect(OWN_NOTE).toContain('2000 atomic units at /v1/execute')
  })
})

import { describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import { createSettledListings } from '../../../src/discovery/settled-listings.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { SettledSale } from '../../../src/payments/ports.ts'
import type { StoredSettledListing } from '../../../src/store/ports.ts'
import { acceptV2 } from '../../support/catalogue.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
const PAYEE = '0x00000000000000000000000000000000000c0ffee'
const PAYEE_IN_CAPITALS = '0x00000000000000000000000000000000000C0FFEE'
const BAZAAR = { info: { input: { type: 'http', method: 'GET' } }, schema: {} }

function setUp() {
  const clock = { now: NOW }
  const rows: StoredSettledListing[] = []
  const world = { isDown: false, isFull: false, addresses: ['93.184.216.34'] }
  const fail = () => {
    if (world.isDown) throw new Error('the store is away')
  }
  const settled = createSettledListings({
    store: {
      async noteSettledListing({ id, payee, item, now }) {
        fail()
        rows.push({ id, payee, item, settlements: 1, payers: 1, firstSettled: now, lastSettled: now })
        return !world.isFull
      },
      listSettledListings: async () => (fail(), [...rows]),
      forgetSettledListings: async () => (fail(), 0),
    },
    resolver: { resolve: async () => world.addresses },
    policy: createAddressPolicy([]),
    baseUrl: 'https://gateway.example.com',
    now: () => clock.now,
    log: createLogger('silent'),
  })
  const sell = (over: { url?: string; payer?: string; bazaar?: unknown; extensions?: object } = {}) => {
    const payment = {
      extensions: over.extensions ?? { bazaar: over.bazaar ?? BAZAAR },
      wire: new Secret({ x402Version: 2, resource: { url: over.url ?? 'https://shop.example.com/a' } }),
    }
    // Of a payment only these members are read.
    return settled.onSettled({
      payment: payment as unknown as SettledSale['payment'],
      requirements: acceptV2({ payTo: PAYEE_IN_CAPITALS }),
      payer: over.payer ?? '0xbuyer',
    })
  }
  return { clock, rows, world, settled, sell }
}

describe('a payment that was settled', () => {
  it('lists what it names, once the rows are read anew', async () => {
    const { clock, settled, sell } = setUp()
    expect(await settled.read()).toBe(false)
    expect(settled.listings()).toEqual([])
    expect(await sell()).toEqual({ bazaar: { status: 'success' } })
    expect(settled.isDue()).toBe(false)
    clock.now += 15_000
    expect(settled.isDue()).toBe(true)
    expect(await settled.read()).toBe(true)
    expect(settled.listings()).toMatchObject([
      {
        source: 'facilitator',
        entries: [
          { resource: 'https://shop.example.com/a', settled: { payTo: PAYEE_IN_CAPITALS, payers: 1 } },
        ],
      },
    ])
    expect(await settled.read()).toBe(false)
  })

  it.each([
    ['by its own payee', { payer: PAYEE_IN_CAPITALS }, /the same/],
    ['by its own payee in lower case', { payer: PAYEE }, /the same/],
    ['by nobody who is known', { payer: '' }, /not known/],
    ['for our own host', { url: 'https://GATEWAY.example.com./v1/tools/web.fetch' }, /itself/],
    ['for our own host on another port', { url: 'https://gateway.example.com:8443/' }, /itself/],
  ])('%s lists nothing', async (_, over, reason) => {
    const { rows, sell } = setUp()
    expect(await sell(over)).toEqual({
      bazaar: { status: 'rejected', rejectedReason: expect.stringMatching(reason) },
    })
    expect(rows).toEqual([])
  })

  it.each([[['10.0.0.1']], [['93.184.216.34', '127.0.0.1']], [['169.254.169.254']], [[]]])(
    'for a name that leads to %j lists nothing',
    async (addresses) => {
      const { rows, world, sell } = setUp()
      world.addresses = addresses
      expect(await sell()).toMatchObject({ bazaar: { status: 'rejected' } })
      expect(rows).toEqual([])
    },
  )

  it('of a payee with all its listings is told so; without the extension there is nothing to tell', async () => {
    const { world, sell } = setUp()
    world.isFull = true
    expect(await sell()).toEqual({
      bazaar: { status: 'rejected', rejectedReason: 'payTo has 50 listings already' },
    })
    expect(await sell({ extensions: {} })).toBeUndefined()
  })

  it('is settled all the same when the store is away, and what was read before stays', async () => {
    const { settled, sell, world } = setUp()
    await sell()
    await settled.read()
    world.isDown = true
    expect(await sell()).toBeUndefined()
    expect(await settled.read()).toBe(false)
    expect(settled.listings()).toHaveLength(1)
  })
})

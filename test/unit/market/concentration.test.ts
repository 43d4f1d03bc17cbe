// How far what was paid comes from one payer: asked for by every page, looked up now and then.
import { describe, expect, it } from 'vitest'
import { createConcentration } from '../../../src/market/listings/concentration.ts'

const SHARES = { payers: 3, repeating: 1, calls: 9, volume: 3000, largestVolume: 2999 }
const OF = { sellerId: 'acme', serviceId: 'quotes', network: 'eip155:8453' } as const

function createWorld() {
  const world = { looks: 0, time: 0, shares: SHARES, isDown: false }
  const concentration = createConcentration({
    store: {
      async sumPayerShares() {
        world.looks++
        if (world.isDown) throw new Error('away')
        return world.shares
      },
      listSellerDays: async () => [],
    },
    now: () => world.time,
  })
  return { world, concentration }
}

describe('concentration', () => {
  it('is the share of the payer that paid most', async () => {
    const { concentration } = createWorld()
    expect(await concentration.of(OF)).toEqual({
      largest_payer_share: 0.9997,
      payers: 3,
      repeat_payers: 1,
      volume_atomic: '3000',
    })
  })

  it('is unknown where nobody paid', async () => {
    const { world, concentration } = createWorld()
    world.shares = { payers: 0, repeating: 0, calls: 0, volume: 0, largestVolume: 0 }
    expect((await concentration.of(OF)).largest_payer_share).toBeNull()
  })

  it('is looked up once for all who ask within a second, of each service apart', async () => {
    const { world, concentration } = createWorld()
    await Promise.all([concentration.of(OF), concentration.of(OF)])
    expect(world.looks).toBe(1)
    await concentration.of({ ...OF, serviceId: null })
    await concentration.of({ ...OF, network: 'eip155:84532' })
    expect(world.looks).toBe(3)
    world.time = 1000
    await concentration.of(OF)
    expect(world.looks).toBe(4)
  })

  it('of many payers is looked up twice a minute', async () => {
    const { world, concentration } = createWorld()
    world.shares = { ...SHARES, payers: 100_000 }
    await concentration.of(OF)
    world.time = 29_999
    await concentration.of(OF)
    expect(world.looks).toBe(1)
    world.time = 30_000
    await concentration.of(OF)
    expect(world.looks).toBe(2)
  })

  it('is asked for again where the store was away', async () => {
    const { world, concentration } = createWorld()
    world.isDown = true
    await expect(concentration.of(OF)).rejects.toThrow('away')
    world.isDown = false
    expect(await concentration.of(OF)).toMatchObject({ payers: 3 })
  })
})

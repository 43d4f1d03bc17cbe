// The networks that payments are taken on: pinned ones, and those whose asset the operator named and the chain describes.
import { describe, expect, it } from 'vitest'
import { createNetworks, networkOfUsdc, toDecimalUsdc } from '../../../src/core/networks.ts'

const IOTEX = { chainId: 4689, address: '0x176211869cA2b568f2A7D4EE941E073a821EE1ff', revenue: true }

describe('networks', () => {
  it('are those with a chain behind them, found by CAIP-2 id and by the name of x402 v1', () => {
    const networks = createNetworks([8453, 4689, 59144], [IOTEX])
    expect(networks.all.map(({ network }) => network)).toEqual(['eip155:8453', 'eip155:4689'])
    expect(networks.find('base')?.chainId).toBe(8453)
    expect(networks.find('iotex')).toBe(networks.find('eip155:4689'))
    expect(networks.find('polygon')).toBeUndefined()
    expect(networks.find('constructor')).toBeUndefined()
  })

  it('know of a named asset what the operator said, and the rest once its chain has proven it', () => {
    const networks = createNetworks([4689], [IOTEX])
    expect(networks.find('iotex')).toMatchObject({ revenue: true, isPinned: false, asset: { name: '' } })
    const before = networks.find('iotex')
    networks.report('eip155:4689', { ok: true, name: 'Bridged USDC', version: '2' })
    expect(networks.find('iotex')?.asset).toEqual({
      address: IOTEX.address,
      name: 'Bridged USDC',
      version: '2',
      decimals: 6,
    })
    expect(networks.all).toEqual([networks.find('iotex')])
    // Who computed a domain from the old record must not take it for this one.
    expect(networks.find('iotex')).not.toBe(before)
  })

  it('say why no payment is taken on one, until its token is proven again', () => {
    const networks = createNetworks([8453])
    expect(networks.hindrance('eip155:8453')).toBeUndefined()
    networks.report('eip155:8453', { ok: false, why: 'no contract' })
    expect(networks.hindrance('eip155:8453')).toBe('no contract')
    const pinned = networks.find('base')
    networks.report('eip155:8453', { ok: true, name: 'USD Coin', version: '2' })
    expect(networks.hindrance('eip155:8453')).toBeUndefined()
    expect(networks.find('base')).toBe(pinned)
  })
})

describe('USDC', () => {
  const BASE = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
  it.each([
    ['eip155:8453', BASE, 'Base'],
    ['base', BASE.toLowerCase(), 'Base'],
    ['eip155:84532', BASE, undefined],
    ['eip155:8453', '0x0', undefined],
    ['', '', undefined],
  ])('on %s at %s is that of %s', (network, asset, name) => {
    expect(networkOfUsdc(network, asset)?.name).toBe(name)
  })

  it.each([
    ['0', '0'],
    ['1', '0.000001'],
    ['10500', '0.0105'],
    ['1000000', '1'],
    ['0001000000', '1'],
    ['123456789', '123.456789'],
    ['1e6', undefined],
    ['-1', undefined],
    ['', undefined],
    ['1'.repeat(79), undefined],
  ])('of %s smallest units is %s', (atomic, decimal) => {
    expect(toDecimalUsdc(atomic)).toBe(decimal)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkSellerId,
  checkServiceId,
  checkShownName,
  lookOf,
} from '../../../../src/market/sellers/names.ts'

describe('ids', () => {
  it.each([
    ['weather', 'vveather'],
    ['acme', 'acrne'],
    ['paypal', 'paypa1'],
    ['paypal', 'paypai'],
    ['foo-bar', 'f0obar'],
    ['swim', '5vvlrn'],
    ['vw', 'wv'],
  ])('%s and %s look alike', (one, other) => {
    expect(lookOf(one)).toBe(lookOf(other))
  })

  it.each([
    ['weather', 'whether'],
    ['acme', 'acne'],
    ['quotes', 'quote'],
  ])('%s and %s do not', (one, other) => {
    expect(lookOf(one)).not.toBe(lookOf(other))
  })

  it('look like what they look like: the look of a look is itself', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9-]{1,40}$/), (id) => {
        expect(lookOf(lookOf(id))).toBe(lookOf(id))
      }),
    )
  })

  it.each([
    'gateway',
    'gatewav-x',
    'my-gateway',
    'gate-way',
    'testnet',
    'te5tnet',
    'v1',
    'vl-',
    'ab',
    '-ab',
    'a--b',
    'a'.repeat(41),
    'openapi.json',
    'Acme',
    'асme',
  ])('refuses the seller %s unless it is fine', (id) => {
    expect(checkSellerId(id).ok).toBe(id === 'gatewav-x')
  })

  it('lets a service have two characters and no dot', () => {
    expect([checkServiceId('fx').ok, checkServiceId('f').ok, checkServiceId('llms.txt').ok]).toEqual([
      true,
      false,
      false,
    ])
  })
})

it.each([
  ['Acme Weather', true],
  ['Météo de l’Aéroport', true],
  ['Погода', true],
  ['Agent Gateway', false],
  ['AGENT   GATEWAY™', false],
  ['Аgent Gatewаy', false],
  ['Agent‐Gateway Support', false],
  ['Аcme', false],
])('shows the name %s: %s', (name, ok) => {
  expect(checkShownName(name).ok).toBe(ok)
})

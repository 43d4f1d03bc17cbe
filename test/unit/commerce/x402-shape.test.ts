import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isFacilitatorRequest,
  readX402Shape,
  toCaip2,
  type X402Shape,
} from '../../../src/commerce/x402/shape.ts'

const accepted = { scheme: 'exact', network: 'eip155:8453' }

describe('the shape of a document of x402', () => {
  it.each<[string, unknown, Partial<X402Shape>]>([
    [
      'a payment of v2',
      { x402Version: 2, accepted, payload: { signature: '0x', authorization: {} } },
      { version: 2, stage: 'payment', choiceIn: 'accepted', method: 'eip3009' },
    ],
    [
      'a payment of v1',
      { x402Version: 1, scheme: 'exact', network: 'base', payload: { authorization: {} } },
      { version: 1, stage: 'payment', choiceIn: 'top', method: 'eip3009' },
    ],
    ['accepted in v1, which has no such member', { x402Version: 1, accepted }, { choiceIn: 'top' }],
    ['accepted that is no object', { x402Version: 2, accepted: 'exact' }, { choiceIn: 'top' }],
    ['a permit', { payload: { permit2Authorization: {} } }, { method: 'permit2' }],
    ['a transaction', { payload: { transaction: 'AQ==' } }, { method: 'transaction' }],
    [
      'two authorizations',
      { payload: { authorization: {}, permit2Authorization: {} } },
      { method: 'several' },
    ],
    ['an authorization that is null', { payload: { authorization: null } }, { method: 'eip3009' }],
    ['nothing signed', { payload: {} }, { method: null, stage: 'payment' }],
    ['a payload that is a list', { payload: [{ authorization: {} }] }, { method: null }],
    ['a challenge', { x402Version: 2, accepts: [] }, { stage: 'challenge' }],
    [
      'a challenge with a payload to hide behind',
      { x402Version: 2, accepts: [], payload: {} },
      { stage: 'challenge' },
    ],
    ['accepts without a version', { accepts: [] }, { stage: null }],
    ['a settlement', { success: false, transaction: '' }, { stage: 'settlement' }],
    ['a version as text', { x402Version: '2' }, { version: null }],
    ['a version that is a fraction', { x402Version: 1.5 }, { version: null }],
    ['the largest version', { x402Version: 99 }, { version: 99 }],
    ['a version that could be anything', { x402Version: 100 }, { version: null }],
    [
      'what is only inherited',
      Object.create({ x402Version: 2, payload: {} }),
      { version: null, stage: null },
    ],
  ])('tells %s', (_what, document, expected) => {
    expect(readX402Shape(document)).toMatchObject(expected)
  })

  it('has an answer to anything', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(Object.keys(readX402Shape(value))).toEqual(['version', 'stage', 'choiceIn', 'method'])
        expect(typeof isFacilitatorRequest(value)).toBe('boolean')
      }),
    )
  })

  it.each<[string, string | null]>([
    ['eip155:8453', 'eip155:8453'],
    ['base', 'eip155:8453'],
    ['solana-devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
    ['Base', null],
    ['toString', null],
    ['', null],
  ])('names the network %j by CAIP-2', (name, caip2) => {
    expect(toCaip2(name)).toBe(caip2)
  })

  it.each<[unknown, boolean]>([
    [{ paymentPayload: {}, paymentRequirements: {} }, true],
    [{ paymentPayload: {}, x402Version: 2 }, true],
    [{ paymentPayload: {} }, false],
    [{ paymentRequirements: {}, x402Version: 2 }, false],
    [null, false],
  ])('takes %j for what a facilitator is asked: %j', (body, is) => {
    expect(isFacilitatorRequest(body)).toBe(is)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findChangedEcho, readIdentifier } from '../../../src/payments/extensions.ts'
import { cites } from '../../requirements.ts'

const advertised = {
  bazaar: { info: { input: { type: 'http', method: 'POST', body: { list: [1, 2] } } }, schema: {} },
  'payment-identifier': { info: { required: false }, schema: {} },
  'offer-receipt': { info: { offers: [{ signature: 'new' }] }, schema: {} },
}
const withInfo = (key: string, info: unknown) => ({ [key]: { info, schema: {} } })

describe('the echo of extensions', () => {
  it.each<[string, Record<string, unknown>]>([
    ['none at all', {}],
    ['all of them', structuredClone(advertised)],
    ['some of them', { bazaar: advertised.bazaar }],
    ['one with a member added', withInfo('payment-identifier', { required: false, id: 'x'.repeat(16) })],
    [
      'one with a member added inside',
      withInfo('bazaar', { input: { type: 'http', method: 'POST', body: { list: [1, 2], more: true } } }),
    ],
    ['an offer of another second', withInfo('offer-receipt', { offers: [{ signature: 'old' }] })],
    ['no offers', withInfo('offer-receipt', {})],
    ['an extension that we do not know', withInfo('sign-in-with-x', { any: 'thing' })],
    ['another schema', { bazaar: { info: advertised.bazaar.info } }],
  ])('is good with %s', (_, echoed) => {
    expect(findChangedEcho(advertised, echoed)).toBeUndefined()
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a changed value', withInfo('payment-identifier', { required: true }), 'payment-identifier'],
    ['a dropped member', withInfo('payment-identifier', { id: 'x'.repeat(16) }), 'payment-identifier'],
    ['a dropped info', { 'payment-identifier': { schema: {} } }, 'payment-identifier'],
    ['an extension that is not an object', { bazaar: 'yes' }, 'bazaar'],
    ['info that is a list', withInfo('bazaar', []), 'bazaar'],
    [
      'a longer list',
      withInfo('bazaar', { input: { type: 'http', method: 'POST', body: { list: [1, 2, 3] } } }),
      'bazaar',
    ],
    [
      'another type',
      withInfo('bazaar', { input: { type: 'http', method: 'POST', body: { list: { 0: 1, 1: 2 } } } }),
      'bazaar',
    ],
  ])(cites('x402:ext:echo', 'is not good with %s'), (_, echoed, key) => {
    expect(findChangedEcho(advertised, echoed)).toBe(key)
  })

  it('never throws, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('bazaar', 'offer-receipt', '__proto__', 'constructor', 'x'),
          fc.jsonValue(),
        ),
        (echoed) => {
          findChangedEcho(advertised, echoed)
        },
      ),
    )
  })
})

describe('the payment identifier', () => {
  it('is read where it is valid, and null where there is none', () => {
    const valid = fc.stringMatching(/^[a-zA-Z0-9_-]{16,128}$/)
    fc.assert(
      fc.property(valid, (id) => {
        expect(readIdentifier({ extensions: withInfo('payment-identifier', { required: false, id }) })).toBe(
          id,
        )
      }),
    )
    for (const extensions of [
      {},
      withInfo('payment-identifier', { required: false }),
      { 'payment-identifier': null },
    ])
      expect(readIdentifier({ extensions })).toBeNull()
  })

  it(cites('x402:id:shape', 'is refused where it is anything else'), () => {
    const invalid = fc.oneof(
      fc.string({ maxLength: 15 }),
      fc.integer(),
      fc.constant(null),
      fc.constant('x'.repeat(129)),
    )
    fc.assert(
      fc.property(invalid, (id) => {
        expect(() => readIdentifier({ extensions: withInfo('payment-identifier', { id }) })).toThrow(
          expect.objectContaining({ code: 'payment_invalid' }),
        )
      }),
    )
  })
})

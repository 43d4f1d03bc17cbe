import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { paidHeaders, presentedPayment, presentedQuote } from '../../../src/doors/rest/payment-headers.ts'

/** As Node shows a request: `headers` joins what came twice, `headersDistinct` does not. */
const request = (given: Readonly<Record<string, readonly string[]>>, method = 'POST') =>
  ({
    method,
    headers: Object.fromEntries(Object.entries(given).map(([name, values]) => [name, values.join(', ')])),
    headersDistinct: given,
  }) as unknown as IncomingMessage

describe('the payment of a request', () => {
  it.each([['payment-signature'], ['x-payment']] as const)('is read from %s, as a secret', (name) => {
    const payment = presentedPayment(request({ [name]: ['cGF5'] }))
    expect(payment).toMatchObject({ form: 'header', name })
    expect(JSON.stringify(payment)).not.toContain('cGF5')
    expect(payment!.form === 'header' && payment!.value.use((value) => value)).toBe('cGF5')
  })

  it('is none where there is no header, and for HEAD, whose answer releases nothing', () => {
    expect(presentedPayment(request({ authorization: ['Bearer x'] }))).toBeUndefined()
    expect(presentedPayment(request({ 'payment-signature': ['cGF5'] }, 'HEAD'))).toBeUndefined()
  })

  it.each([
    [{ 'payment-signature': ['cGF5', 'cGF5'] }],
    [{ 'x-payment': ['cGF5', 'cGF6'] }],
    [{ 'payment-signature': ['cGF5'], 'x-payment': ['cGF5'] }],
  ])('is one, not %j', (headers) => {
    expect(() => presentedPayment(request(headers))).toThrow(
      expect.objectContaining({ code: 'payment_invalid' }),
    )
  })
})

it('a quote is what X-Gateway-Quote says, and nothing when it is empty', () => {
  expect(presentedQuote(request({ 'x-gateway-quote': ['a.b.c'] }))).toBe('a.b.c')
  expect(presentedQuote(request({ 'x-gateway-quote': [''] }))).toBeUndefined()
  expect(presentedQuote(request({}))).toBeUndefined()
})

it('a paid answer is private, kept nowhere, and says under both names to buyers of v1 how it was settled', () => {
  const settlement = { success: true, transaction: '0x1', network: 'eip155:84532' }
  const value = Buffer.from(JSON.stringify(settlement)).toString('base64')
  const common = { 'cache-control': 'private, no-store', 'payment-response': value }
  expect(paidHeaders(request({ 'payment-signature': ['x'] }), settlement)).toEqual(common)
  expect(paidHeaders(request({ 'x-payment': ['x'] }), settlement)).toEqual({
    ...common,
    'x-payment-response': value,
  })
})

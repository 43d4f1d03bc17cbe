// Where a payment may stand in a transaction that crosses the edge.
import { describe, expect, it } from 'vitest'
import { findPayments } from '../../../src/edge/payments.ts'

const DOCUMENT = { challenge: { id: 'c1' }, payload: { type: 'hash' } }
const CREDENTIAL = Buffer.from(JSON.stringify(DOCUMENT)).toString('base64url')

const inHeaders = (...headers: [string, string][]) => findPayments({ headers, json: undefined })

describe('a credential of the Payment scheme', () => {
  it.each([
    ['authorization', `Payment ${CREDENTIAL}`],
    ['authorization', `payment   ${CREDENTIAL} `],
    ['payment-authorization', `Payment ${CREDENTIAL}`],
  ])('is found in %s: %s', (name, value) => {
    expect(inHeaders([name, value])).toEqual([{ rail: 'mpp', at: name, document: DOCUMENT }])
  })

  it('is found where it does not decode, because somebody meant to pay', () => {
    expect(inHeaders(['authorization', 'Payment %%%'])).toEqual([
      { rail: 'mpp', at: 'authorization', document: undefined },
    ])
  })

  it.each([
    ['authorization', `Bearer ${CREDENTIAL}`],
    ['authorization', 'Payment'],
    ['authorization', `Payments ${CREDENTIAL}`],
    ['x-authorization', `Payment ${CREDENTIAL}`],
  ])('is not what stands in %s: %s', (name, value) => {
    expect(inHeaders([name, value])).toEqual([])
  })
})

it('finds every payment of a message that has several', () => {
  const found = findPayments({
    headers: [
      ['payment-signature', CREDENTIAL],
      ['x-payment', CREDENTIAL],
      ['authorization', `Payment ${CREDENTIAL}`],
    ],
    json: { params: { _meta: { 'x402/payment': DOCUMENT, 'org.paymentauth/credential': DOCUMENT } } },
  })
  expect(found.map(({ rail, at }) => `${rail} ${at}`)).toEqual([
    'x402 payment-signature',
    'x402 x-payment',
    'mpp authorization',
    'x402 body',
    'mpp body',
  ])
})

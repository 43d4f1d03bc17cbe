import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import type { Found, TransactionFacts } from '../../../src/commerce/ports.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, wire, type SampleSource } from '../../support/commerce.ts'

const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7'
const PAYER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const NONCE = '0x7c1d4a9e03b85f62e1907a3cd45b28f6917e0c3ad2586b4f10e9c7a8b36d5f24'
const UUID = '0b6f4c5e-91d3-4a7e-8c25-6f1de0a973b4'

const factsOf = (source: SampleSource) => analyse(readMessage(wire(source))).detection.facts
/** What is said, without the places. */
function said(facts: TransactionFacts): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, found]: [string, unknown]) =>
      name === 'credentials' || name === 'amountIsInteger' || found === null
        ? []
        : [[name, (found as Found<unknown>).value]],
    ),
  )
}

const signed = {
  amount: '25000',
  asset: USDC,
  network: 'eip155:84532',
  scheme: 'exact',
  payee: PAYEE,
  payer: PAYER,
  nonce: NONCE,
  notBefore: 1790000000,
  expiresAt: 1790000120,
}
const identified = { idempotencyKey: 'order-4c5e91d34a7e8c256f1de0a973b4' }

describe('the facts of a transaction', () => {
  it.each<[string, Record<string, unknown>, boolean]>([
    ['x402-http', { ...signed, ...identified, resource: 'https://shop.example/reports' }, true],
    ['x402-v1', { ...signed, asset: undefined }, true],
    [
      'x402-permit2',
      {
        ...signed,
        ...identified,
        nonce: '4186230957721094563870921',
        resource: 'https://shop.example/reports',
      },
      true,
    ],
    ['x402-mcp', { ...signed, ...identified, resource: 'mcp://tool/tea_report' }, true],
    [
      'mpp-post',
      {
        amount: '750000',
        asset: '0x20c0000000000000000000000000000000000001',
        network: 'eip155:42431',
        payee: PAYEE,
        payer: `did:pkh:eip155:42431:${PAYER}`,
        nonce: 'kTq0Zs8vWb3NfYx1Lr7dHm5Jc2PaG9uEiO4tVhXwB6A',
        expiresAt: Date.UTC(2026, 8, 21, 14, 5) / 1000,
        idempotencyKey: UUID,
      },
      true,
    ],
    [
      'ap2-payment',
      {
        amount: '1890',
        currency: 'EUR',
        payee: 'shop_81',
        notBefore: 1790000060,
        expiresAt: 1790000660,
        nonce: 'Wn4pQz81LrT0sVb6Kc3MxY',
        idempotencyKey: UUID,
      },
      true,
    ],
    [
      'ap2-v01-payment',
      { amount: '19', currency: 'EUR', payee: 'TeaAgent', nonce: '4f7c0e1b92' },
      // Major units: no number of the smallest one.
      false,
    ],
    [
      'ucp-complete',
      {
        resource: 'chk_81aa',
        notBefore: 1790000000,
        expiresAt: 1790000300,
        nonce: 'wZ81LrT0sVb6Kc3MxYqPn4',
        idempotencyKey: UUID,
      },
      false,
    ],
    ['ucp-mcp', { resource: 'chk_81aa', idempotencyKey: UUID }, false],
    [
      'acp-delegate',
      {
        amount: '1890',
        currency: 'EUR',
        payee: 'shop_81',
        resource: 'cs_81aa',
        expiresAt: Date.UTC(2026, 8, 21, 15) / 1000,
        idempotencyKey: UUID,
      },
      true,
    ],
    ['acp-mcp', { resource: 'cs_81aa', idempotencyKey: UUID }, false],
    ['mcp-2026', { idempotencyKey: 'c7a91e04-5d2b-4f68-9b03-2e84d61f57aa' }, false],
    ['mcp-2025', {}, false],
  ])('of %s are those it states', (name, expected, isInteger) => {
    const facts = factsOf(SAMPLES[name]!)
    expect(said(facts)).toEqual(JSON.parse(JSON.stringify(expected)))
    expect(facts.amountIsInteger).toBe(isInteger)
  })

  it('of a payment are what was signed, where that differs from what was asked for', () => {
    const at = '/headers/PAYMENT-SIGNATURE/$base64/payload/authorization/value'
    const { amount } = factsOf(change(SAMPLES['x402-http']!, [{ op: 'set', at, value: '99' }]))
    expect(amount).toMatchObject({
      value: '99',
      at: '/headers/PAYMENT-SIGNATURE#/payload/authorization/value',
    })
  })

  it('of a checkout are completed by the mandate in it', () => {
    const kind = KINDS['UCP complete with an AP2 mandate']!
    expect(said(factsOf(kind.source))).toMatchObject({
      nonce: 'Wn4pQz81LrT0sVb6Kc3MxY',
      expiresAt: 1790000660,
    })
  })

  it('of a business answer carry the total of the checkout', () => {
    const facts = factsOf({
      target: 'https://shop.example/checkout-sessions/chk_1',
      method: 'GET',
      body: {
        ucp: { version: '2026-08-25' },
        id: 'chk_1',
        currency: 'usd',
        totals: [
          { type: 'subtotal', amount: 5000 },
          { type: 'total', amount: 5400 },
        ],
        expires_at: '2026-09-21T15:00:00Z',
      },
    })
    expect(said(facts)).toEqual({
      amount: '5400',
      currency: 'USD',
      resource: 'chk_1',
      expiresAt: Date.UTC(2026, 8, 21, 15) / 1000,
    })
  })

  it.each<[string, string[]]>([
    ['x402-http', ['/headers/PAYMENT-SIGNATURE', '/headers/PAYMENT-SIGNATURE#/payload/signature']],
    ['x402-mcp', ['/body/params/_meta/x402~1payment/payload/signature']],
    ['mpp-post', ['/headers/Authorization']],
    ['mpp-jsonrpc', ['/body/params/_meta/org.paymentauth~1credential/payload']],
    ['ap2-payment', ['/body/payment_mandate_chain']],
    [
      'acp-complete',
      ['/body/payment_data/instrument/credential/token', '/headers/Authorization', '/headers/Signature'],
    ],
    [
      'acp-mcp',
      [
        '/body/params/arguments/meta/signature',
        '/body/params/arguments/payload/payment_data/instrument/credential/token',
      ],
    ],
    ['mcp-2026', ['/headers/Authorization']],
  ])('of %s name every place that must not be shown', (name, places) => {
    expect(factsOf(SAMPLES[name]!).credentials.toSorted()).toEqual(places.toSorted())
  })

  it('name what pays inside a mandate of AP2 0.1', () => {
    const { source } = KINDS['AP2 0.1 payment mandate of another inner shape']!
    expect(factsOf(source).credentials).toEqual([
      '/body/params/message/parts/0/data/ap2.mandates.PaymentMandate/payment_details/payment_method/data',
    ])
  })

  it.each([
    ['acp-complete', '/target'],
    ['acp-mcp', '/body/params/arguments/id'],
    ['acp-delegate', '/body/allowance/checkout_session_id'],
  ])('of %s name the session where it stands', (name, at) => {
    const message = readMessage(wire(SAMPLES[name]!))
    expect(analyse(message).primary?.facts).toMatchObject({ sessionId: { value: 'cs_81aa', at } })
  })

  it('name the card of a delegated payment, its number and its code', () => {
    const source = change(SAMPLES['acp-delegate']!, [
      { op: 'set', at: '/body/payment_method/number', value: '0'.repeat(16) },
      { op: 'set', at: '/body/payment_method/cvc', value: '000' },
    ])
    expect(factsOf(source).credentials).toEqual(
      expect.arrayContaining(['/body/payment_method/number', '/body/payment_method/cvc']),
    )
  })
})

// AP2 0.1: an intent, a cart and a payment in one message have to be of one purchase.
import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import type { TransactionInput } from '../../../src/commerce/ports.ts'

const policy = toPolicy({ default: {}, accounts: {} }, undefined)
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const SIGNATURE = 'Zm9ydHktdHdvIGlzIG5vdCBhIHNpZ25hdHVyZSwgYnV0IGl0IGlzIGFzIGxvbmcgYXMgb25l'
const jwt = (payload: unknown, header: unknown = { alg: 'RS256' }, signature = SIGNATURE) =>
  `${encode(header)}.${encode(payload)}.${signature}`
const hashOf = (text: string, encoding: 'base64url' | 'hex' = 'base64url') => hash('sha256', text, encoding)

const CONTENTS = {
  id: 'cart_81',
  user_cart_confirmation_required: true,
  payment_request: {
    method_data: [{ supported_methods: 'CARD' }],
    details: {
      id: 'order_81',
      display_items: [
        { label: 'Sencha', sku: 'sencha', amount: { currency: 'EUR', value: 18.9 }, refund_period: 30 },
      ],
      total: { label: 'Total', amount: { currency: 'EUR', value: 18.9 } },
    },
  },
  cart_expiry: '2026-09-21T15:00:00Z',
  merchant_name: 'Tea shop',
}
type Contents = typeof CONTENTS
const INTENT = {
  user_cart_confirmation_required: true,
  natural_language_description: 'Green tea',
  merchants: ['Tea shop'],
  skus: ['sencha'],
  requires_refundability: true,
  intent_expiry: '2026-09-22T14:00:00Z',
}
const PAYMENT = {
  payment_mandate_id: 'pm_81',
  payment_details_id: 'order_81',
  payment_details_total: { label: 'Total', amount: { currency: 'EUR', value: 18.9 } },
  payment_response: { request_id: 'order_81', method_name: 'CARD' },
  merchant_agent: 'TeaAgent',
  timestamp: '2026-09-21T14:01:00Z',
}
const CLAIMS = { iss: 'tea', aud: 'psp', jti: 'j-81', iat: 1_790_000_000, exp: 1_790_000_900 }
const cartOf = (
  contents: unknown,
  hashed: unknown = hashOf(toCanonicalJson(contents)),
  exp = CLAIMS.exp,
) => ({
  contents,
  merchant_authorization: jwt({ ...CLAIMS, exp, ...(hashed !== null && { cart_hash: hashed }) }),
})
const payment = (
  more: object = {},
  authorization: unknown = jwt({ ...CLAIMS, transaction_data: ['x'] }),
) => ({
  payment_mandate_contents: { ...PAYMENT, ...more },
  user_authorization: authorization,
})

function inspect(mandates: {
  readonly intent?: unknown
  readonly cart?: unknown
  readonly payment?: unknown
}) {
  const parts = Object.entries({
    'ap2.mandates.IntentMandate': mandates.intent,
    'ap2.mandates.CartMandate': mandates.cart,
    'ap2.mandates.PaymentMandate': mandates.payment,
  })
    .filter(([, mandate]) => mandate !== undefined)
    .map(([name, mandate]) => ({ kind: 'data', data: { [name]: mandate } }))
  const input = {
    target: 'https://merchant-agent.example/a2a',
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: {
      jsonrpc: '2.0',
      id: 'm-9',
      method: 'message/send',
      params: { message: { messageId: 'm', taskId: 't', role: 'user', parts } },
    },
  } as TransactionInput
  const { reasons } = inspectTransaction(input, policy, 1_790_000_120_000).policy
  return reasons
    .filter(({ severity }) => severity !== 'info')
    .map(({ code, severity }) => `${code} ${severity}`)
}
const judged = (codes: readonly string[]) =>
  codes.filter((code) => /^(?:BINDING|SIGNED|WINDOW_EXPIRED|POLICY_INPUT)/.test(code))
const edit = (change: (contents: Contents) => void) => {
  const copy = structuredClone(CONTENTS)
  change(copy)
  return cartOf(copy)
}

describe('mandates of AP2 0.1', () => {
  it('of one purchase are found nothing wrong with', () => {
    expect(judged(inspect({ intent: INTENT, cart: cartOf(CONTENTS), payment: payment() }))).toEqual([])
    expect(judged(inspect({ payment: payment() }))).toEqual([])
    expect(judged(inspect({ cart: cartOf(CONTENTS) }))).toEqual([])
  })

  it.each<[what: string, code: string, mandates: Parameters<typeof inspect>[0]]>([
    [
      'a payment over more than the cart',
      'BINDING_AMOUNT deny',
      {
        cart: cartOf(CONTENTS),
        payment: payment({ payment_details_total: { amount: { currency: 'EUR', value: 189 } } }),
      },
    ],
    [
      'a payment in another currency',
      'BINDING_AMOUNT deny',
      {
        cart: cartOf(CONTENTS),
        payment: payment({ payment_details_total: { amount: { currency: 'GBP', value: 18.9 } } }),
      },
    ],
    [
      'a payment for another order',
      'BINDING_OFFER deny',
      { cart: cartOf(CONTENTS), payment: payment({ payment_details_id: 'order_82' }) },
    ],
    [
      'a payment after the cart had ended',
      'BINDING_CONSTRAINT deny',
      { cart: cartOf(CONTENTS), payment: payment({ timestamp: '2026-09-21T15:00:01Z' }) },
    ],
    [
      'a payment after the intent had ended',
      'BINDING_CONSTRAINT deny',
      { intent: INTENT, payment: payment({ timestamp: '2026-09-23T15:00:01Z' }) },
    ],
    [
      'a payment whose cart did not come along',
      'BINDING_CONSTRAINT review',
      { intent: INTENT, payment: payment() },
    ],
    [
      'another merchant than the intent names',
      'BINDING_CONSTRAINT deny',
      { intent: { ...INTENT, merchants: ['Book shop'] }, cart: cartOf(CONTENTS) },
    ],
    [
      'other goods than the intent names',
      'BINDING_CONSTRAINT deny',
      { intent: { ...INTENT, skus: ['matcha'] }, cart: cartOf(CONTENTS) },
    ],
    [
      'goods by their label alone',
      'BINDING_CONSTRAINT review',
      {
        intent: INTENT,
        cart: edit(({ payment_request: { details } }) =>
          details.display_items.forEach((item) => Reflect.deleteProperty(item, 'sku')),
        ),
      },
    ],
    [
      'goods that cannot be given back',
      'BINDING_CONSTRAINT deny',
      {
        intent: INTENT,
        cart: edit(({ payment_request: { details } }) =>
          details.display_items.forEach((item) => Object.assign(item, { refund_period: 0 })),
        ),
      },
    ],
    [
      'a cart that was changed after it was signed',
      'BINDING_HASH deny',
      { cart: cartOf({ ...CONTENTS, merchant_name: 'Tea shop 2' }, hashOf(toCanonicalJson(CONTENTS))) },
    ],
    ['a signature that names no cart', 'BINDING_CONSTRAINT review', { cart: cartOf(CONTENTS, null) }],
    [
      'a cart whose signature has expired',
      'WINDOW_EXPIRED deny',
      { cart: cartOf(CONTENTS, hashOf(toCanonicalJson(CONTENTS)), 1_790_000_100), payment: payment() },
    ],
    [
      'an authorization without its signature',
      'SIGNED_MEMBER_MISSING deny',
      { payment: payment({}, jwt(CLAIMS, undefined, '')) },
    ],
    [
      'an authorization of a shared secret',
      'SIGNED_MEMBER_MALFORMED deny',
      { payment: payment({}, jwt(CLAIMS, { alg: 'HS256' })) },
    ],
    [
      'a presentation whose key binding is not signed',
      'SIGNED_MEMBER_MISSING deny',
      { payment: payment({}, `${jwt(CLAIMS)}~${jwt({ nonce: 'n' }, { alg: 'ES256' }, '')}`) },
    ],
    [
      'an authorization that cannot be read',
      'POLICY_INPUT_MISSING review',
      { payment: payment({}, 'signed by Ada') },
    ],
  ])('with %s: %s', (_, code, mandates) => {
    expect(inspect(mandates)).toContain(code)
  })

  it('may write the hash of a cart as any of the serialisers in use does', () => {
    const sorted = toCanonicalJson(CONTENTS)
    const whole = structuredClone(CONTENTS)
    whole.payment_request.details.total.amount.value = 19
    const python = toCanonicalJson(whole).replaceAll('"value":19', '"value":19.0')
    for (const cart of [
      cartOf(CONTENTS, hashOf(sorted, 'hex')),
      cartOf(CONTENTS, `sha256:${hashOf(sorted, 'hex').toUpperCase()}`),
      cartOf(CONTENTS, hashOf(JSON.stringify(CONTENTS))),
      cartOf(whole, hashOf(python)),
    ])
      expect(judged(inspect({ cart }))).toEqual([])
  })
})

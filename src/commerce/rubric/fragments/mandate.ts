// Fragments of AP2: 0.2 is a chain of SD-JWTs, 0.1 puts JSON into messages of A2A.
import { type Fragments, HTTPS, json, KEY, TRACE } from './write.ts'

const BOUND = json({
  nonce: '<nonce of the verifier, or 128 random bits>',
  aud: 'https://<verifier>',
  iat: '<seconds since 1970>',
  exp: '<seconds since 1970, minutes after iat>',
  sd_hash: '<base64url of the SHA-256 of open~>',
})
const CHECKOUT = json({
  transaction_id: '<base64url of the SHA-256 of checkout_jwt>',
  checkout_jwt: '<JWS of the merchant>',
})
const NAMED_CART = json({ payment_mandate_contents: { payment_mandate_id: '<id>' } })
const AUTHORIZED = json({ user_authorization: '<JWT with jti, iat, exp and the hashes of cart and mandate>' })

export const AP2: Fragments = {
  'AP2-BIND-01 AP2-IDEM-01 AP2-RETRY-02': CHECKOUT,
  'AP2-BIND-02 AP2-REPLAY-01 AP2-REPLAY-03 AP2-FRESH-03 AP2-FRESH-04': BOUND,
  'AP2-BIND-03': json({
    constraints: [
      { type: 'payment.amount_range', currency: 'EUR', max: 1890 },
      { type: 'payment.allowed_payees', allowed: [{ id: '<id of the merchant>' }] },
    ],
  }),
  'AP2-BIND-04 AP2-REPLAY-02': json({ aud: 'https://<verifier>' }),
  'AP2-BIND-05': '<issuer JWS>~<disclosure>~<disclosure>~',
  'AP2-IDEM-02 AP2-IDEM-12 AP2-RETRY-01 AP2-RETRY-11': KEY,
  'AP2-FRESH-01 AP2-FRESH-02': json({
    iat: '<seconds since 1970>',
    exp: '<seconds since 1970, at most a day after iat>',
  }),
  'AP2-RETRY-03 AP2-RETRY-13': HTTPS,
  'AP2-RETRY-04': json({ payment_amount: { amount: 1890, currency: 'EUR' } }),
  'AP2-RETRY-14': json({ amount: { currency: 'EUR', value: 1890 } }),
  'AP2-AUDIT-01 AP2-AUDIT-11': TRACE,
  'AP2-AUDIT-02': json({
    cnf: { jwk: { kty: 'EC', crv: 'P-256', x: '<x of the key of the agent>', y: '<y>' } },
  }),
  'AP2-AUDIT-03':
    '<header>.<payload>.<signature by the private key of cnf.jwk in the open mandate>, with "alg": "ES256" in the header',
  'AP2-BIND-11 AP2-BIND-12 AP2-REPLAY-11 AP2-AUDIT-12 AP2-AUDIT-13': AUTHORIZED,
  'AP2-BIND-13': json({
    merchants: ['<merchant>'],
    skus: ['<product>'],
    user_cart_confirmation_required: true,
  }),
  'AP2-BIND-14': json({ taskId: '<id of the task>' }),
  'AP2-REPLAY-12 AP2-IDEM-11 AP2-RETRY-12': NAMED_CART,
  'AP2-FRESH-11': json({ intent_expiry: '2026-01-15T12:05:00Z' }),
  'AP2-FRESH-12': json({ timestamp: '2026-01-15T12:00:00Z' }),
}

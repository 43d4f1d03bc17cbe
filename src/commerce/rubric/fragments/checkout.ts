// Fragments of the protocols of a checkout: UCP and ACP.
import { DIGEST, type Fragments, HTTPS, json, KEY, lines, TRACE } from './write.ts'

const AGENT = 'UCP-Agent: profile="https://<platform>/<profile>"'
const SIGNED_KEY = lines(
  'Signature-Input: sig1=("@method" "@authority" "@path" "idempotency-key" "content-digest" "content-type");created=<seconds>;expires=<seconds>;keyid="<key>";tag="web-bot-auth"',
  'Signature: sig1=:<base64 of the signature>:',
)

export const UCP: Fragments = {
  'UCP-BIND-01 UCP-REPLAY-02 UCP-FRESH-01 UCP-FRESH-02 UCP-AUDIT-03': SIGNED_KEY,
  'UCP-BIND-02': DIGEST,
  'UCP-BIND-03': 'POST /checkout-sessions/<id of the checkout>/complete',
  'UCP-BIND-04 UCP-AUDIT-02': AGENT,
  'UCP-BIND-05': json({ ap2: { checkout_mandate: '<open>~~<closed>, as the wallet gave it' } }),
  'UCP-REPLAY-01 UCP-IDEM-01 UCP-IDEM-02 UCP-RETRY-01': KEY,
  'UCP-RETRY-02': json({ id: '<id of the checkout, the same on every retry>' }),
  'UCP-RETRY-03': HTTPS,
  'UCP-RETRY-04': json({ totals: [{ type: 'total', amount: 1890 }] }),
  'UCP-AUDIT-01': TRACE,
}

const SIGNED = lines('Timestamp: 2026-01-15T12:00:00Z', 'Signature: <base64url of the signature>')

export const ACP: Fragments = {
  'ACP-BIND-01': json({ allowance: { checkout_session_id: '<id>', merchant_id: '<id>' } }),
  'ACP-BIND-02': json({ allowance: { max_amount: 1890, currency: 'eur' } }),
  'ACP-BIND-03 ACP-REPLAY-02 ACP-REPLAY-03 ACP-FRESH-01 ACP-AUDIT-03': SIGNED,
  'ACP-BIND-04': 'API-Version: 2026-04-17',
  'ACP-BIND-05': json({ payment_data: { handler_id: '<id of the handler>' } }),
  'ACP-REPLAY-01 ACP-IDEM-01 ACP-IDEM-02 ACP-RETRY-01': KEY,
  'ACP-FRESH-02': json({ allowance: { expires_at: '2026-01-15T13:00:00Z' } }),
  'ACP-RETRY-02': 'POST /checkout_sessions/<id of the session, the same on every retry>/complete',
  'ACP-RETRY-03 ACP-RETRY-21': HTTPS,
  'ACP-RETRY-04': json({ max_amount: 1890 }),
  'ACP-AUDIT-01 ACP-AUDIT-21': TRACE,
  'ACP-AUDIT-02': 'Authorization: Bearer <token of the agent>',
  'ACP-BIND-21 ACP-FRESH-21': 'Merchant-Signature: t=<seconds since 1970>,v1=<64 hexadecimal digits>',
}

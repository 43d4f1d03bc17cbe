// Sound transactions with one thing removed or changed: which dimension must lose points, what else may, and the cap.
import type { DimensionName } from '../../../schemas/commerce.ts'
import type { Change } from '../../support/commerce.ts'

export interface Variant {
  readonly id: string
  /** In samples.ts. */
  readonly base: string
  readonly why: string
  readonly changes: readonly Change[]
  readonly mustDrop: readonly DimensionName[]
  readonly mayDrop?: readonly DimensionName[]
  readonly cap?: { readonly id: string; readonly max: number }
}

const remove = (at: string): Change => ({ op: 'remove', at })
const set = (at: string, value: Change['value']): Change => ({ op: 'set', at, value: value! })

const MISMATCH = { id: 'MISMATCH', max: 40 }
const PLAIN_HTTP = { id: 'PLAIN_HTTP', max: 40 }
const INCOMPLETE = { id: 'INCOMPLETE', max: 40 }
const UNDECODABLE = { id: 'UNDECODABLE', max: 20 }
const NO_NONCE = { id: 'NO_NONCE', max: 60 }
const NO_PROOF = { id: 'NO_PROOF', max: 60 }
const GUESSABLE = { id: 'GUESSABLE_ID', max: 60 }
const NO_KEY = { id: 'NO_KEY', max: 60 }

const X = '/headers/PAYMENT-SIGNATURE/$base64'
const AUTH = `${X}/payload/authorization`
const PERMIT = `${X}/payload/permit2Authorization`
const V1 = '/headers/X-PAYMENT/$base64'
const OVER_MCP = '/body/params/_meta/x402~1payment'
const OVER_A2A = '/body/params/message/metadata/x402.payment.payload'
const CHALLENGE = '/headers/PAYMENT-REQUIRED/$base64'
const OFFER = `${CHALLENGE}/extensions/offer-receipt/info/offers/0/signature/$offer`
const MPP = '/headers/Authorization/$payment'
const REQUEST = `${MPP}/challenge/request/$base64url`
const RPC = '/body/params/_meta/org.paymentauth~1credential'
const CHAIN = '/body/payment_mandate_chain/$chain'
const CHECKOUT = '/body/checkout_mandate/$chain'
const PM = '/body/params/message/parts/0/data/ap2.mandates.PaymentMandate'
const INTENT = '/body/params/message/parts/0/data/ap2.mandates.IntentMandate'
const META = '/body/params/arguments/meta'
const OTHER = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
const covered = (components: string, parameters: string) => `sig1=(${components});${parameters}`
const WBA = 'created=1790000000;expires=1790000300;keyid="platform-2026"'

const x402: Variant[] = [
  {
    id: 'x402-01',
    base: 'x402-http',
    why: 'no nonce',
    changes: [remove(`${AUTH}/nonce`)],
    mustDrop: ['replay_uniqueness'],
    cap: NO_NONCE,
  },
  {
    id: 'x402-02',
    base: 'x402-http',
    why: 'a nonce of zeros',
    changes: [set(`${AUTH}/nonce`, `0x${'0'.repeat(64)}`)],
    mustDrop: ['replay_uniqueness'],
    cap: GUESSABLE,
  },
  {
    id: 'x402-03',
    base: 'x402-http',
    why: 'a nonce of 8 bytes',
    changes: [set(`${AUTH}/nonce`, '0x7c1d4a9e03b85f62')],
    mustDrop: ['replay_uniqueness'],
    cap: INCOMPLETE,
  },
  {
    id: 'x402-04',
    base: 'x402-http',
    why: 'signed for another payee',
    changes: [set(`${AUTH}/to`, OTHER)],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-05',
    base: 'x402-http',
    why: 'signed for another amount',
    changes: [set(`${AUTH}/value`, '24999')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-06',
    base: 'x402-http',
    why: 'for another resource of the host',
    changes: [set(`${X}/resource/url`, 'https://shop.example/other')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-07',
    base: 'x402-http',
    why: 'for a resource of another host',
    changes: [set(`${X}/resource/url`, 'https://shop.example.org/reports')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-08',
    base: 'x402-http',
    why: 'names no resource',
    changes: [remove(`${X}/resource`)],
    mustDrop: ['context_binding'],
  },
  {
    id: 'x402-09',
    base: 'x402-get',
    why: 'another query',
    changes: [set(`${X}/resource/url`, 'https://shop.example/reports?year=2025')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'x402-10',
    base: 'x402-http',
    why: 'the body was exchanged after its digest was made',
    changes: [set('/body/$text/query', 'coffee prices')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-11',
    base: 'x402-http',
    why: 'no digest of the body',
    changes: [remove('/headers/Content-Digest')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'x402-12',
    base: 'x402-http',
    why: 'the network by a name of v1',
    changes: [set(`${X}/accepted/network`, 'base-sepolia')],
    mustDrop: ['context_binding'],
    // The signed offer of the fixture names the CAIP-2 form of the same network.
  },
  {
    id: 'x402-13',
    base: 'x402-http',
    why: 'no payment identifier',
    changes: [remove(`${X}/extensions/payment-identifier`)],
    mustDrop: ['idempotency'],
    mayDrop: ['replay_uniqueness', 'retry_safety', 'auditability'],
  },
  {
    id: 'x402-14',
    base: 'x402-http',
    why: 'a payment identifier of four characters',
    changes: [set(`${X}/extensions/payment-identifier/info/id`, 'ab12')],
    mustDrop: ['idempotency'],
    mayDrop: ['replay_uniqueness', 'retry_safety', 'auditability'],
    cap: GUESSABLE,
  },
  {
    id: 'x402-15',
    base: 'x402-http',
    why: '`required` is text',
    changes: [set(`${X}/extensions/payment-identifier/info/required`, 'no')],
    mustDrop: ['idempotency'],
  },
  {
    id: 'x402-16',
    base: 'x402-http',
    why: 'valid for a day longer',
    changes: [set(`${AUTH}/validBefore`, '1790086520')],
    mustDrop: ['freshness'],
  },
  {
    id: 'x402-17',
    base: 'x402-http',
    why: 'valid since 1970',
    changes: [set(`${AUTH}/validAfter`, '0')],
    mustDrop: ['freshness'],
  },
  {
    id: 'x402-18',
    base: 'x402-http',
    why: 'ends before it begins',
    changes: [set(`${AUTH}/validBefore`, '1789999999')],
    mustDrop: ['freshness'],
  },
  {
    id: 'x402-19',
    base: 'x402-http',
    why: 'never expires',
    changes: [remove(`${AUTH}/validBefore`)],
    mustDrop: ['freshness'],
    cap: INCOMPLETE,
  },
  {
    id: 'x402-20',
    base: 'x402-http',
    why: 'no signature',
    changes: [remove(`${X}/payload/signature`)],
    mustDrop: ['replay_uniqueness'],
    mayDrop: ['auditability'],
    cap: NO_PROOF,
  },
  {
    id: 'x402-21',
    base: 'x402-http',
    why: 'the signature of an example',
    changes: [set(`${X}/payload/signature`, '0x5e71...')],
    mustDrop: ['replay_uniqueness'],
    mayDrop: ['auditability'],
  },
  {
    id: 'x402-22',
    base: 'x402-http',
    why: 'plain http',
    changes: [set('/target', 'http://shop.example/reports')],
    mustDrop: ['retry_safety'],
    mayDrop: ['context_binding'],
    cap: PLAIN_HTTP,
  },
  {
    id: 'x402-23',
    base: 'x402-http',
    why: 'a header that is not base64',
    changes: [set('/headers/PAYMENT-SIGNATURE', '***')],
    mustDrop: ['context_binding'],
    mayDrop: ['replay_uniqueness', 'idempotency', 'freshness', 'retry_safety', 'auditability'],
    cap: UNDECODABLE,
  },
  {
    id: 'x402-24',
    base: 'x402-http',
    why: 'the payer is not named',
    changes: [remove(`${AUTH}/from`)],
    mustDrop: ['auditability'],
    cap: INCOMPLETE,
  },
  {
    id: 'x402-25',
    base: 'x402-http',
    why: 'no receipt was offered',
    changes: [remove(`${X}/extensions/offer-receipt`)],
    mustDrop: ['auditability'],
  },
  {
    id: 'x402-26',
    base: 'x402-permit2',
    why: 'the witness names another payee',
    changes: [set(`${PERMIT}/witness/to`, OTHER)],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-27',
    base: 'x402-permit2',
    why: 'no nonce',
    changes: [remove(`${PERMIT}/nonce`)],
    mustDrop: ['replay_uniqueness'],
    cap: NO_NONCE,
  },
  {
    id: 'x402-28',
    base: 'x402-permit2',
    why: 'a deadline next week',
    changes: [set(`${PERMIT}/deadline`, '1790604800')],
    mustDrop: ['freshness'],
  },
  {
    id: 'x402-29',
    base: 'x402-mcp',
    why: 'another tool than the one that was paid for',
    changes: [set('/body/params/name', 'coffee_report')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-30',
    base: 'x402-mcp',
    why: 'no payment identifier',
    changes: [remove(`${OVER_MCP}/extensions/payment-identifier`)],
    mustDrop: ['idempotency'],
    mayDrop: ['replay_uniqueness', 'retry_safety', 'auditability'],
  },
  {
    id: 'x402-31',
    base: 'x402-a2a',
    why: 'no task',
    changes: [remove('/body/params/message/taskId')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'x402-32',
    base: 'x402-a2a',
    why: 'signed for another amount',
    changes: [set(`${OVER_A2A}/payload/authorization/value`, '1')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-33',
    base: 'x402-v1',
    why: 'v1 without a nonce',
    changes: [remove(`${V1}/payload/authorization/nonce`)],
    mustDrop: ['replay_uniqueness'],
    cap: NO_NONCE,
  },
  {
    id: 'x402-34',
    base: 'x402-challenge',
    why: 'payee rewritten after the offer was signed',
    changes: [set(`${CHALLENGE}/accepts/0/payTo`, OTHER)],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'x402-35',
    base: 'x402-challenge',
    why: 'takes no payment identifiers',
    changes: [remove(`${CHALLENGE}/extensions/payment-identifier`)],
    mustDrop: ['idempotency'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'x402-36',
    base: 'x402-challenge',
    why: 'the offer never expires',
    changes: [remove(`${OFFER}/validUntil`)],
    mustDrop: ['freshness'],
  },
  {
    id: 'x402-37',
    base: 'x402-challenge',
    why: 'a price as a fraction',
    changes: [set(`${CHALLENGE}/accepts/0/amount`, '0.025')],
    mustDrop: ['retry_safety'],
    mayDrop: ['context_binding'],
    cap: MISMATCH,
  },
]

const mpp: Variant[] = [
  {
    id: 'mpp-01',
    base: 'mpp-post',
    why: 'the realm of another host',
    changes: [set(`${MPP}/challenge/realm`, 'shop.example.org')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'mpp-02',
    base: 'mpp-post',
    why: 'the body was exchanged',
    changes: [set('/body/$text/grams', 400)],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'mpp-03',
    base: 'mpp-post',
    why: 'no digest',
    changes: [remove(`${MPP}/challenge/digest`)],
    mustDrop: ['context_binding'],
  },
  {
    id: 'mpp-04',
    base: 'mpp-post',
    why: 'no recipient',
    changes: [remove(`${REQUEST}/recipient`)],
    mustDrop: ['context_binding'],
  },
  {
    id: 'mpp-05',
    base: 'mpp-post',
    why: 'a request that does not decode',
    changes: [set(`${MPP}/challenge/request`, '!!!')],
    mustDrop: ['context_binding'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'mpp-06',
    base: 'mpp-post',
    why: 'splits of more than the amount',
    changes: [set(`${REQUEST}/methodDetails/splits/0/amount`, '750001')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'mpp-07',
    base: 'mpp-post',
    why: 'the intent is not echoed',
    changes: [remove(`${MPP}/challenge/intent`)],
    mustDrop: ['context_binding'],
  },
  {
    id: 'mpp-08',
    base: 'mpp-post',
    why: 'no key',
    changes: [remove('/headers/Idempotency-Key')],
    mustDrop: ['idempotency'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'mpp-09',
    base: 'mpp-post',
    why: 'a key that counts',
    changes: [set('/headers/Idempotency-Key', 'order-00000001')],
    mustDrop: ['idempotency'],
  },
  {
    id: 'mpp-10',
    base: 'mpp-post',
    why: 'an id that counts',
    changes: [set(`${MPP}/challenge/id`, 'ch_17')],
    mustDrop: ['replay_uniqueness'],
    mayDrop: ['retry_safety'],
    cap: GUESSABLE,
  },
  {
    id: 'mpp-11',
    base: 'mpp-get',
    why: 'an id of 22 characters',
    changes: [set(`${MPP}/challenge/id`, 'kTq0Zs8vWb3NfYx1Lr7dHm')],
    mustDrop: ['replay_uniqueness'],
  },
  {
    id: 'mpp-12',
    base: 'mpp-get',
    why: 'no proof',
    changes: [remove(`${MPP}/payload/signature`)],
    mustDrop: ['replay_uniqueness'],
    mayDrop: ['auditability'],
    cap: NO_PROOF,
  },
  {
    id: 'mpp-13',
    base: 'mpp-get',
    why: 'never expires',
    changes: [remove(`${MPP}/challenge/expires`)],
    mustDrop: ['freshness'],
  },
  {
    id: 'mpp-14',
    base: 'mpp-get',
    why: 'expires at a time that is none',
    changes: [set(`${MPP}/challenge/expires`, 'in five minutes')],
    mustDrop: ['freshness'],
  },
  {
    id: 'mpp-15',
    base: 'mpp-get',
    why: 'does not say who pays',
    changes: [remove(`${MPP}/source`)],
    mustDrop: ['auditability'],
  },
  {
    id: 'mpp-16',
    base: 'mpp-get',
    why: 'plain http',
    changes: [set('/target', 'http://shop.example/report')],
    mustDrop: ['retry_safety'],
    mayDrop: ['context_binding'],
    cap: PLAIN_HTTP,
  },
  {
    id: 'mpp-17',
    base: 'mpp-jsonrpc',
    why: 'no challenge id',
    changes: [remove(`${RPC}/challenge/id`)],
    mustDrop: ['replay_uniqueness'],
    mayDrop: ['context_binding', 'idempotency', 'retry_safety', 'auditability'],
    cap: NO_NONCE,
  },
]

const ap2: Variant[] = [
  {
    id: 'ap2-01',
    base: 'ap2-payment',
    why: 'made of another open mandate',
    changes: [set(`${CHAIN}/token/sd_hash`, 'uixoHemmfrrCSbPREo9j-ziLuMkqExsPeWrwA-PK0Ck')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'ap2-02',
    base: 'ap2-payment',
    why: 'more than the person allowed',
    changes: [set(`${CHAIN}/mandate/payment_amount/amount`, 5001)],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'ap2-03',
    base: 'ap2-payment',
    why: 'another currency',
    changes: [set(`${CHAIN}/mandate/payment_amount/currency`, 'USD')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'ap2-04',
    base: 'ap2-payment',
    why: 'another payee',
    changes: [set(`${CHAIN}/mandate/payee`, { id: 'shop_99', name: 'Other', website: 'https://other.example' })],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'ap2-05',
    base: 'ap2-payment',
    why: 'an open mandate without a maximum',
    changes: [remove(`${CHAIN}/open/constraints/0`)],
    mustDrop: ['context_binding'],
  },
  {
    id: 'ap2-06',
    base: 'ap2-payment',
    why: 'no open mandate',
    changes: [remove(`${CHAIN}/open`)],
    mustDrop: ['context_binding'],
    mayDrop: ['freshness', 'auditability'],
  },
  {
    id: 'ap2-07',
    base: 'ap2-payment',
    why: 'for nobody in particular',
    changes: [remove(`${CHAIN}/token/aud`)],
    mustDrop: ['context_binding'],
    mayDrop: ['replay_uniqueness'],
  },
  {
    id: 'ap2-08',
    base: 'ap2-payment',
    why: 'no nonce',
    changes: [remove(`${CHAIN}/token/nonce`)],
    mustDrop: ['replay_uniqueness'],
    cap: NO_NONCE,
  },
  {
    id: 'ap2-09',
    base: 'ap2-payment',
    why: 'a short nonce',
    changes: [set(`${CHAIN}/token/nonce`, '12345')],
    mustDrop: ['replay_uniqueness'],
    cap: GUESSABLE,
  },
  {
    id: 'ap2-10',
    base: 'ap2-payment',
    why: 'no transaction',
    changes: [remove(`${CHAIN}/mandate/transaction_id`)],
    mustDrop: ['idempotency'],
    mayDrop: ['context_binding', 'retry_safety', 'auditability'],
  },
  {
    id: 'ap2-11',
    base: 'ap2-payment',
    why: 'no key of the transport',
    changes: [remove('/headers/Idempotency-Key')],
    mustDrop: ['idempotency'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'ap2-12',
    base: 'ap2-payment',
    why: 'an open mandate for a month',
    changes: [set(`${CHAIN}/open/exp`, 1792592000)],
    mustDrop: ['freshness'],
  },
  {
    id: 'ap2-13',
    base: 'ap2-payment',
    why: 'made after the open mandate had ended',
    changes: [set(`${CHAIN}/token/iat`, 1790009999)],
    mustDrop: ['freshness'],
  },
  {
    id: 'ap2-14',
    base: 'ap2-payment',
    why: 'no key of an agent',
    changes: [remove(`${CHAIN}/open/cnf`)],
    mustDrop: ['auditability'],
  },
  {
    id: 'ap2-15',
    base: 'ap2-checkout',
    why: 'the hash of another checkout',
    changes: [set(`${CHECKOUT}/mandate/checkout_hash`, 'uixoHemmfrrCSbPREo9j-ziLuMkqExsPeWrwA-PK0Ck')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'ap2-16',
    base: 'ap2-checkout',
    why: 'the closed mandate never expires',
    changes: [remove(`${CHECKOUT}/mandate/exp`)],
    mustDrop: ['freshness'],
  },
  {
    id: 'ap2-17',
    base: 'ap2-v01-payment',
    why: 'not signed',
    changes: [remove(`${PM}/user_authorization`)],
    mustDrop: ['context_binding', 'replay_uniqueness'],
    mayDrop: ['auditability', 'freshness'],
    cap: NO_PROOF,
  },
  {
    id: 'ap2-18',
    base: 'ap2-v01-payment',
    why: 'no id of the mandate',
    changes: [remove(`${PM}/payment_mandate_contents/payment_mandate_id`)],
    mustDrop: ['replay_uniqueness', 'idempotency'],
    mayDrop: ['retry_safety', 'auditability', 'context_binding'],
  },
  {
    id: 'ap2-19',
    base: 'ap2-v01-intent',
    why: 'any merchant',
    changes: [set(`${INTENT}/merchants`, null)],
    mustDrop: ['context_binding'],
  },
  {
    id: 'ap2-20',
    base: 'ap2-v01-intent',
    why: 'never expires',
    changes: [remove(`${INTENT}/intent_expiry`)],
    mustDrop: ['freshness'],
  },
]

const ucp: Variant[] = [
  {
    id: 'ucp-01',
    base: 'ucp-complete',
    why: 'the signature leaves the digest out',
    changes: [
      set(
        '/headers/Signature-Input',
        covered('"@method" "@authority" "@path" "ucp-agent" "idempotency-key" "content-type"', WBA),
      ),
    ],
    mustDrop: ['context_binding'],
  },
  {
    id: 'ucp-02',
    base: 'ucp-complete',
    why: 'the signature leaves the path out',
    changes: [
      set(
        '/headers/Signature-Input',
        covered('"@method" "@authority" "ucp-agent" "idempotency-key" "content-digest"', WBA),
      ),
    ],
    mustDrop: ['context_binding'],
  },
  {
    id: 'ucp-03',
    base: 'ucp-complete',
    why: 'the signature leaves the key out',
    changes: [
      set(
        '/headers/Signature-Input',
        covered('"@method" "@authority" "@path" "ucp-agent" "content-digest"', WBA),
      ),
    ],
    mustDrop: ['replay_uniqueness'],
  },
  {
    id: 'ucp-04',
    base: 'ucp-complete',
    why: 'the signature has no times',
    changes: [
      set(
        '/headers/Signature-Input',
        covered('"@method" "@authority" "@path" "ucp-agent" "idempotency-key" "content-digest"', 'keyid="p"'),
      ),
    ],
    mustDrop: ['freshness'],
  },
  {
    id: 'ucp-05',
    base: 'ucp-complete',
    why: 'not signed',
    changes: [remove('/headers/Signature'), remove('/headers/Signature-Input')],
    mustDrop: ['context_binding', 'replay_uniqueness', 'freshness'],
    mayDrop: ['auditability'],
  },
  {
    id: 'ucp-06',
    base: 'ucp-complete',
    why: 'the body was exchanged',
    changes: [set('/body/$text/payment/instruments/0/id', 'pi_2')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'ucp-07',
    base: 'ucp-complete',
    why: 'no key',
    changes: [remove('/headers/Idempotency-Key')],
    mustDrop: ['idempotency', 'replay_uniqueness'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'ucp-08',
    base: 'ucp-complete',
    why: 'a key that can be guessed',
    changes: [set('/headers/Idempotency-Key', '42')],
    mustDrop: ['idempotency', 'replay_uniqueness'],
    cap: GUESSABLE,
  },
  {
    id: 'ucp-09',
    base: 'ucp-complete',
    why: 'no profile',
    changes: [remove('/headers/UCP-Agent')],
    mustDrop: ['context_binding', 'auditability'],
  },
  {
    id: 'ucp-10',
    base: 'ucp-complete',
    why: 'no request id',
    changes: [remove('/headers/Request-Id')],
    mustDrop: ['auditability'],
  },
  {
    id: 'ucp-11',
    base: 'ucp-mcp',
    why: 'no key over MCP',
    changes: [remove(`${META}/idempotency-key`)],
    mustDrop: ['idempotency', 'replay_uniqueness'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'ucp-12',
    base: 'ucp-mcp',
    why: 'no checkout is named',
    changes: [remove('/body/params/arguments/id')],
    mustDrop: ['context_binding'],
  },
]

const acp: Variant[] = [
  {
    id: 'acp-01',
    base: 'acp-create',
    why: 'no key',
    changes: [remove('/headers/Idempotency-Key')],
    mustDrop: ['idempotency', 'replay_uniqueness'],
    mayDrop: ['retry_safety'],
    cap: NO_KEY,
  },
  {
    id: 'acp-02',
    base: 'acp-complete',
    why: 'a key that counts',
    changes: [set('/headers/Idempotency-Key', 'key-000001')],
    mustDrop: ['idempotency', 'replay_uniqueness'],
  },
  {
    id: 'acp-03',
    base: 'acp-complete',
    why: 'a key of two characters',
    changes: [set('/headers/Idempotency-Key', '17')],
    mustDrop: ['idempotency', 'replay_uniqueness'],
    cap: GUESSABLE,
  },
  {
    id: 'acp-04',
    base: 'acp-complete',
    why: 'not signed',
    changes: [remove('/headers/Signature')],
    mustDrop: ['context_binding', 'replay_uniqueness'],
  },
  {
    id: 'acp-05',
    base: 'acp-complete',
    why: 'no Timestamp',
    changes: [remove('/headers/Timestamp')],
    mustDrop: ['freshness', 'replay_uniqueness'],
  },
  {
    id: 'acp-06',
    base: 'acp-complete',
    why: 'no version',
    changes: [remove('/headers/API-Version')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'acp-07',
    base: 'acp-complete',
    why: 'no handler',
    changes: [remove('/body/payment_data/handler_id')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'acp-08',
    base: 'acp-complete',
    why: 'no Authorization',
    changes: [remove('/headers/Authorization')],
    mustDrop: ['auditability'],
  },
  {
    id: 'acp-09',
    base: 'acp-complete',
    why: 'plain http',
    changes: [set('/target', 'http://shop.example/checkout_sessions/cs_81aa/complete')],
    mustDrop: ['retry_safety'],
    cap: PLAIN_HTTP,
  },
  {
    id: 'acp-10',
    base: 'acp-delegate',
    why: 'for any merchant',
    changes: [remove('/body/allowance/merchant_id')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'acp-11',
    base: 'acp-delegate',
    why: 'for any amount',
    changes: [remove('/body/allowance/max_amount')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'acp-12',
    base: 'acp-delegate',
    why: 'ends before it begins',
    changes: [set('/body/allowance/expires_at', '2026-09-21T13:00:00Z')],
    mustDrop: ['freshness'],
  },
  {
    id: 'acp-13',
    base: 'acp-delegate',
    why: 'never ends',
    changes: [remove('/body/allowance/expires_at')],
    mustDrop: ['freshness'],
  },
  {
    id: 'acp-14',
    base: 'acp-delegate',
    why: 'a maximum as a fraction',
    changes: [set('/body/allowance/max_amount', 18.9)],
    mustDrop: ['context_binding'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'acp-15',
    base: 'acp-mcp',
    why: 'no key over MCP',
    changes: [remove(`${META}/idempotency_key`)],
    mustDrop: ['idempotency', 'replay_uniqueness'],
    mayDrop: ['retry_safety'],
    cap: NO_KEY,
  },
]

const mcp: Variant[] = [
  {
    id: 'mcp-01',
    base: 'mcp-2026',
    why: 'the header names another tool',
    changes: [set('/headers/Mcp-Name', 'pour')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'mcp-02',
    base: 'mcp-2026',
    why: 'the header names another method',
    changes: [set('/headers/Mcp-Method', 'tools/list')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'mcp-03',
    base: 'mcp-2026',
    why: 'the header names another version',
    changes: [set('/headers/MCP-Protocol-Version', '2025-11-25')],
    mustDrop: ['context_binding'],
    cap: MISMATCH,
  },
  {
    id: 'mcp-04',
    base: 'mcp-2026',
    why: 'no Mcp-Name',
    changes: [remove('/headers/Mcp-Name')],
    mustDrop: ['context_binding'],
  },
  {
    id: 'mcp-05',
    base: 'mcp-2026',
    why: 'an id that counts',
    changes: [set('/body/id', 1)],
    mustDrop: ['replay_uniqueness'],
  },
  {
    id: 'mcp-06',
    base: 'mcp-2026',
    why: 'no application key',
    changes: [remove('/body/params/_meta/example.org~1idempotency-key')],
    mustDrop: ['idempotency', 'replay_uniqueness'],
    mayDrop: ['retry_safety'],
  },
  {
    id: 'mcp-07',
    base: 'mcp-2026',
    why: 'no trace',
    changes: [remove('/body/params/_meta/traceparent')],
    mustDrop: ['auditability'],
  },
  {
    id: 'mcp-08',
    base: 'mcp-2025',
    why: 'arguments that are a list',
    changes: [set('/body/params/arguments', ['sencha'])],
    mustDrop: ['context_binding'],
  },
]

export const VARIANTS: readonly Variant[] = [...x402, ...mpp, ...ap2, ...ucp, ...acp, ...mcp]

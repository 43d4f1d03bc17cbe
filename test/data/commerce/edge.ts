// Transactions on their way to a merchant: sound ones at a time when they hold, each rule of the edge with one that it blocks, and
// what it only notes as long as nobody wrote a policy.
import { gzipSync } from 'node:zlib'
import type { ReasonCode } from '../../../src/commerce/policy/reasons.ts'
import { PERMIT_HEADER_END } from '../../../src/lib/tokens.ts'
import { change, wire, type Change, type Plain, type SampleSource } from '../../support/commerce.ts'
import { KINDS } from './kinds.ts'
import { SAMPLES } from './samples.ts'
import { TOKENS } from './tokens.ts'

/** When the samples hold. */
export const LIVE_MS = 1_790_000_065_000
const LIVE = LIVE_MS / 1000

/** As bytes, for a merchant at some host. */
export interface MerchantRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** No Host: the edge writes its own. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** @param authority of the merchant that the sample is made for instead, with its port where that is not 443 */
export function toMerchant(source: SampleSource, authority: string): MerchantRequest {
  const text = JSON.stringify(source)
    .replaceAll('shop.example', authority)
    // The challenges of MPP end a little before the others begin.
    .replaceAll('2026-09-21T14:05:00Z', '2026-09-21T14:20:00Z')
  const { target, method = 'POST', headers = {}, body } = wire(JSON.parse(text) as SampleSource)
  const { pathname, search } = new URL(target)
  return {
    method,
    path: pathname + search,
    headers: Object.entries(headers)
      .filter(([name]) => name !== 'Host')
      .flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const)),
    body: Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const remove = (at: string): Change => ({ op: 'remove', at })
const sample = (name: string, ...changes: Change[]): SampleSource => change(SAMPLES[name]!, changes)
const post = (path: string, body: Plain, headers: { [name: string]: Plain } = {}): SampleSource => ({
  target: `https://shop.example${path}`,
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
})
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const random = (chars: number) => 'q7Rk2Zt9Xw4Vb8Np3Lj6Hd5Gs'.repeat(4).slice(0, chars)
const blob = (seed: string) => Buffer.from(seed.repeat(12)).toString('base64')

const PAID = '/headers/PAYMENT-SIGNATURE/$base64'
const SIGNED = `${PAID}/payload/authorization`
const MPP = '/headers/Authorization/$payment/challenge'
const CHAIN = '/body/payment_mandate_chain/$chain'
const STRANGER = '0x27b1fdb04752bbc536007a920d24acb045561c26'
const ZERO = `0x${'0'.repeat(40)}`
const CARD = ['4242', '4242', '4242', '4242'].join('')
const KEY = ['sk', 'live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_')
const GROUPS = CARD.match(/.{4}/g)!
const TEXT = { 'Content-Type': 'text/plain' }
const PERMIT = `${'eyJhbGciOiJFZERTQSJ9'.repeat(4)}${PERMIT_HEADER_END}.eyJhIjoxfQ.${random(40)}`
const SIGNER = ['AKIA', 'IOSFODNN7EXAMPLE'].join('')
const HOOK = ['https://hooks.slack.com/services', 'T00000000', 'B00000000', 'q7Rk2Zt9Xw4Vb8Np3Lj6Hd5G'].join('/')
/** Of sixteen digits, with the first and the last of a card. */
const ORDERS = Array.from({ length: 20 }, (_, n) => withCheck(`40288123456${String(7000 + n)}`))
function withCheck(digits: string): string {
  const sum = [...digits].toReversed().reduce((total, digit, index) => total + (index % 2 === 1 ? Number(digit) : Math.floor(Number(digit) / 5) + ((Number(digit) * 2) % 10)), 0)
  return digits + String((10 - (sum % 10)) % 10)
}
const tokenOf = (kind: string) => TOKENS.find(([one]) => one === kind)![1]
const note = (text: string) => sample('acp-create', set('/body/order_notes', text))

// sound ----------------------------------------------------------------------------------------------------------------

const instrument = (credential: Plain): SampleSource =>
  post(
    '/checkout-sessions/chk_81aa/complete',
    { payment: { instruments: [{ id: 'pi_1', handler_id: 'h_1', type: 'card', credential }] } },
    { 'UCP-Agent': 'profile="https://platform.example/.well-known/ucp"', 'Idempotency-Key': 'order-81' },
  )
const ucpAgent = { 'UCP-Agent': 'profile="https://platform.example/.well-known/ucp"' }
const paymentChain = (SAMPLES['ap2-payment']!.body as { [name: string]: Plain })['payment_mandate_chain']!

/** What stands where its protocol wants it, and what merchants are sent besides payments. */
const ORDINARY: Readonly<Record<string, SampleSource>> = {
  'UCP with a token of Google Pay': instrument({
    type: 'PAYMENT_GATEWAY',
    token: JSON.stringify({
      signature: blob('s'),
      intermediateSigningKey: { signedKey: JSON.stringify({ keyValue: blob('k') }), signatures: [blob('t')] },
      protocolVersion: 'ECv2',
      signedMessage: JSON.stringify({ encryptedMessage: blob('m'), ephemeralPublicKey: blob('e'), tag: blob('g') }),
    }),
  }),
  'UCP with a token of Apple Pay': instrument({
    type: 'APPLE_PAY',
    paymentData: { version: 'EC_v1', data: blob('d'), signature: blob('s'), header: { publicKeyHash: blob('h') } },
  }),
  'UCP with a network token': instrument({ type: 'network_token', number: CARD, cryptogram: blob('c').slice(0, 28) }),
  'UCP with a network token of 2026-04': instrument({ type: 'card', card_number_type: 'network_token', number: CARD, cvc: '123' }),
  'UCP with a token that keeps the form of a card': instrument({ type: 'vault', token: CARD }),
  'UCP with a payment mandate for the provider behind the shop': change(instrument({ type: 'ap2', token: paymentChain }), [
    set('/body/payment/instruments/0/credential/token/$chain/token/aud', 'https://provider.example.com/mandates'),
  ]),
  'UCP catalogue, where the path ends with a verb': post('/catalog/product', { id: 'sencha' }, ucpAgent),
  'ACP with card data where it is delegated': sample(
    'acp-delegate',
    set('/body/payment_method/number', CARD),
    set('/body/payment_method/cvc', '123'),
  ),
  'ACP with the card of a cardholder whom the bank asks': post(
    '/delegate_authentication',
    {
      merchant_id: 'shop_81',
      payment_method: { type: 'card', number: CARD, exp_month: '03', exp_year: '2030', name: 'Ada Example' },
      amount: { value: 1890, currency: 'EUR' },
    },
    { 'API-Version': '2026-04-17', Authorization: 'Bearer made-up-access-token' },
  ),
  'an answer of ACP that a webhook passes on': post('/relay', {
    type: 'order_update',
    data: { type: 'order', checkout_session_id: 'cs_81aa', permalink_url: 'https://shop.example/o/81' },
  }),
  'MPP with a token of Stripe': sample(
    'mpp-get',
    set(MPP, { ...(SAMPLES['mpp-get']!.headers!['Authorization'] as { $payment: { challenge: object } }).$payment.challenge, method: 'stripe', request: { $base64url: { amount: '5000', currency: 'usd' } } } as Plain),
    set('/headers/Authorization/$payment/payload', { spt: 'spt_1N4Zv32eZvKYlo2CPhVPkJlW' }),
  ),
  'x402 of a scheme that pays an escrow first': sample(
    'x402-bare',
    set(`${PAID}/accepted/scheme`, 'auth-capture'),
    set(`${SIGNED}/to`, STRANGER),
  ),
  'x402 in a coin that nobody pinned': sample('x402-bare', set(`${PAID}/accepted/asset`, STRANGER)),
  'x402 for a resource that a proxy calls http': sample('x402-bare', set(`${PAID}/resource/url`, 'http://shop.example/reports')),
  'x402 that asks again for what it paid long ago': sample('x402-get', set(`${SIGNED}/validBefore`, String(LIVE - 3600))),
  'an order of a shop': post('/orders', { id: 'o-4242424242424241', amount: 12, phone: '+1 555 123 4567', ean: '4006381333931' }),
  'a login': post('/login', { email: 'ada@example.org', password: random(40) }),
  'a refresh of a token of the merchant': post(
    '/oauth/token',
    `grant_type=refresh_token&refresh_token=${random(64)}&client_secret=${random(40)}`,
    FORM,
  ),
  'a key of the merchant in its header': post('/v1', {}, { 'X-Api-Key': KEY, Authorization: `Bearer ${KEY}` }),
  'a key of the merchant in the query': post(`/v1?api_key=${random(40)}`, {}),
  'lines of JSON': post('/events', '{"a":1}\n{"a":2}', { 'Content-Type': 'application/x-ndjson' }),
}

/** Requests that real clients send, and that look like something else. */
const LOOKALIKES: Readonly<Record<string, SampleSource>> = {
  'x402 for a resource with a slash at its end': sample('x402-bare', set(`${PAID}/resource/url`, 'https://shop.example/reports/')),
  'x402 for a path with other escapes': sample('x402-bare', set('/target', 'https://shop.example/caf%C3%A9-au'), set(`${PAID}/resource/url`, 'https://shop.example/caf%c3%a9%2Dau')),
  'x402 for the path behind a router': sample('x402-bare', set('/target', 'https://shop.example/api/reports')),
  'x402 for a pattern of routes': sample('x402-bare', set('/target', 'https://shop.example/weather/ulm'), set(`${PAID}/resource/url`, 'https://shop.example/weather/:city')),
  'x402 for the service as a whole': sample('x402-bare', set(`${PAID}/resource/url`, 'https://shop.example/')),
  'x402 for the origin behind a CDN': sample('x402-bare', set(`${PAID}/resource/url`, 'https://origin.shop.example/reports')),
  'x402 for the name that a provider gave the origin': sample('x402-bare', set(`${PAID}/resource/url`, 'https://d111abc.cloudfront.net/reports')),
  'x402 for a server that knows no name of its own': sample('x402-bare', set(`${PAID}/resource/url`, 'http://localhost:3000/reports')),
  'x402 for a server in a cluster': sample('x402-bare', set(`${PAID}/resource/url`, 'http://10.0.3.7:8080/reports')),
  'x402 for a name that is no address': sample('x402-bare', set(`${PAID}/resource/url`, 'reports')),
  'MPP of a realm that a provider named': sample('mpp-get', set(`${MPP}/realm`, 'shop-api.vercel.app')),
  'an offer of somebody else that is listed': post('/listings', { x402Version: 2, resource: { url: 'https://other.example.org/x' }, accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: '1', asset: STRANGER, payTo: ZERO, maxTimeoutSeconds: 60 }] }),
  'ids that pass the check of cards': post(`/orders/${ORDERS[0]!}?ref=${ORDERS[1]!}`, { order_id: ORDERS[2]!, serial: Number(ORDERS[3]!), siret: '36000000000014', number: '4917612345679' }, { 'Request-Id': ORDERS[4]! }),
  'an order that says how it was paid': post('/orders', { order: ORDERS[0]!, card_last4: '4242', brand: 'visa', payment_method: { type: 'card', network_transaction_id: ORDERS[1]! }, card_id: ORDERS[2]! }),
  'parcels, numbered in groups of four': post('/ship', { tracking: '9400 4242 4242 4242 4242 00' }),
  'a code that is for no card': post('/login', { security_code: '1234' }),
  'secrets of OAuth and webhooks in hexadecimal': post('/oauth/token', `client_secret=${'9f3a61c7'.repeat(8)}&signing_secret=${'9f3a61c8'.repeat(8)}`, FORM),
  'an address that somebody signed': post('/jobs', { url: `https://b.s3.amazonaws.com/a.mp3?X-Amz-Credential=${SIGNER}%2F20260921%2Fus-east-1%2Fs3%2Faws4_request` }),
  'the same address as a path': post(`/b/a.mp3?X-Amz-Credential=${SIGNER}%2F20260921%2Fus-east-1%2Fs3%2Faws4_request`, {}),
  'a hook to call, a key to sign it with, a feed with a password': post('/hooks', { url: HOOK, secret: `whsec_${random(40)}`, feed: 'https://ada:lovelace@feeds.example.org/x' }),
  'x402 with members of an extension that differ in case': sample('x402-bare', set(`${PAID}/extensions`, { bazaar: { info: { input: { queryParams: { id: '1', ID: '2' } } } } })),
  'names that differ in case': post('/labels', { id: 1, ID: 2 }),
  'a file': post('/files', '%PDF-1.7\n0000000016 00000 n \n[ 278 278 355 556 1000 ]\u00e2', { 'Content-Type': 'application/pdf' }),
  'a coding that codes nothing': post('/orders', { id: 1 }, { 'Content-Encoding': 'utf-8' }),
  'a method that is said again': post('/orders', {}, { 'X-HTTP-Method-Override': 'POST', 'X-Original-URL': '/orders' }),
}

const unread = /does not decode/
/** Every sample and kind of message but those that do not decode, and `ORDINARY`. */
export const SOUND: readonly (readonly [name: string, source: SampleSource])[] = [
  ...Object.entries(SAMPLES),
  ...Object.entries(KINDS)
    .filter(([name]) => !unread.test(name))
    .map(([name, { source }]) => [name, source] as const),
  ...Object.entries(ORDINARY),
  ...Object.entries(LOOKALIKES),
]

// blocked --------------------------------------------------------------------------------------------------------------

export interface Blocked {
  readonly code: ReasonCode
  readonly when: string
  readonly source: SampleSource
  /** Instead of the encoded body. */
  readonly bytes?: Buffer
}

const gzip = { 'Content-Encoding': 'gzip' }
const b64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const BLOCKED: readonly Blocked[] = [
  { code: 'AMOUNT_UNPARSEABLE', when: 'it is a word', source: sample('x402-bare', set(`${SIGNED}/value`, 'all')) },
  { code: 'AMOUNT_NEGATIVE', when: 'below zero', source: sample('x402-bare', set(`${SIGNED}/value`, '-1')) },
  {
    code: 'RECIPIENT_ZERO',
    when: 'both say so',
    source: sample('x402-bare', set(`${SIGNED}/to`, ZERO), set(`${PAID}/accepted/payTo`, ZERO)),
  },
  ...[['RECIPIENT_MALFORMED', 'shop.eth'] as const, ['RECIPIENT_TOKEN', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'] as const].map(([code, to]) => ({
    code,
    when: 'both say so',
    source: sample('x402-bare', set(`${SIGNED}/to`, to), set(`${PAID}/accepted/payTo`, to)),
  })),
  // The bytes of a Cyrillic letter, as a header comes: one character each.
  { code: 'LOOKALIKE_HOST', when: 'the profile is of one', source: sample('ucp-complete', set('/headers/UCP-Agent', 'profile="https://sh\u00D0\u00BEp.example/.well-known/ucp"')) },
  { code: 'REQUIREMENT_INCOMPLETE', when: 'nobody is asked to be paid', source: sample('x402-bare', remove(`${PAID}/accepted/payTo`)) },
  { code: 'SIGNED_MEMBER_MISSING', when: 'a card may be used by any merchant', source: sample('acp-delegate', remove('/body/allowance/merchant_id')) },
  { code: 'SIGNED_MEMBER_MALFORMED', when: 'a card may be used again and again', source: sample('acp-delegate', set('/body/allowance/reason', 'recurring')) },
  { code: 'SIGNED_MEMBER_MISSING', when: 'no token completes a checkout', source: sample('acp-complete', remove('/body/payment_data/instrument/credential/token')) },
  { code: 'SIGNED_MEMBER_MISSING', when: 'a token of the network has no cryptogram', source: instrument({ type: 'network_token', number: CARD }) },
  { code: 'SIGNED_MEMBER_MISSING', when: 'nobody signed', source: sample('x402-bare', remove(`${PAID}/payload/signature`)) },
  { code: 'SIGNED_MEMBER_MALFORMED', when: 'the payer is nobody', source: sample('x402-bare', set(`${SIGNED}/from`, '0x1')) },
  { code: 'BINDING_PAYEE', when: 'a permit is for another spender than the proxy', source: sample('x402-permit2', set(`${PAID}/payload/permit2Authorization/spender`, STRANGER)) },
  { code: 'BINDING_PAYEE', when: 'signed for another', source: sample('x402-bare', set(`${SIGNED}/to`, STRANGER)) },
  { code: 'BINDING_AMOUNT', when: 'signed for less', source: sample('x402-bare', set(`${SIGNED}/value`, '24999')) },
  {
    code: 'BINDING_RESOURCE',
    when: 'another path is paid for',
    source: sample('x402-bare', set(`${PAID}/resource/url`, 'https://shop.example/other')),
  },
  {
    code: 'BINDING_RESOURCE',
    when: 'another checkout is completed',
    source: sample('ucp-create', set('/target', 'https://shop.example/checkout-sessions/chk_1'), set('/body', { id: 'chk_2' }), remove('/headers/Content-Digest')),
  },
  { code: 'BINDING_HOST', when: 'the resource is of somebody else', source: sample('x402-bare', set(`${PAID}/resource/url`, 'https://bank.example.org/reports')) },
  {
    code: 'DOMAIN_MISMATCH',
    when: 'the realm is somebody else',
    source: sample('mpp-post', set(`${MPP}/realm`, 'bank.example.org')),
  },
  {
    code: 'DOMAIN_MISMATCH',
    when: 'the mandate is for somebody else',
    source: sample('ap2-checkout', set('/body/checkout_mandate/$chain/token/aud', 'https://other.example.org/')),
  },
  { code: 'BINDING_DIGEST', when: 'the body was changed', source: sample('mpp-post', set('/body', '{"tea":"sencha","grams":900}')) },
  {
    code: 'BINDING_DIGEST',
    when: 'it is that of the body without its coding',
    source: sample('ucp-complete', set('/headers/Content-Encoding', 'gzip')),
    bytes: gzipSync('{"payment":{"instruments":[{"id":"pi_1","handler_id":"gpay","type":"card","selected":true}]}}'),
  },
  { code: 'BINDING_HASH', when: 'sd_hash is another', source: sample('ap2-payment', set(`${CHAIN}/token/sd_hash`, 'c29tZXRoaW5nIGVsc2U')) },
  { code: 'SIGNATURE_INVALID', when: 'another key signed the closed mandate', source: sample('ap2-payment', set(`${CHAIN}/proof`, `${'Zm9ydHktdHdv'.repeat(7)}Zg`)) },
  {
    code: 'BINDING_OFFER',
    when: 'payTo was rewritten after it was signed',
    source: sample('x402-http', set(`${PAID}/accepted/payTo`, STRANGER), set(`${SIGNED}/to`, STRANGER)),
  },
  {
    code: 'BINDING_CONSTRAINT',
    when: 'more than was allowed',
    source: sample('ap2-payment', set(`${CHAIN}/mandate/payment_amount/amount`, 5001)),
  },
  { code: 'WINDOW_EXPIRED', when: 'and no key asks for an old answer', source: sample('x402-bare', set(`${SIGNED}/validBefore`, String(LIVE - 1))) },
  {
    code: 'PRIVATE_TARGET',
    when: 'the merchant is sent there for a profile',
    source: sample('ucp-create', set('/headers/UCP-Agent', 'profile="https://169.254.169.254/latest"')),
  },
  { code: 'SECRET_IN_BODY', when: 'a key of an issuer', source: note(`my key is ${KEY}`) },
  { code: 'SECRET_IN_BODY', when: 'a seed phrase', source: note(tokenOf('seed_phrase')) },
  { code: 'SECRET_IN_BODY', when: 'a private key', source: note(tokenOf('private_key_pem')) },
  {
    code: 'SECRET_IN_BODY',
    when: 'a key of a wallet under its name',
    source: sample('acp-create', set('/body/privateKey', `0x${'c0ffee12'.repeat(8)}`)),
  },
  { code: 'SECRET_IN_BODY', when: 'in a form', source: post('/orders', `note=${KEY.replaceAll('_', '%5F')}`, FORM) },
  {
    code: 'SECRET_IN_BODY',
    when: 'behind a coding',
    source: post('/orders', '', gzip),
    bytes: gzipSync(JSON.stringify({ note: KEY })),
  },
  { code: 'SECRET_IN_URL', when: 'a key of an issuer', source: post(`/orders?key=${KEY}`, {}) },
  { code: 'CARD_DATA', when: 'in a note', source: note(`card ${CARD}`) },
  { code: 'CARD_DATA', when: "the card's own number in a checkout", source: instrument({ type: 'pan', number: CARD }) },
  { code: 'CARD_DATA', when: 'beside a token', source: instrument({ type: 'card', card_number_type: 'fpan', number: CARD, token: 'tok_1' }) },
  { code: 'CARD_DATA', when: 'with the spaces of a typesetter', source: note(`card ${GROUPS.join('\u00a0')}`) },
  { code: 'CARD_DATA', when: 'with hyphens that do not break', source: note(`card ${GROUPS.join('\u2011')}`) },
  { code: 'CARD_DATA', when: 'in JSON in a text', source: note(JSON.stringify({ number: CARD, cvc: '123' })) },
  { code: 'CARD_DATA', when: 'in the path', source: post(`/cards/${CARD}`, {}) },
  { code: 'CARD_DATA', when: 'in a form whose type is shouted', source: post('/pay', `card=${GROUPS.join('+')}`, { 'Content-Type': 'APPLICATION/X-WWW-FORM-URLENCODED' }) },
  { code: 'CARD_DATA', when: 'in text of another charset', source: post('/pay', '', TEXT), bytes: Buffer.from(`caf\u00e9, card ${CARD}`, 'latin1') },
  { code: 'SECRET_IN_BODY', when: 'beside a file', source: post('/pay', '', { 'Content-Type': 'multipart/form-data; boundary=x' }), bytes: Buffer.concat([Buffer.from(`--x\r\n\r\n${KEY}\r\n--x\r\n\r\n`), Buffer.from([0xff, 0xd8, 0xff]), Buffer.from('\r\n--x--')]) },
  { code: 'SECRET_IN_BODY', when: 'escaped in text that is no form', source: post('/pay', `note=${KEY.replaceAll('_', '%5F')}`, TEXT) },
  { code: 'SECRET_IN_BODY', when: 'the words of a wallet, numbered', source: note(tokenOf('seed_phrase').split(' ').map((word, n) => `${n + 1}. ${word}`).join('\n')) },
  { code: 'SECRET_IN_BODY', when: 'a permit, its dots escaped', source: post('/pay', `permit=${PERMIT.replaceAll('.', '%2E')}`, FORM) },
  { code: 'SECRET_IN_BODY', when: 'a permit, escaped in JSON', source: post('/pay', `{"permit":"${PERMIT.replace('.', '\\u002e')}"}`) },
  { code: 'SECRET_IN_URL', when: 'a permit, its dots escaped', source: post(`/pay?permit=${PERMIT.replaceAll('.', '%2E')}`, {}) },
  { code: 'DUPLICATE_PAYMENT', when: 'a member once more in capitals', source: sample('x402-bare', set(`${SIGNED}/To`, STRANGER)) },
  { code: 'DUPLICATE_PAYMENT', when: 'a member of MPP once more in capitals', source: sample('mpp-get', set(`${MPP}/REALM`, 'shop.example')) },
  { code: 'MALFORMED', when: 'an amount is a list of one', source: sample('x402-bare', set(`${SIGNED}/value`, ['1'])) },
  { code: 'MALFORMED', when: 'a payee is a list of one', source: sample('x402-permit2', set(`${PAID}/payload/permit2Authorization/witness/to`, [STRANGER])) },
  { code: 'CARD_DATA', when: 'in groups, whatever its name', source: post('/orders', { id: '4242 4242 4242 4242' }) },
  { code: 'CARD_DATA', when: 'beside the day it expires', source: post('/orders', { number: CARD, exp_month: 11 }) },
  { code: 'CARD_DATA', when: 'behind more ids than are told', source: post('/orders', { ...Object.fromEntries(ORDERS.map((id, n) => [`a${n}`, id])), note: `card ${CARD}` }) },
  { code: 'CARD_DATA', when: 'in a form', source: post('/pay', `card=${CARD}`, FORM) },
  { code: 'HEADER_CONFLICT', when: 'two keys', source: sample('acp-create', set('/headers/Idempotency-Key', ['a', 'b'])) },
  { code: 'HEADER_BODY_MISMATCH', when: 'another tool', source: sample('mcp-2026', set('/headers/Mcp-Name', 'drain')) },
  {
    code: 'HEADER_BODY_MISMATCH',
    when: 'another key',
    source: sample('ucp-mcp', set('/headers/Idempotency-Key', 'another')),
  },
  {
    code: 'DUPLICATE_PAYMENT',
    when: 'one of each version',
    source: sample('x402-bare', set('/headers/X-PAYMENT', SAMPLES['x402-v1']!.headers!['X-PAYMENT']!)),
  },
  { code: 'VERSION_CONFLICT', when: 'v2 in the header of v1', source: sample('x402-v1', set('/headers/X-PAYMENT/$base64/x402Version', 2)) },
  {
    code: 'DETECT-CONFLICT',
    when: 'x402 and MPP',
    source: sample('x402-bare', set('/headers/Authorization', SAMPLES['mpp-get']!.headers!['Authorization']!)),
  },
  { code: 'DETECT-CONFLICT', when: 'a member twice', source: post('/orders', '{"amount":1,"amount":1000}') },
  {
    code: 'UNSIGNED_MANDATE',
    when: 'it says that it is not signed',
    source: post('/pay', {
      payment_mandate: `${b64({ alg: 'none' })}.${b64({ vct: 'mandate.payment.1', payment_amount: { amount: 1, currency: 'EUR' } })}.c2ln~`,
    }),
  },
  {
    code: 'OVERSIZE',
    when: 'once its coding is undone',
    source: post('/orders', '', gzip),
    bytes: gzipSync(`"${' '.repeat(256 * 1024)}"`),
  },
  { code: 'MALFORMED', when: 'broken JSON', source: post('/orders', '{"a":') },
  { code: 'MALFORMED', when: 'a payment that does not decode', source: sample('x402-bare', set('/headers/PAYMENT-SIGNATURE', '%%%')) },
  { code: 'MALFORMED', when: 'a mandate that does not decode', source: post('/pay', { payment_mandate: 'eyJhbGciOiJFUzI1NiJ9...' }) },
  { code: 'MALFORMED', when: 'a coding that it does not have', source: post('/orders', {}, gzip) },
]

export const requestOf = ({ source, bytes }: Blocked, authority: string): MerchantRequest => {
  const request = toMerchant(source, authority)
  return bytes === undefined ? request : { ...request, body: bytes }
}

/** Denied by /v1/inspect, and noted at the edge until somebody writes a policy. */
export const NOTED: readonly Omit<Blocked, 'bytes'>[] = [
  { code: 'BINDING_HOST', when: 'the realm is next door', source: sample('mpp-post', set(`${MPP}/realm`, 'pay.shop.example')) },
  { code: 'BINDING_RESOURCE', when: 'a server knows no name of its own', source: LOOKALIKES['x402 for a server that knows no name of its own']! },
  { code: 'PRIVATE_TARGET', when: 'a server knows no name of its own', source: LOOKALIKES['x402 for a server that knows no name of its own']! },
  { code: 'DOMAIN_MISMATCH', when: 'a provider named the origin', source: LOOKALIKES['x402 for the name that a provider gave the origin']! },
  { code: 'RECIPIENT_ZERO', when: 'it is offered elsewhere', source: LOOKALIKES['an offer of somebody else that is listed']! },
  { code: 'ASSET_NOT_ALLOWED', when: 'nobody pinned it', source: ORDINARY['x402 in a coin that nobody pinned']! },
  {
    code: 'NETWORK_NOT_ALLOWED',
    when: 'nobody knows it',
    source: sample('x402-bare', set(`${PAID}/accepted/network`, 'eip155:31337')),
  },
  { code: 'SCHEME_NOT_ALLOWED', when: 'it is not exact', source: ORDINARY['x402 of a scheme that pays an escrow first']! },
  { code: 'INSECURE_SCHEME', when: 'a proxy calls it http', source: ORDINARY['x402 for a resource that a proxy calls http']! },
  { code: 'WINDOW_EXPIRED', when: 'a key asks for an old answer', source: ORDINARY['x402 that asks again for what it paid long ago']! },
  {
    code: 'WINDOW_EXPIRED',
    when: 'a key in its header asks for it',
    source: sample(
      'x402-bare',
      set(`${SIGNED}/validBefore`, String(LIVE - 1)),
      set('/headers/Idempotency-Key', 'order-81'),
    ),
  },
  { code: 'SECRET_IN_BODY', when: 'a password', source: ORDINARY['a login']! },
  { code: 'SECRET_IN_URL', when: 'a key by its name', source: ORDINARY['a key of the merchant in the query']! },
]

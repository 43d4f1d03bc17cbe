// ACP as agents of twelve countries speak it: carts, checkout, delegated payment and authentication, feeds, webhooks, answers.
import type { Plain, SampleSource } from '../../../support/commerce.ts'
import type { Benign } from './index.ts'
import { hex, NOTES, orderNumber, type Shop, SHOPS, uuid } from './words.ts'

const VERSIONS = ['2025-09-29', '2025-12-12', '2026-01-30', '2026-04-17']

export const ACP: readonly Benign[] = SHOPS.flatMap((shop, n) =>
  messagesOf(shop, n).map(
    ([what, source, review = []]): Benign => ({ id: `ACP ${shop.locale} ${what}`, source, is: 'acp', review }),
  ),
)

type Row = readonly [what: string, source: SampleSource, review?: Benign['review']]

function messagesOf(shop: Shop, n: number): Row[] {
  const base = `https://${shop.host}${['', '/api', '/acp/v1'][n % 3]}`
  const order = orderNumber(n)
  const session = ['cs_', 'checkout_session_', ''][n % 3]! + (n % 4 === 3 ? orderNumber(n + 40) : hex(n, 24))
  const currency = shop.currency.toLowerCase()
  const headers = (key = true): { [name: string]: Plain } => ({
    Authorization: `Bearer ${hex(n + 90, 40)}`,
    'Content-Type': n % 2 === 0 ? 'application/json' : 'application/json; charset=utf-8',
    'API-Version': VERSIONS[n % 4]!,
    'Accept-Language': shop.locale,
    'User-Agent': 'TeaAgent/2.1 (+https://agent.example)',
    'Request-Id': `req_${hex(n + 3, 20)}`,
    Timestamp: '2026-09-21T14:13:40Z',
    ...(key && { [n % 5 === 4 ? 'idempotency-key' : 'Idempotency-Key']: n % 3 === 2 ? `order-${order}` : uuid(n) }),
  })
  const send = (method: string, path: string, body?: Plain, key = true): SampleSource => ({
    target: base + path,
    method,
    headers: headers(key),
    ...(body !== undefined && { body: n % 2 === 0 ? body : { $text: body } }),
  })
  const answer = (method: string, path: string, body: Plain): SampleSource => ({
    target: base + path,
    method,
    headers: { 'Content-Type': 'application/json', 'Request-Id': `req_${hex(n + 3, 20)}`, 'Idempotency-Key': uuid(n) },
    body,
  })
  const mcp = (name: string, args: { [name: string]: Plain }, key: boolean): SampleSource => ({
    target: `${base}/mcp`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: n,
      method: 'tools/call',
      params: { name, arguments: { meta: { api_version: '2026-04-17', ...(key && { idempotency_key: uuid(n) }) }, ...args } },
    },
  })
  const address = { name: `${shop.first} ${shop.last}`, line_one: shop.street, line_two: '', city: shop.city, state: '', country: shop.country, postal_code: shop.post } satisfies Plain
  const buyer = { first_name: shop.first, last_name: shop.last, email: `buyer+${n}@mail.example`, phone_number: shop.phone } satisfies Plain
  const lines = shop.items.map((item, at) => ({
    id: `li_${at}`,
    item: { id: at === 0 ? orderNumber(n + 60) : `sku-${at}`, name: item, unit_amount: 1250 * (at + 1) },
    quantity: at + 1,
    name: item,
    totals: [{ type: 'total', display_text: item, amount: 1250 * (at + 1) ** 2 }],
  })) satisfies Plain
  const totals = [
    { type: 'items_base_amount', display_text: 'Σ', amount: 6250 },
    { type: 'discount', display_text: '−10 %', amount: -625 },
    { type: 'tax', display_text: 'VAT', amount: 893 },
    { type: 'total', display_text: 'Total', amount: 6518 },
  ] satisfies Plain
  const whole = { id: session, protocol: { version: '2026-04-17' }, status: 'ready_for_payment', currency, buyer, line_items: lines, totals, messages: [], links: [{ type: 'terms_of_use', url: `https://${shop.host}/terms` }], metadata: { order_reference: order } } satisfies Plain
  const allowance = { reason: 'one_time', max_amount: 6518, currency, checkout_session_id: session, merchant_id: shop.host.replace('.example', ''), expires_at: '2026-09-21T15:00:00Z' } satisfies Plain
  const token = { handler_id: 'card_tokenized', instrument: { type: 'card', credential: { type: 'spt', token: `spt_${hex(n + 7, 28)}` } }, billing_address: address } satisfies Plain
  const note = NOTES[n % NOTES.length]!
  return [
    ['create', send('POST', '/checkout_sessions', { currency, locale: shop.locale, line_items: shop.items.map((name, at) => ({ id: orderNumber(n * 3 + at), name, quantity: at + 1 })), buyer, fulfillment_details: { address }, order_notes: shop.note(order), capabilities: {} })],
    ['update', send('POST', `/checkout_sessions/${session}`, { selected_fulfillment_options: [{ type: 'shipping', option_id: `opt_${n}`, item_ids: ['li_0'] }], order_notes: note })],
    ['get', send('GET', `/checkout_sessions/${session}`, undefined, false)],
    ['complete', send('POST', `/checkout_sessions/${session}/complete`, { buyer, payment_data: token, order_notes: shop.note(orderNumber(n + 20)) }), ['AMOUNT_MISSING']],
    ['cancel', send('POST', `/checkout_sessions/${session}/cancel`, { intent_trace: { reason_code: 'shipping_cost', trace_summary: note, metadata: { order } } })],
    [
      'delegate',
      send('POST', '/agentic_commerce/delegate_payment', {
        payment_method: { type: 'card', card_number_type: n % 2 === 0 ? 'network_token' : 'fpan', virtual: false, number: ['5204', '2400', '0000', '4242'].join(''), exp_month: '11', exp_year: '2029', name: `${shop.first} ${shop.last}`, ...(n % 2 === 1 && { cvc: '223' }), display_card_funding_type: 'credit', display_brand: 'mastercard', display_last4: '4242', metadata: { issuing_bank: 'Sparkasse' } },
        allowance,
        billing_address: address,
        risk_signals: [{ type: 'card_testing', score: n, action: 'authorized' }],
        metadata: { campaign: 'q4', order_number: order, source: shop.host },
      }),
    ],
    ['authenticate', send('POST', '/delegate_authentication', { merchant_id: 'm_1', payment_method: { type: 'card', number: ['4917', '6100', '0000', '0000'].join(''), exp_month: '03', exp_year: '2030', name: `${shop.first} ${shop.last}` }, amount: { value: 6518, currency: shop.currency }, acquirer_details: { acquirer_bin: '412345', acquirer_merchant_id: '123456789012345' }, checkout_session_id: session, shopper_details: { phone_number: shop.phone, address }, challenge_notification_url: 'https://agent.example/3ds' })],
    ['authentication goes on', send('POST', `/delegate_authentication/auth_${hex(n, 12)}/authenticate`, { fingerprint_completion: 'YNU'[n % 3]! }, false)],
    ['cart', send('POST', '/carts', { line_items: [{ id: orderNumber(n), quantity: 2 }], locale: shop.locale })],
    ['products of a feed', send('PATCH', `/feeds/feed_${n}/products`, { products: shop.items.map((title, at) => ({ id: orderNumber(n + at), title, description: { plain: note }, url: `https://${shop.host}/p/${at}`, variants: [{ id: `v-${at}`, title, price: { amount: 1250, currency: shop.currency }, barcodes: [{ type: 'gtin', value: '4006381333931' }] }] })) }, false)],
    ['MCP create', mcp('create_checkout_session', { payload: { currency, line_items: [{ id: order }], order_notes: note, capabilities: {} } }, true)],
    ['MCP update without a key', mcp('update_checkout_session', { id: session, payload: { order_notes: shop.note(order) } }, false)],
    ['MCP get', mcp('get_checkout_session', { id: session }, false)],
    ['MCP complete', mcp('complete_checkout_session', { id: session, payload: { payment_data: token } }, true), ['AMOUNT_MISSING']],
    ['MCP answer', { target: `${base}/mcp`, method: 'POST', body: { jsonrpc: '2.0', id: n, result: n % 2 === 0 ? whole : { content: [{ type: 'text', text: note }], structuredContent: whole } } }],
    ['session that is given back', answer('POST', '/checkout_sessions', whole)],
    ['order that is given back', answer('POST', `/checkout_sessions/${session}/complete`, { ...whole, status: 'completed', order: { id: order, checkout_session_id: session, permalink_url: `https://${shop.host}/orders/${order}` } })],
    ['refusal', answer('POST', `/checkout_sessions/${session}/complete`, { type: 'invalid_request', code: 'payment_declined', message: note === '' ? 'No' : note, param: '$.payment_data' })],
    [
      'webhook',
      {
        target: 'https://agent.example/agentic_checkout/webhooks/order_events',
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Request-Id': `evt_${n}`, 'Merchant-Signature': `t=1790000000,v1=${hex(n, 64)}` },
        body: { type: 'order_update', data: { type: 'order', id: order, order_number: order, checkout_session_id: session, permalink_url: `https://${shop.host}/o/${order}`, status: 'shipped', fulfillments: [{ type: 'shipping', carrier: 'DHL', tracking_number: orderNumber(n + 30), description: shop.items[0]! }], totals } },
      },
    ],
  ]
}

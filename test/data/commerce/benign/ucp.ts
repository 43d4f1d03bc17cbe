// UCP as platforms and businesses of twelve countries speak it: catalogue, carts, checkout, orders, over REST, MCP, A2A and pages.
import type { Plain, SampleSource } from '../../../support/commerce.ts'
import type { Benign } from './index.ts'
import { hex, NOTES, orderNumber, type Shop, SHOPS, uuid } from './words.ts'

const PROFILE = 'https://platform.example/.well-known/ucp'

export const UCP: readonly Benign[] = SHOPS.flatMap((shop, n) =>
  messagesOf(shop, n).map(([what, source, review = []]): Benign => ({ id: `UCP ${shop.locale} ${what}`, source, is: 'ucp', review })),
)

type Row = readonly [what: string, source: SampleSource, review?: Benign['review']]

function messagesOf(shop: Shop, n: number): Row[] {
  const base = `https://${shop.host}${['', '/ucp/v1', '/api/shopping'][n % 3]}`
  const order = orderNumber(n)
  const id = n % 4 === 1 ? orderNumber(n + 50) : `chk_${hex(n, 20)}`
  const note = NOTES[n % NOTES.length]!
  const headers = (key: boolean, body: string): { [name: string]: Plain } => ({
    'Content-Type': 'application/json',
    'UCP-Agent': n % 2 === 0 ? `profile="${PROFILE}"` : `profile="${PROFILE}", v="2026-08-25"`,
    'Request-Id': uuid(n + 9),
    ...(key && { 'Idempotency-Key': uuid(n) }),
    ...(body !== '' && n % 2 === 0 && { 'Content-Digest': { $digest: body } }),
  })
  const send = (method: string, path: string, body?: Plain, key = true): SampleSource => ({
    target: base + path,
    method,
    headers: headers(key, body === undefined ? '' : JSON.stringify(body)),
    ...(body !== undefined && { body: { $text: body } }),
  })
  const answer = (method: string, path: string, body: Plain): SampleSource => ({ target: base + path, method, headers: { 'Content-Type': 'application/json' }, body })
  const call = (name: string, args: { [name: string]: Plain }, key = false): SampleSource => ({
    target: `${base}/mcp`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: { jsonrpc: '2.0', id: n, method: 'tools/call', params: { name, arguments: { meta: { 'ucp-agent': { profile: PROFILE }, ...(key && { 'idempotency-key': uuid(n) }) }, ...args } } },
  })
  const lines = shop.items.map((title, at) => ({ item: { id: orderNumber(n + at), title, price: 1250 }, quantity: at + 1 })) satisfies Plain
  const destination = { street_address: shop.street, address_locality: shop.city, address_country: shop.country, postal_code: shop.post, first_name: shop.first, last_name: shop.last } satisfies Plain
  const credential: Plain = [
    { type: 'network_token', number: ['5204', '2400', '0000', '4242'].join(''), cryptogram: 'gXc5UCLnM6ckD7pjM1TdPA==', expiry_month: 11, expiry_year: 2029 },
    { type: 'PAYMENT_GATEWAY', token: `tok_${hex(n, 30)}` },
    { type: 'shop_token', token: orderNumber(n + 70) },
  ][n % 3]!
  const payment = { instruments: [{ id: `pi_${n}`, handler_id: 'gpay', type: 'card', selected: true, display: { brand: 'visa', last_digits: '4242' }, billing_address: destination, credential }] } satisfies Plain
  const ucp = { version: ['2026-01-23', '2026-04-08', '2026-08-25'][n % 3]!, capabilities: { 'dev.ucp.shopping.checkout': [{ version: '2026-08-25' }] } } satisfies Plain
  const totals = [{ type: 'subtotal', amount: 3750 }, { type: 'total', amount: 3750 }] satisfies Plain
  const whole = { ucp, id, status: 'ready_for_complete', currency: shop.currency, line_items: lines, totals, buyer: { email: `b${n}@mail.example`, first_name: shop.first, phone_number: shop.phone }, links: [], messages: [{ type: 'info', content: note }], expires_at: '2026-09-21T20:00:00Z' } satisfies Plain
  const placed = { ucp, id: order, label: order, checkout_id: id, permalink_url: `https://${shop.host}/orders/${order}`, line_items: [], fulfillment: { events: [{ id: 'e1', type: 'shipped', tracking_number: orderNumber(n + 3), occurred_at: '2026-09-21T12:00:00Z' }] }, totals, currency: shop.currency } satisfies Plain
  const failed = { ucp: { version: '2026-08-25', status: 'error' }, messages: [{ type: 'error', code: 'out_of_stock', content: note === '' ? 'Sold out' : note, severity: 'unrecoverable' }] } satisfies Plain
  return [
    ['search', send('POST', '/catalog/search', { query: shop.items[0]!, context: { address_country: shop.country, language: shop.locale }, filters: { price: { max: 5000 } }, pagination: { limit: 10 } }, false)],
    ['cart', send('POST', '/carts', { line_items: lines, context: { address_country: shop.country } })],
    ['create', send('POST', '/checkout-sessions', { line_items: lines, fulfillment: { methods: [{ type: 'shipping', destinations: [destination] }] } })],
    ['update', send('PUT', `/checkout-sessions/${id}`, { id, line_items: lines, buyer: { first_name: shop.first }, note: shop.note(order) })],
    ['get', send('GET', `/checkout-sessions/${id}`, undefined, false)],
    ['complete', send('POST', `/checkout-sessions/${id}/complete`, { payment, signals: { 'dev.ucp.buyer_ip': '203.0.113.42' } }), ['AMOUNT_MISSING']],
    ['order', send('GET', `/orders/${order}`, undefined, false)],
    ['MCP search', call('search_catalog', { catalog: { query: shop.items[1]! } })],
    ['MCP create without a key', call('create_checkout', { checkout: { line_items: lines } })],
    ['MCP complete', call('complete_checkout', { id, checkout: { payment } }, true), ['AMOUNT_MISSING']],
    ['MCP answer', { target: `${base}/mcp`, method: 'POST', body: { jsonrpc: '2.0', id: n, result: { structuredContent: n % 2 === 0 ? whole : failed, content: [{ type: 'text', text: note }] } } }],
    ['session that is given back', answer('POST', '/checkout-sessions', whole)],
    ['order that is given back', answer('GET', `/orders/${order}`, placed)],
    ['refusal', answer('POST', '/checkout-sessions', failed)],
    [
      'webhook',
      {
        target: 'https://platform.example/webhooks/ucp/orders',
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'UCP-Agent': `profile="https://${shop.host}/.well-known/ucp"`,
          'Webhook-Id': uuid(n),
          'Webhook-Timestamp': '1790000000',
          'Content-Digest': { $digest: JSON.stringify(placed) },
          'Signature-Input': 'sig1=("@method" "@authority" "@path" "content-digest" "content-type");keyid="merchant-2026"',
          Signature: `sig1=:${Buffer.from(hex(n, 128), 'hex').toString('base64')}:`,
        },
        body: { $text: placed },
      },
    ],
    [
      'A2A',
      {
        target: `${base}/a2a`,
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'UCP-Agent': `profile="${PROFILE}"`, 'X-A2A-Extensions': 'https://ucp.dev/2026-08-25/specification/reference' },
        body: { jsonrpc: '2.0', id: n, method: 'message/send', params: { message: { kind: 'message', role: 'user', messageId: uuid(n), contextId: uuid(n + 1), parts: [{ kind: 'text', text: shop.note(order) }, { kind: 'data', data: { action: 'add_to_checkout', product_id: order, quantity: 1 } }] } } },
      },
    ],
    ['page', { target: `${base}/embedded`, method: 'POST', body: { jsonrpc: '2.0', id: `open_${n}`, method: 'ec.window.open_request', params: { url: `https://${shop.host}/terms?lang=${shop.locale}` } } }],
  ]
}

// Messages of ACP and UCP in resources, transports and answers that samples.ts has none of, and what each of them is. Made up.
import type { Plain, SampleSource } from '../../support/commerce.ts'
import type { Kind } from './kinds.ts'

const HOST = 'shop.example'
const CARD = ['4917', '6100', '0000', '0000'].join('')
const DATED = { 'API-Version': '2026-04-17', Authorization: 'Bearer made-up-access-token' }
const KEYED = { ...DATED, 'Idempotency-Key': '0b6f4c5e-91d3-4a7e-8c25-6f1de0a973b4' }
const AGENT = { 'UCP-Agent': 'profile="https://platform.example/.well-known/ucp"' }

const send = (method: string, path: string, body?: Plain, headers: { [name: string]: Plain } = {}): SampleSource => ({
  target: `https://${HOST}${path}`,
  method,
  headers: { 'Content-Type': 'application/json', ...headers },
  ...(body !== undefined && { body }),
})
const bare = (method: string, path: string, body: Plain): SampleSource => ({ target: `https://${HOST}${path}`, method, body })
const rpc = (more: { [name: string]: Plain }): Plain => ({ jsonrpc: '2.0', id: 7, ...more })
const dataPart = (data: Plain): Plain =>
  rpc({ method: 'message/send', params: { message: { messageId: 'm-71', role: 'user', parts: [{ kind: 'data', data }] } } })

const TOTALS = [{ type: 'total', display_text: 'Gesamt', amount: 1890 }] satisfies Plain
const session = {
  id: 'cs_81aa',
  protocol: { version: '2026-04-17' },
  status: 'ready_for_payment',
  currency: 'eur',
  line_items: [{ id: 'li_1', item: { id: 'sencha' }, quantity: 1 }],
  totals: TOTALS,
} satisfies Plain
const refusal = { type: 'invalid_request', code: 'invalid_item', message: 'Den Tee gibt es nicht mehr.', param: '$.line_items[0]' } satisfies Plain
const toAuthenticate = {
  merchant_id: 'shop_81',
  payment_method: { type: 'card', number: CARD, exp_month: '03', exp_year: '2030', name: 'Ada Example' },
  amount: { value: 1890, currency: 'EUR' },
  challenge_notification_url: 'https://agent.example/3ds',
} satisfies Plain
const event = {
  type: 'order_update',
  data: { type: 'order', checkout_session_id: 'cs_81aa', permalink_url: `https://${HOST}/orders/81`, status: 'shipped' },
} satisfies Plain
const saysUcp = { version: '2026-08-25', capabilities: {} } satisfies Plain
const checkout = { ucp: saysUcp, id: 'chk_81aa', status: 'ready_for_complete', currency: 'EUR', line_items: [], totals: TOTALS } satisfies Plain
const failed = {
  ucp: { version: '2026-08-25', status: 'error' },
  messages: [{ type: 'error', code: 'out_of_stock', content: 'Sold out', severity: 'unrecoverable' }],
} satisfies Plain

const acp = (transport: string, stage: string): Kind['is'] => ['acp', '2026-04-17', transport, stage]
const undated = (transport: string, stage: string): Kind['is'] => ['acp', null, transport, stage]
const ucp = (transport: string, stage: string): Kind['is'] => ['ucp', '2026-08-25', transport, stage]

export const CHECKOUT_KINDS: Readonly<Record<string, Kind>> = {
  'ACP cart': { source: send('POST', '/carts', { line_items: [{ id: 'sencha', quantity: 2 }] }, KEYED), is: acp('rest', 'cart.create') },
  'ACP cart of which only the body is shown': {
    source: bare('POST', '/carts', { line_items: [{ id: 'sencha', quantity: 2 }] }),
    is: undated('rest', 'cart.create'),
    confidence: 'medium',
  },
  'ACP cart that is replaced': { source: send('PUT', '/carts/cart_1', { line_items: [{ id: 'sencha', quantity: 1 }] }, DATED), is: acp('rest', 'cart.update') },
  'ACP cart that is given back': {
    source: bare('POST', '/carts', { id: 'cart_1', currency: 'eur', line_items: session.line_items, totals: TOTALS }),
    is: undated('rest', 'result'),
    confidence: 'medium',
  },
  'a cart of another shop': {
    source: bare('POST', '/carts', { items: [{ sku: 'sencha', qty: 2 }] }),
    is: ['unknown', null, null, null],
    confidence: 'low',
  },
  'ACP feed': { source: send('POST', '/feeds', { target_country: 'DE' }, KEYED), is: acp('rest', 'feed.create') },
  'ACP products of a feed': {
    source: send('PATCH', '/feeds/feed_1/products', { products: [{ id: 'tea', title: 'Tee', variants: [{ id: 'tea-1', title: 'Sencha' }] }] }, DATED),
    is: acp('rest', 'feed.update'),
  },
  'ACP products that were taken': { source: bare('PATCH', '/feeds/feed_1/products', { id: 'feed_1', accepted: true }), is: undated('rest', 'result'), confidence: 'medium' },
  'feeds of news': { source: send('GET', '/feeds/tea.xml'), is: ['unknown', null, null, null], confidence: 'low' },
  'ACP delegated authentication': { source: send('POST', '/delegate_authentication', toAuthenticate, KEYED), is: acp('rest', 'authentication.create') },
  'ACP delegated authentication that goes on': {
    source: send('POST', '/delegate_authentication/auth_1/authenticate', { fingerprint_completion: 'Y' }, DATED),
    is: acp('rest', 'authentication.authenticate'),
  },
  'ACP delegated authentication and what the bank said': {
    source: bare('GET', '/delegate_authentication/auth_1', {
      authentication_session_id: 'auth_1',
      status: 'authenticated',
      authentication_result: { trans_status: 'Y', electronic_commerce_indicator: '05' },
    }),
    is: undated('rest', 'result'),
    confidence: 'medium',
  },
  'ACP session that is given back': { source: bare('POST', '/checkout_sessions', session), is: acp('rest', 'result') },
  'ACP refusal': { source: bare('POST', '/checkout_sessions/cs_81aa/complete', refusal), is: undated('rest', 'error'), confidence: 'medium' },
  'ACP token of a delegated payment': {
    source: bare('POST', '/agentic_commerce/delegate_payment', { id: 'vt_81', created: '2026-09-21T14:00:00Z', metadata: {} }),
    is: undated('rest', 'result'),
    confidence: 'medium',
  },
  'ACP event of an order, wherever it is sent': { source: bare('POST', '/hooks/orders', event), is: undated('webhook', 'webhook'), confidence: 'medium' },
  'ACP discovery': {
    source: bare('GET', '/.well-known/acp.json', { protocol: { name: 'acp', version: '2026-04-17' }, api_base_url: `https://${HOST}` }),
    is: acp('rest', 'discovery'),
  },
  'ACP session in an answer of MCP': { source: bare('POST', '/rpc', rpc({ result: session })), is: acp('mcp', 'result') },
  'ACP session in the structure of an answer of MCP': {
    source: bare('POST', '/rpc', rpc({ result: { content: [{ type: 'text', text: '…' }], structuredContent: session } })),
    is: acp('mcp', 'result'),
    with: ['mcp'],
  },
  'ACP session in the text of an answer of MCP': {
    source: bare('POST', '/rpc', rpc({ result: { content: [{ type: 'text', text: { $text: session } }] } })),
    is: acp('mcp', 'result'),
    with: ['mcp'],
  },
  'ACP refusal in an answer of MCP': {
    source: bare('POST', '/rpc', rpc({ error: { code: -32000, message: refusal.message, data: refusal } })),
    is: undated('mcp', 'error'),
    confidence: 'medium',
  },
  'ACP call inside a message of A2A': {
    source: bare('POST', '/a2a', dataPart({ name: 'create_checkout_session', arguments: { meta: { api_version: '2026-04-17' }, payload: { line_items: [] } } })),
    is: acp('a2a', 'checkout.create'),
    with: ['a2a'],
  },
  'ACP payment inside a message of A2A': {
    source: bare('POST', '/a2a', dataPart({ payment_data: { handler_id: 'card', instrument: { type: 'card', credential: { type: 'spt', token: 'spt_made_up' } } } })),
    is: undated('a2a', 'checkout.complete'),
    with: ['a2a'],
  },
  'UCP answer of a business': { source: bare('POST', '/checkout-sessions/chk_81aa/complete', checkout), is: ucp('rest', 'result') },
  'UCP answer that something failed': { source: bare('POST', '/checkout-sessions', failed), is: ucp('rest', 'error') },
  'UCP refusal of a signature': {
    source: bare('POST', '/checkout-sessions', { code: 'signature_invalid', content: 'No such key.' }),
    is: ucp('rest', 'error'),
    confidence: 'medium',
  },
  'UCP payment that calls itself an answer': {
    source: send('POST', '/checkout-sessions/chk_81aa/complete', { ...checkout, payment: { instruments: [{ id: 'pi_1', handler_id: 'h', type: 'card', credential: { type: 'x', token: 'tok_made_up' } }] } }, AGENT),
    is: ucp('rest', 'checkout.complete'),
  },
  'UCP answer over MCP': {
    source: bare('POST', '/rpc', rpc({ result: { structuredContent: checkout } })),
    is: ucp('mcp', 'result'),
    with: ['mcp'],
  },
  'UCP answer over MCP that something failed': {
    source: bare('POST', '/rpc', rpc({ result: { structuredContent: failed, isError: true } })),
    is: ucp('mcp', 'error'),
    with: ['mcp'],
  },
  'UCP error over MCP': {
    source: bare('POST', '/rpc', rpc({ error: { code: -32001, message: 'No', data: { code: 'profile_unreachable', content: 'No answer' } } })),
    is: ucp('mcp', 'error'),
    confidence: 'medium',
  },
  'UCP call over MCP whose profile stands in the header': {
    source: send('POST', '/mcp', rpc({ method: 'tools/call', params: { name: 'complete_checkout', arguments: { id: 'chk_1', checkout: {} } } }), AGENT),
    is: ucp('mcp', 'checkout.complete'),
    with: ['mcp'],
  },
  'UCP search over MCP': {
    source: bare('POST', '/mcp', rpc({ method: 'tools/call', params: { name: 'search_catalog', arguments: { meta: { 'ucp-agent': { profile: 'https://platform.example/p' } }, catalog: { query: 'tea' } } } })),
    is: ucp('mcp', 'catalog'),
    with: ['mcp'],
  },
  'UCP search': { source: bare('POST', '/catalog/search', { query: 'tea', filters: {} }), is: ucp('rest', 'catalog'), confidence: 'medium' },
  'UCP cart': { source: bare('POST', '/carts', { line_items: [{ item: { id: 'sencha' }, quantity: 1 }] }), is: ucp('rest', 'cart.create'), confidence: 'medium' },
  'UCP call of an embedded page': {
    source: bare('POST', '/embedded', rpc({ method: 'ec.window.open_request', params: { url: `https://${HOST}/terms` } })),
    is: ucp('embedded', 'embedded'),
    confidence: 'medium',
  },
  'UCP action over A2A': {
    source: bare('POST', '/a2a', dataPart({ action: 'add_to_checkout', product_id: 'sencha', quantity: 1 })),
    is: ucp('a2a', 'request'),
    confidence: 'medium',
    with: ['a2a'],
  },
  'MCP task': { source: bare('POST', '/mcp', rpc({ method: 'tasks/result', params: { taskId: 't-1' } })), is: ['mcp', null, 'streamable-http', 'tasks/result'], with: [] },
  'A2A task, which is none of MCP': {
    source: bare('POST', '/a2a', rpc({ method: 'tasks/get', params: { id: 't-1' } })),
    is: ['unknown', null, null, null],
    confidence: 'low',
    with: ['a2a'],
  },
  'MCP answer that lists tools': { source: bare('POST', '/rpc', rpc({ result: { tools: [] } })), is: ['mcp', null, 'streamable-http', 'result'], confidence: 'medium' },
  'MCP error at an endpoint of that name': {
    source: bare('POST', '/mcp', rpc({ error: { code: -32602, message: 'Unknown tool' } })),
    is: ['mcp', null, 'streamable-http', 'error'],
    confidence: 'medium',
  },
}

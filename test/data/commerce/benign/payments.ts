// x402, MPP, AP2 and calls of MCP as agents send them to shops of twelve countries.
import { change, type Change, type Plain, type SampleSource } from '../../../support/commerce.ts'
import { SAMPLES } from '../samples.ts'
import type { Benign } from './index.ts'
import { hex, NOTES, orderNumber, type Shop, SHOPS, uuid } from './words.ts'

const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })

/** The same message between other parties. */
function at(name: string, host: string, ...changes: readonly Change[]): SampleSource {
  const text = JSON.stringify(SAMPLES[name]!).replaceAll('shop.example', host).replaceAll('2026-09-21T14:05:00Z', '2026-09-21T14:20:00Z')
  return change(JSON.parse(text) as SampleSource, changes)
}

function messagesOf(shop: Shop, n: number): Benign[] {
  const { host } = shop
  const note = NOTES[n % NOTES.length]!
  const order = orderNumber(n)
  const PAID = '/headers/PAYMENT-SIGNATURE/$base64'
  const CHARGE = '/headers/Authorization/$payment/challenge/request/$base64url'
  const about = [shop.items[0]!, shop.note(order), note][n % 3]!
  const nonce = set(`${PAID}/payload/authorization/nonce`, `0x${hex(n, 64)}`)
  const rpc = (method: string, params: Plain): SampleSource => ({
    target: `https://${host}/mcp`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(method === 'tools/call' && { 'Mcp-Name': 'find_tea' }) },
    body: { jsonrpc: '2.0', id: uuid(n), method, params },
  })
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', traceparent: `00-${hex(n, 32)}-${hex(n + 1, 16)}-01` } satisfies Plain
  const row = (what: string, is: string, source: SampleSource, review: Benign['review'] = []): Benign => ({ id: `${is} ${shop.locale} ${what}`, source, is, review })
  return [
    row('x402 payment', 'x402', at('x402-get', host, nonce, set(`${PAID}/resource/description`, about), set(`${PAID}/extensions/payment-identifier/info/id`, `order-${order}-${hex(n, 8)}`))),
    row('x402 payment with a body', 'x402', at('x402-http', host, nonce, set('/headers/Request-Id', order))),
    row('x402 offer', 'x402', at('x402-challenge', host, set('/headers/PAYMENT-REQUIRED/$base64/resource/description', about))),
    row('x402 settlement', 'x402', at('x402-settlement', host)),
    row('x402 over MCP', 'x402', at('x402-mcp', host, set('/body/params/arguments', { query: about, order_number: order }))),
    row(
      'charge',
      'mpp',
      at(
        'mpp-get',
        host,
        set(`${CHARGE}/methodDetails/splits/0/recipient`, `0x${hex(n + 2, 40)}`),
        set(`${CHARGE}/description`, about),
        set(`${CHARGE}/externalId`, order),
        set('/headers/Idempotency-Key', uuid(n)),
      ),
    ),
    row('receipt', 'mpp', at('mpp-receipt', host, set('/headers/Payment-Receipt/$base64url/externalId', order))),
    row(
      'call',
      'mcp',
      rpc('tools/call', { name: 'find_tea', arguments: { query: shop.items[1]!, note, order_number: order }, _meta: { ...meta, 'agent.example/idempotency-key': uuid(n) } }),
    ),
    row('list of tools', 'mcp', rpc('tools/list', { _meta: meta })),
    row('answer', 'mcp', { target: `https://${host}/mcp`, method: 'POST', body: { jsonrpc: '2.0', id: uuid(n), result: { content: [{ type: 'text', text: `${shop.items.join('; ')}. ${shop.note(order)}` }], structuredContent: { order_number: order, tracking: orderNumber(n + 5), eta: '2026-09-25' } } } }),
  ]
}

export const PAYMENTS: readonly Benign[] = SHOPS.flatMap(messagesOf)

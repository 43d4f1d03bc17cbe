// Messages of every protocol in stages and transports that samples.ts has none of, and what each of them is. Made up; encoded by
// test/support/commerce.ts.
import type { Plain, SampleSource } from '../../support/commerce.ts'
import { CHECKOUT_KINDS } from './checkout-kinds.ts'
import { SAMPLES } from './samples.ts'

const HOST = 'shop.example'
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const JSON_HEADERS = { 'Content-Type': 'application/json' }
const requirement = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '25000',
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 120,
}
const required = {
  x402Version: 2,
  resource: { url: `https://${HOST}/reports` },
  accepts: [requirement],
} satisfies Plain
const settled = {
  success: true,
  transaction: `0x${'4be1'.repeat(16)}`,
  network: 'eip155:84532',
  payer: PAYEE,
} satisfies Plain
const v1Required = {
  x402Version: 1,
  error: 'X-PAYMENT header is required',
  accepts: [
    {
      scheme: 'exact',
      network: 'base-sepolia',
      maxAmountRequired: '25000',
      resource: `https://${HOST}/reports`,
      description: '',
      mimeType: 'application/json',
      payTo: PAYEE,
      asset: USDC,
      maxTimeoutSeconds: 60,
    },
  ],
} satisfies Plain
const solana = {
  x402Version: 2,
  resource: { url: `https://${HOST}/reports` },
  accepted: {
    scheme: 'exact',
    network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    amount: '25000',
    asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    payTo: '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4',
    maxTimeoutSeconds: 60,
  },
  payload: { transaction: 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQ' },
} satisfies Plain

const rpc = (more: { [name: string]: Plain }): Plain => ({ jsonrpc: '2.0', id: 1, ...more })
const get = (headers: { [name: string]: Plain }, path = '/reports'): SampleSource => ({
  target: `https://${HOST}${path}`,
  method: 'GET',
  headers,
})
const post = (path: string, body: Plain, headers: { [name: string]: Plain } = {}): SampleSource => ({
  target: `https://${HOST}${path}`,
  method: 'POST',
  headers: { ...JSON_HEADERS, ...headers },
  body,
})
const a2aTask = (metadata: Plain): Plain =>
  rpc({
    result: {
      kind: 'task',
      id: 'task-81',
      contextId: 'ctx-1',
      status: {
        state: 'input-required',
        message: { kind: 'message', role: 'agent', messageId: 'm-2', parts: [], metadata },
      },
    },
  })
const a2aMessage = (parts: Plain, more: { [name: string]: Plain } = {}): Plain =>
  rpc({
    method: 'message/send',
    params: { message: { messageId: 'm-1', contextId: 'c-1', taskId: 't-1', role: 'user', parts, ...more } },
  })
const call = (name: string, args: Plain, meta?: Plain): Plain =>
  rpc({ method: 'tools/call', params: { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) } })

const challengeText =
  'Payment id="kTq0Zs8vWb3NfYx1Lr7dHm5Jc2PaG9uEiO4tVhXwB6A", realm="shop.example", method="stripe", intent="charge", ' +
  `request="${Buffer.from('{"amount":"750","currency":"eur"}').toString('base64url')}", expires="2026-09-21T14:05:00Z"`
const receipt = {
  status: 'success',
  method: 'tempo',
  timestamp: '2026-09-21T14:00:30Z',
  reference: '0x81aa',
} satisfies Plain
const nativeChallenge = {
  id: 'kTq0Zs8vWb3NfYx1Lr7dHm5Jc2PaG9uEiO4tVhXwB6A',
  realm: HOST,
  method: 'tempo',
  intent: 'charge',
  request: { amount: '750', currency: 'usd', recipient: PAYEE },
} satisfies Plain
const nativeCredential = { challenge: nativeChallenge, payload: { signature: `0x${'1b2c'.repeat(33)}` } }

const mandateChain = (SAMPLES['ap2-checkout']!.body as { [name: string]: Plain })['checkout_mandate']!
const paymentChain = (SAMPLES['ap2-payment']!.body as { [name: string]: Plain })['payment_mandate_chain']!
const agent = { 'UCP-Agent': 'profile="https://platform.example/.well-known/ucp"' }

export interface Kind {
  readonly source: SampleSource
  /** protocol, version, transport, stage */
  readonly is: readonly [string, string | null, string | null, string | null]
  readonly confidence?: 'high' | 'medium' | 'low'
  /** Names of the layers behind the primary. */
  readonly with?: readonly string[]
}

const sample = (name: string) => SAMPLES[name]!

export const KINDS: Readonly<Record<string, Kind>> = {
  ...CHECKOUT_KINDS,
  'x402 v2 payment over HTTP': { source: sample('x402-http'), is: ['x402', '2', 'http', 'payment'] },
  'x402 v1 payment over HTTP': { source: sample('x402-v1'), is: ['x402', '1', 'http', 'payment'] },
  'x402 v2 payment with Permit2': { source: sample('x402-permit2'), is: ['x402', '2', 'http', 'payment'] },
  'x402 v2 payment on Solana': {
    source: get({ 'PAYMENT-SIGNATURE': { $base64: solana } }),
    is: ['x402', '2', 'http', 'payment'],
  },
  'x402 v2 payment over MCP': {
    source: sample('x402-mcp'),
    is: ['x402', '2', 'mcp', 'payment'],
    with: ['mcp'],
  },
  'x402 v2 payment over A2A': {
    source: sample('x402-a2a'),
    is: ['x402', '2', 'a2a', 'payment'],
    with: ['a2a'],
  },
  'x402 what a facilitator takes': {
    source: { ...get({}), body: { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }], extensions: [], signers: {} } },
    is: ['x402', null, 'http', 'discovery'],
    confidence: 'medium',
  },
  'x402 a list of what is sold': {
    source: {
      ...get({}),
      body: { x402Version: 2, items: [{ resource: 'https://shop.example/tea', type: 'http', x402Version: 2, accepts: [] }], pagination: {} },
    },
    is: ['x402', null, 'http', 'discovery'],
    confidence: 'medium',
  },
  'x402 a task that failed, over A2A without JSON-RPC': {
    source: post('/a2a', {
      kind: 'task',
      id: 'task-7',
      status: {
        state: 'failed',
        message: {
          kind: 'message',
          role: 'agent',
          parts: [{ kind: 'text', text: 'The payment failed.' }],
          metadata: {
            'x402.payment.status': 'payment-failed',
            'x402.payment.receipts': [{ success: false, errorReason: 'insufficient_funds', network: 'eip155:8453', transaction: '' }],
          },
        },
      },
    }),
    is: ['x402', null, 'a2a', 'settlement'],
    with: ['a2a'],
  },
  'AP2 a receipt': {
    source: post('/credentials', {
      payment_receipt: { status: 'Error', iss: `https://${HOST}`, iat: 1790000000, reference: 'BSMS8Na4_HZlwm68U7Kb6iX7UK', payment_id: 'pay_9', error: 'declined' },
    }),
    is: ['unknown', null, null, null],
    confidence: 'low',
    with: ['ap2'],
  },
  'AP2 the card of an agent that takes mandates': {
    source: {
      ...get({}, '/.well-known/agent-card.json'),
      body: { name: 'Tea', capabilities: { extensions: [{ uri: 'https://github.com/google-agentic-commerce/ap2/tree/v0.1' }] }, skills: [] },
    },
    is: ['unknown', null, null, null],
    confidence: 'low',
    with: ['ap2'],
  },
  'MPP a client that says how it could pay': {
    source: get({ 'Accept-Payment': 'tempo/charge, stripe/charge;q=0.5' }),
    is: ['unknown', null, null, null],
    confidence: 'low',
    with: ['mpp'],
  },
  'x402 v2 challenge over HTTP': { source: sample('x402-challenge'), is: ['x402', '2', 'http', 'challenge'] },
  'x402 v1 challenge in a body': {
    source: { target: `https://${HOST}/reports`, headers: JSON_HEADERS, body: v1Required },
    is: ['x402', '1', 'http', 'challenge'],
  },
  'x402 v2 challenge over MCP': {
    source: post('/mcp', rpc({ result: { isError: true, structuredContent: required, content: [] } })),
    is: ['x402', '2', 'mcp', 'challenge'], with: ['mcp'],
  },
  'x402 v2 challenge over MCP as text alone': {
    source: post('/mcp', rpc({ result: { isError: true, content: [{ type: 'text', text: { $text: required } }] } })),
    is: ['x402', '2', 'mcp', 'challenge'], with: ['mcp'],
  },
  'x402 v1 challenge as an error of MCP': {
    source: post('/mcp', rpc({ error: { code: 402, message: 'Payment required', data: v1Required } })),
    is: ['x402', '1', 'mcp', 'challenge'], with: ['mcp'],
  },
  'x402 v2 challenge over A2A': {
    source: post('/a2a', a2aTask({ 'x402.payment.status': 'payment-required', 'x402.payment.required': required })),
    is: ['x402', '2', 'a2a', 'challenge'],
    with: ['a2a'],
  },
  'x402 v2 settlement over HTTP': {
    source: get({ 'PAYMENT-RESPONSE': { $base64: settled } }),
    is: ['x402', '2', 'http', 'settlement'],
  },
  'x402 v1 settlement over HTTP': {
    source: get({ 'X-PAYMENT-RESPONSE': { $base64: settled } }),
    is: ['x402', '1', 'http', 'settlement'],
  },
  'x402 settlement over MCP': {
    source: post('/mcp', rpc({ result: { content: [], _meta: { 'x402/payment-response': settled } } })),
    is: ['x402', null, 'mcp', 'settlement'], with: ['mcp'],
  },
  'x402 settlement over A2A': {
    source: post('/a2a', a2aTask({ 'x402.payment.status': 'payment-completed', 'x402.payment.receipts': [settled] })),
    is: ['x402', null, 'a2a', 'settlement'],
    with: ['a2a'],
  },
  'x402 rejection over A2A, by its status alone': {
    source: post('/a2a', a2aMessage([], { metadata: { 'x402.payment.status': 'payment-rejected' } })),
    is: ['x402', null, 'a2a', 'settlement'],
    confidence: 'medium',
    with: ['a2a'],
  },
  'x402 payment inside an AP2 mandate': {
    source: post('/a2a', a2aMessage([{ kind: 'data', data: { 'ap2.mandates.PaymentMandate': { payment_details: { payment_method: { supported_methods: 'https://www.x402.org/', data: solana } }, creation_time: '2026-09-21T14:00:00Z' } } }], { metadata: { 'x402.payment.status': 'payment-submitted' } })),
    is: ['x402', '2', 'a2a', 'payment'],
    with: ['ap2', 'a2a'],
  },
  'x402 challenge inside an AP2 cart': {
    source: post('/a2a', a2aMessage([{ kind: 'data', data: { 'ap2.mandates.CartMandate': { contents: { payment_request: { method_data: [{ supported_methods: 'https://www.x402.org/', data: v1Required }] } } } } }], { metadata: { 'x402.payment.status': 'payment-required' } })),
    is: ['x402', '1', 'a2a', 'challenge'],
    with: ['ap2', 'a2a'],
  },
  'AP2 0.1 payment mandate of another inner shape': {
    source: post('/a2a', a2aMessage([{ kind: 'data', data: { 'ap2.mandates.PaymentMandate': { payment_details: { cart_mandate: 'a hash', payment_request_id: 'order-1', payment_method: { supported_methods: 'CARD', data: { token: 'made-up' } }, amount: { currency: 'EUR', value: 19.5 } }, creation_time: '2026-09-21T14:00:00Z' } } }])),
    is: ['ap2', '0.1', 'a2a', 'payment'],
    with: ['a2a'],
  },
  'x402 payment as a facilitator is sent it': {
    source: post('/settle', { x402Version: 2, paymentPayload: solana, paymentRequirements: solana.accepted }),
    is: ['x402', '2', 'http', 'payment'],
  },
  'x402 payment that does not decode': {
    source: get({ 'PAYMENT-SIGNATURE': 'this is not base64!' }),
    is: ['x402', '2', 'http', 'payment'],
    confidence: 'medium',
  },
  'MPP credential over HTTP': {
    source: sample('mpp-post'),
    is: ['mpp', 'draft-httpauth-payment-00 + tempo/charge', 'http', 'payment'],
  },
  'MPP credential of a method without a draft': {
    source: get({ Authorization: { $payment: { challenge: { ...nativeChallenge, method: 'barter' }, payload: { proof: 'p' } } } }),
    is: ['mpp', 'draft-httpauth-payment-00', 'http', 'payment'],
  },
  'MPP credential in Payment-Authorization beside a bearer token': {
    source: get({ Authorization: 'Bearer made-up', 'Payment-Authorization': { $payment: nativeCredential } }),
    is: ['mpp', 'draft-httpauth-payment-00 + tempo/charge', 'http', 'payment'],
  },
  'MPP legacy credential': {
    source: get({ Authorization: { $payment: { id: 'kTq0Zs8vWb3NfYx1Lr7dHm5Jc2', payload: { proof: '0xabc123' } } } }),
    is: ['mpp', 'draft-httpauth-payment-00', 'http', 'payment'],
  },
  'MPP challenge over HTTP': {
    source: get({ 'WWW-Authenticate': challengeText }),
    is: ['mpp', 'draft-httpauth-payment-00 + stripe/charge', 'http', 'challenge'],
  },
  'MPP challenge behind another scheme': {
    source: get({ 'WWW-Authenticate': `Bearer realm="shop, or so", error="x", ${challengeText}` }),
    is: ['mpp', 'draft-httpauth-payment-00 + stripe/charge', 'http', 'challenge'],
  },
  'MPP receipt over HTTP': {
    source: get({ 'Payment-Receipt': { $base64url: receipt } }),
    is: ['mpp', 'draft-httpauth-payment-00', 'http', 'settlement'],
  },
  'MPP credential over MCP': {
    source: sample('mpp-jsonrpc'),
    is: ['mpp', 'draft-httpauth-payment-00 + tempo/charge', 'mcp', 'payment'],
    with: ['mcp'],
  },
  'MPP credential over JSON-RPC': {
    source: post('/rpc', rpc({ method: 'eth_blockNumber', params: [], _meta: { 'org.paymentauth/credential': nativeCredential } })),
    is: ['mpp', 'draft-httpauth-payment-00 + tempo/charge', 'jsonrpc', 'payment'],
  },
  'MPP challenge over MCP': {
    source: post('/mcp', rpc({ error: { code: -32042, message: 'Payment Required', data: { httpStatus: 402, challenges: [nativeChallenge] } } })),
    is: ['mpp', 'draft-httpauth-payment-00 + tempo/charge', 'mcp', 'challenge'], with: ['mcp'],
  },
  'MPP receipt over MCP': {
    source: post('/mcp', rpc({ result: { content: [], _meta: { 'org.paymentauth/receipt': receipt } } })),
    is: ['mpp', 'draft-httpauth-payment-00', 'mcp', 'settlement'], with: ['mcp'],
  },
  'an error -32042 of MCP that asks for a visit to a URL': {
    source: post('/mcp', rpc({ error: { code: -32042, message: 'URL', data: { elicitations: [] } } }), { 'MCP-Protocol-Version': '2025-11-25' }),
    is: ['mcp', '2025-11-25', 'streamable-http', 'error'],
  },
  'an error of another code that has challenges too': {
    source: post('/rpc', rpc({ error: { code: -32000, message: 'no', data: { challenges: [nativeChallenge] } } })),
    is: ['unknown', null, null, null],
    confidence: 'low',
  },
  'AP2 0.2 payment mandate': { source: sample('ap2-payment'), is: ['ap2', '0.2', 'sd-jwt', 'payment'] },
  'AP2 0.2 checkout mandate': { source: sample('ap2-checkout'), is: ['ap2', '0.2', 'sd-jwt', 'checkout'] },
  'AP2 0.2 payment mandate as an argument of a tool': {
    source: post('/mcp', call('issue_payment_credential', { payment_mandate_chain: paymentChain })),
    is: ['ap2', '0.2', 'sd-jwt', 'payment'],
    with: ['mcp'],
  },
  'AP2 0.1 intent mandate': {
    source: sample('ap2-v01-intent'),
    is: ['ap2', '0.1', 'a2a', 'intent'],
    with: ['a2a'],
  },
  'AP2 0.1 cart mandate': {
    source: post('/a2a', a2aMessage([{ kind: 'data', data: { 'ap2.mandates.CartMandate': { contents: { id: 'cart-1', cart_expiry: '2026-09-21T15:00:00Z' } } } }])),
    is: ['ap2', '0.1', 'a2a', 'cart'],
    with: ['a2a'],
  },
  'AP2 0.1 payment mandate': {
    source: sample('ap2-v01-payment'),
    is: ['ap2', '0.1', 'a2a', 'payment'],
    with: ['a2a'],
  },
  'AP2 mandate that does not decode': {
    source: post('/pay', { payment_mandate: 'eyJhbGciOiJFUzI1NiJ9...' }),
    is: ['ap2', '0.2', 'sd-jwt', 'payment'],
    confidence: 'medium',
  },
  'AP2 mandate that lost its beginning and does not decode': {
    source: post('/pay', { payment_mandate: 'hbGciOiJFUzI1NiJ9.e30.c2ln~~' }),
    is: ['ap2', '0.2', 'sd-jwt', 'payment'],
    confidence: 'medium',
  },
  'a mandate of a bank': { source: post('/pay', { payment_mandate: 'MD-0815' }), is: ['unknown', null, null, null], confidence: 'low' },
  'UCP create': { source: sample('ucp-create'), is: ['ucp', '2026-08-25', 'rest', 'checkout.create'] },
  'UCP complete, signed by an agent': {
    source: sample('ucp-complete'),
    is: ['ucp', '2026-08-25', 'rest', 'checkout.complete'],
    with: ['web-bot-auth'],
  },
  'UCP get': { source: get(agent, '/ucp/v1/checkout-sessions/chk_1'), is: ['ucp', '2026-08-25', 'rest', 'checkout.get'] },
  'UCP update': {
    source: { ...post('/checkout-sessions/chk_1', { line_items: [] }, agent), method: 'PUT' },
    is: ['ucp', '2026-08-25', 'rest', 'checkout.update'],
  },
  'UCP cancel': { source: post('/checkout-sessions/chk_1/cancel', {}, agent), is: ['ucp', '2026-08-25', 'rest', 'checkout.cancel'] },
  'UCP by its path alone': {
    source: post('/checkout-sessions', { line_items: [] }),
    is: ['ucp', '2026-08-25', 'rest', 'checkout.create'],
    confidence: 'medium',
  },
  'UCP answer that says its version': {
    source: post('/checkout-sessions/chk_1', { ucp: { version: '2026-04-08' }, id: 'chk_1', status: 'incomplete' }),
    is: ['ucp', '2026-04-08', 'rest', 'result'],
  },
  'UCP complete over MCP': {
    source: sample('ucp-mcp'),
    is: ['ucp', '2026-08-25', 'mcp', 'checkout.complete'],
    with: ['mcp'],
  },
  'UCP complete over A2A': {
    source: post('/a2a', a2aMessage([{ kind: 'data', data: { action: 'complete_checkout' } }, { kind: 'data', data: { 'a2a.ucp.checkout.payment_data': { handler_id: 'gpay' } } }]), {
      ...agent,
      'X-A2A-Extensions': 'https://ucp.dev/a2a/extensions/shopping?v=2026-01-11',
    }),
    is: ['ucp', '2026-01-11', 'a2a', 'checkout.complete'],
    with: ['a2a'],
  },
  'UCP complete with an AP2 mandate': {
    source: post('/checkout-sessions/chk_1/complete', { payment: { instruments: [] }, ap2: { checkout_mandate: mandateChain } }, agent),
    is: ['ucp', '2026-08-25', 'rest', 'checkout.complete'],
    with: ['ap2'],
  },
  'UCP profile': { source: get({}, '/.well-known/ucp'), is: ['ucp', '2026-08-25', 'rest', 'discovery'], confidence: 'medium' },
  'ACP create': { source: sample('acp-create'), is: ['acp', '2026-04-17', 'rest', 'checkout.create'] },
  'ACP update': { source: post('/checkout_sessions/cs_1', { items: [] }, { 'API-Version': '2026-01-30' }), is: ['acp', '2026-01-30', 'rest', 'checkout.update'] },
  'ACP answer that says its version': {
    source: { target: `https://${HOST}/checkout_sessions/cs_1`, method: 'GET', body: { id: 'cs_1', protocol: { version: '2026-04-17' } } },
    is: ['acp', '2026-04-17', 'rest', 'checkout.get'],
  },
  'ACP complete': { source: sample('acp-complete'), is: ['acp', '2026-04-17', 'rest', 'checkout.complete'] },
  'ACP delegate payment': { source: sample('acp-delegate'), is: ['acp', '2026-04-17', 'rest', 'delegate'] },
  'ACP over MCP': { source: sample('acp-mcp'), is: ['acp', '2026-04-17', 'mcp', 'checkout.complete'], with: ['mcp'] },
  'ACP order webhook': {
    source: post('/hooks', { type: 'order_created' }, { 'Merchant-Signature': `t=1790000000,v1=${'ab12'.repeat(16)}` }),
    is: ['acp', null, 'webhook', 'webhook'],
    confidence: 'medium',
  },
  'ACP delegate payment on a path of its own': {
    source: post('/delegate', { allowance: (SAMPLES['acp-delegate']!.body as { allowance: Plain }).allowance }, { 'API-Version': '2026-04-17' }),
    is: ['acp', '2026-04-17', 'rest', 'delegate'],
  },
  'MCP 2026-07-28 call': { source: sample('mcp-2026'), is: ['mcp', '2026-07-28', 'streamable-http', 'tools/call'] },
  'MCP 2025-11-25 call': { source: sample('mcp-2025'), is: ['mcp', '2025-11-25', 'streamable-http', 'tools/call'] },
  'MCP call that goes on after a question': {
    source: post('/mcp', rpc({ method: 'tools/call', params: { name: 'brew', arguments: {}, inputResponses: { a: 1 }, requestState: 'opaque', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } })),
    is: ['mcp', '2026-07-28', 'streamable-http', 'tools/call'],
  },
  'MCP initialize': {
    source: post('/mcp', rpc({ method: 'initialize', params: { protocolVersion: '2025-06-18' } })),
    is: ['mcp', '2025-06-18', 'streamable-http', 'initialize'],
  },
  'A2A message that pays nothing': {
    source: post('/a2a', a2aMessage([{ kind: 'text', text: 'hello' }])),
    is: ['unknown', null, null, null],
    confidence: 'low',
    with: ['a2a'],
  },
  'L402 token': {
    source: get({ Authorization: 'L402 AGIAJEemVQUTEyNCR0exk7ek90Cg==:1234abcd' }),
    is: ['unknown', null, null, null],
    confidence: 'low',
    with: ['l402'],
  },
  'plain request': {
    source: post('/orders', { amount: 12, currency: 'EUR' }, { Authorization: 'Bearer made-up' }),
    is: ['unknown', null, null, null],
    confidence: 'low',
  },
  'JSON-RPC of something else': {
    source: post('/rpc', rpc({ method: 'eth_blockNumber', params: [] })),
    is: ['unknown', null, null, null],
    confidence: 'low',
  },
  'a path that only looks similar': {
    source: post('/v1/checkout/sessions', { mode: 'payment' }),
    is: ['unknown', null, null, null],
    confidence: 'low',
  },
}

// One sound transaction of every kind, written from the field tables of the protocols. Names, keys and addresses are made up.
// Marks ($base64, $text …) are encoded by test/support/commerce.ts.
import type { Plain, SampleSource } from '../../support/commerce.ts'

const HOST = 'shop.example'
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7'
const PAYER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const NONCE = '0x7c1d4a9e03b85f62e1907a3cd45b28f6917e0c3ad2586b4f10e9c7a8b36d5f24'
const SIGNATURE = `0x${'5e71c0a49b3fd286'.repeat(8)}1b`
const UUID = '0b6f4c5e-91d3-4a7e-8c25-6f1de0a973b4'
const LATER_UUID = 'c7a91e04-5d2b-4f68-9b03-2e84d61f57aa'

const accepted = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '25000',
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 120,
  extra: { name: 'USDC', version: '2' },
}
const authorization = {
  from: PAYER,
  to: PAYEE,
  value: '25000',
  validAfter: '1790000000',
  validBefore: '1790000120',
  nonce: NONCE,
}
const identifier = {
  info: { required: false, id: 'order-4c5e91d34a7e8c256f1de0a973b4' },
  schema: { type: 'object' },
}
const offerTerms = {
  version: 1,
  resourceUrl: `https://${HOST}/reports`,
  scheme: 'exact',
  network: 'eip155:84532',
  asset: USDC,
  payTo: PAYEE,
  amount: '25000',
  validUntil: 1790000600,
}
const offerReceipt = {
  info: { offers: [{ format: 'jws', acceptIndex: 0, signature: { $offer: offerTerms } }] },
  schema: { type: 'object' },
}
const QUERY = '{"query":"tea prices"}'

const payment = (url: string, extensions: Plain = {}) => ({
  x402Version: 2,
  resource: { url, description: 'Prices of tea', mimeType: 'application/json' },
  accepted,
  payload: { signature: SIGNATURE, authorization },
  extensions,
})

const x402: Record<string, SampleSource> = {
  'x402-http': {
    target: `https://${HOST}/reports`,
    method: 'POST',
    headers: {
      Host: HOST,
      'Content-Type': 'application/json',
      'Content-Digest': { $digest: QUERY },
      'Request-Id': 'req-7f31',
      'PAYMENT-SIGNATURE': {
        $base64: payment(`https://${HOST}/reports`, {
          'payment-identifier': identifier,
          'offer-receipt': offerReceipt,
        }),
      },
    },
    body: { $text: { query: 'tea prices' } },
  },
  'x402-bare': {
    target: `https://${HOST}/reports`,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'PAYMENT-SIGNATURE': { $base64: payment(`https://${HOST}/reports`) },
    },
    body: { query: 'tea prices' },
  },
  'x402-get': {
    target: `https://${HOST}/reports?year=2026`,
    method: 'GET',
    headers: {
      'PAYMENT-SIGNATURE': {
        $base64: payment(`https://${HOST}/reports?year=2026`, { 'payment-identifier': identifier }),
      },
    },
  },
  'x402-v1': {
    target: `https://${HOST}/reports`,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-PAYMENT': {
        $base64: {
          x402Version: 1,
          scheme: 'exact',
          network: 'base-sepolia',
          payload: { signature: SIGNATURE, authorization },
        },
      },
    },
    body: { query: 'tea prices' },
  },
  'x402-permit2': {
    target: `https://${HOST}/reports`,
    method: 'GET',
    headers: {
      'PAYMENT-SIGNATURE': {
        $base64: {
          ...payment(`https://${HOST}/reports`, { 'payment-identifier': identifier }),
          payload: {
            signature: SIGNATURE,
            permit2Authorization: {
              from: PAYER,
              permitted: { token: USDC, amount: '25000' },
              spender: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
              nonce: '4186230957721094563870921',
              deadline: '1790000120',
              witness: { to: PAYEE, validAfter: '1790000000' },
            },
          },
        },
      },
    },
  },
  'x402-mcp': {
    target: `https://${HOST}/mcp`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: {
        name: 'tea_report',
        arguments: { year: 2026 },
        _meta: {
          'x402/payment': payment('mcp://tool/tea_report', { 'payment-identifier': identifier }) as Plain,
        },
      },
    },
  },
  'x402-a2a': {
    target: `https://${HOST}/a2a`,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-A2A-Extensions': 'https://github.com/google-a2a/a2a-x402/v0.1',
    },
    body: {
      jsonrpc: '2.0',
      id: 'm-1',
      method: 'message/send',
      params: {
        message: {
          messageId: LATER_UUID,
          taskId: 'task-81',
          role: 'user',
          parts: [{ kind: 'text', text: 'Here is the payment.' }],
          metadata: {
            'x402.payment.status': 'payment-submitted',
            'x402.payment.payload': payment(`https://${HOST}/a2a`, { 'payment-identifier': identifier }) as Plain,
          },
        },
      },
    },
  },
  'x402-challenge': {
    target: `https://${HOST}/reports`,
    method: 'GET',
    headers: {
      'PAYMENT-REQUIRED': {
        $base64: {
          x402Version: 2,
          error: 'Payment is required',
          resource: { url: `https://${HOST}/reports`, description: 'Prices of tea', mimeType: 'application/json' },
          accepts: [accepted],
          extensions: {
            'payment-identifier': { info: { required: false }, schema: { type: 'object' } },
            'offer-receipt': offerReceipt,
          },
        },
      },
    },
  },
}

x402['x402-settlement'] = {
  target: `https://${HOST}/reports`,
  method: 'GET',
  headers: {
    'PAYMENT-RESPONSE': {
      $base64: {
        success: true,
        transaction: `0x${'9b27e4c1'.repeat(8)}`,
        network: 'eip155:84532',
        payer: PAYER,
        extensions: {
          'offer-receipt': {
            info: {
              receipt: {
                format: 'jws',
                signature: { $offer: { version: 1, network: 'eip155:84532', resourceUrl: `https://${HOST}/reports`, payer: PAYER, issuedAt: 1790000065 } },
              },
            },
          },
        },
      },
    },
  },
}
x402['x402-solana'] = {
  target: `https://${HOST}/reports`,
  method: 'GET',
  headers: {
    'PAYMENT-SIGNATURE': {
      $base64: {
        ...payment(`https://${HOST}/reports`, { 'payment-identifier': identifier }),
        accepted: {
          scheme: 'exact',
          network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
          amount: '25000',
          asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
          payTo: '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4',
          maxTimeoutSeconds: 120,
          extra: { feePayer: 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd' },
        },
        payload: { transaction: Buffer.from('5e71c0a49b3fd286'.repeat(40), 'hex').toString('base64') },
      },
    },
  },
}

const ORDER = '{"tea":"sencha","grams":200}'
const challenge = {
  id: 'kTq0Zs8vWb3NfYx1Lr7dHm5Jc2PaG9uEiO4tVhXwB6A',
  realm: HOST,
  method: 'tempo',
  intent: 'charge',
  request: {
    $base64url: {
      amount: '750000',
      currency: '0x20c0000000000000000000000000000000000001',
      recipient: PAYEE,
      methodDetails: { chainId: 42431, splits: [{ amount: '50000', recipient: PAYER }] },
    },
  },
  expires: '2026-09-21T14:05:00Z',
}
const proof = { type: 'transaction', signature: `0x76${'a3f0915cd7e4286b'.repeat(10)}` }
const credential = (more: Plain = {}) => ({
  challenge: { ...challenge, ...(more as object) },
  source: `did:pkh:eip155:42431:${PAYER}`,
  payload: proof,
})

const mpp: Record<string, SampleSource> = {
  'mpp-post': {
    target: `https://${HOST}/orders`,
    method: 'POST',
    headers: {
      Host: HOST,
      'Content-Type': 'application/json',
      'Idempotency-Key': UUID,
      Authorization: { $payment: credential({ digest: { $digest: ORDER } }) },
    },
    body: { $text: { tea: 'sencha', grams: 200 } },
  },
  'mpp-get': {
    target: `https://${HOST}/report`,
    method: 'GET',
    headers: { Authorization: { $payment: credential() } },
  },
  'mpp-jsonrpc': {
    target: `https://${HOST}/mcp`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: {
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: {
        name: 'tea_report',
        arguments: { year: 2026 },
        _meta: { 'org.paymentauth/credential': credential() as Plain },
      },
    },
  },
}

mpp['mpp-challenge'] = {
  target: `https://${HOST}/report`,
  method: 'GET',
  headers: { 'Cache-Control': 'no-store', 'WWW-Authenticate': { $challenge: challenge as unknown as Plain } },
}
mpp['mpp-receipt'] = {
  target: `https://${HOST}/report`,
  method: 'GET',
  headers: {
    'Cache-Control': 'private',
    'Payment-Receipt': {
      $base64url: {
        status: 'success',
        method: 'tempo',
        timestamp: '2026-09-21T14:01:00Z',
        reference: `0x${'9b27e4c1'.repeat(8)}`,
      },
    },
  },
}

const agentKey = {
  jwk: {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  },
}
const shop = { id: 'shop_81', name: 'Tea shop', website: `https://${HOST}` }
const cart = {
  $jws: {
    iss: `https://${HOST}`,
    merchant: shop,
    line_items: [
      { id: 'li_1', item: { id: 'sencha', title: 'Sencha, 200 g', price: 1890 }, quantity: 1, totals: [] },
    ],
    currency: 'EUR',
    totals: [
      { type: 'subtotal', amount: 1890 },
      { type: 'total', amount: 1890 },
    ],
  },
}
const openPayment = {
  vct: 'mandate.payment.open.1',
  constraints: [
    { type: 'payment.amount_range', currency: 'EUR', min: 0, max: 5000 },
    { type: 'payment.allowed_payees', allowed: [{ '...': '$payee' }] },
  ],
  cnf: agentKey,
  iat: 1790000000,
  exp: 1790003600,
}
const closing = {
  iat: 1790000060,
  aud: 'credential-provider',
  nonce: 'Wn4pQz81LrT0sVb6Kc3MxY',
  sd_hash: '$computed',
}

const ap2: Record<string, SampleSource> = {
  'ap2-payment': {
    target: 'https://wallet.example/credentials',
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': UUID },
    body: {
      payment_mandate_chain: {
        $chain: {
          open: openPayment,
          payee: shop,
          token: closing,
          mandate: {
            vct: 'mandate.payment.1',
            transaction_id: { $hash: cart },
            payee: shop,
            payment_amount: { amount: 1890, currency: 'EUR' },
            payment_instrument: { id: 'card-1', type: 'card', description: 'Card ending in 4242' },
            iat: 1790000060,
            exp: 1790000660,
          },
        },
      },
    },
  },
  'ap2-checkout': {
    target: `https://${HOST}/ap2/checkout`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': UUID },
    body: {
      checkout_mandate: {
        $chain: {
          open: {
            vct: 'mandate.checkout.open.1',
            constraints: [
              { type: 'checkout.allowed_merchants', allowed: [{ '...': '$payee' }] },
              {
                type: 'checkout.line_items',
                items: [{ id: 'tea', acceptable_items: [{ id: 'sencha', title: 'Sencha' }], quantity: 1 }],
              },
            ],
            cnf: agentKey,
            iat: 1790000000,
            exp: 1790003600,
          },
          payee: shop,
          token: { ...closing, aud: 'merchant' },
          mandate: {
            vct: 'mandate.checkout.1',
            checkout_jwt: cart,
            checkout_hash: { $hash: cart },
            iat: 1790000060,
            exp: 1790000660,
          },
        },
      },
    },
  },
  'ap2-v01-payment': {
    target: 'https://merchant-agent.example/a2a',
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-A2A-Extensions': 'https://github.com/google-agentic-commerce/ap2/tree/v0.1',
    },
    body: {
      jsonrpc: '2.0',
      id: 'm-9',
      method: 'message/send',
      params: {
        message: {
          messageId: LATER_UUID,
          taskId: 'task-82',
          role: 'user',
          parts: [
            {
              kind: 'data',
              data: {
                'ap2.mandates.PaymentMandate': {
                  payment_mandate_contents: {
                    payment_mandate_id: 'pm-5512f0',
                    payment_details_id: 'order-81',
                    payment_details_total: { label: 'Total', amount: { currency: 'EUR', value: 19 } },
                    merchant_agent: 'TeaAgent',
                    timestamp: '2026-09-21T14:01:00Z',
                  },
                  user_authorization: {
                    $jws: { jti: '4f7c0e1b92', iat: 1790000060, transaction_data: ['aGFzaA'] },
                  },
                },
              },
            },
          ],
        },
      },
    },
  },
  'ap2-v01-intent': {
    target: 'https://merchant-agent.example/a2a',
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: {
      jsonrpc: '2.0',
      id: 'm-8',
      method: 'message/send',
      params: {
        message: {
          messageId: LATER_UUID,
          taskId: 'task-83',
          role: 'user',
          parts: [
            {
              kind: 'data',
              data: {
                'ap2.mandates.IntentMandate': {
                  user_cart_confirmation_required: true,
                  natural_language_description: 'Two hundred grams of green tea',
                  merchants: ['Tea shop'],
                  skus: ['sencha'],
                  requires_refundability: true,
                  intent_expiry: '2026-09-22T14:00:00Z',
                },
              },
            },
          ],
        },
      },
    },
  },
}

const COMPLETE = '{"payment":{"instruments":[{"id":"pi_1","handler_id":"gpay","type":"card","selected":true}]}}'
const complete = JSON.parse(COMPLETE) as Plain
const PROFILE = 'profile="https://platform.example/.well-known/ucp"'
const signatureInput = (components: string, parameters: string) => `sig1=(${components});${parameters}`
const COVERED =
  '"@method" "@authority" "@path" "ucp-agent" "idempotency-key" "content-digest" "content-type"'
const BOT = 'created=1790000000;expires=1790000300;nonce="wZ81LrT0sVb6Kc3MxYqPn4";tag="web-bot-auth";keyid="platform-2026"'
const SIGNED = `sig1=:${Buffer.from('7a'.repeat(64), 'hex').toString('base64')}:`

const ucp: Record<string, SampleSource> = {
  'ucp-complete': {
    target: `https://${HOST}/checkout-sessions/chk_81aa/complete`,
    method: 'POST',
    headers: {
      Host: HOST,
      'Content-Type': 'application/json',
      'UCP-Agent': PROFILE,
      'Idempotency-Key': UUID,
      'Request-Id': 'req-7f32',
      'Content-Digest': { $digest: COMPLETE },
      'Signature-Input': signatureInput(COVERED, BOT),
      Signature: SIGNED,
    },
    body: { $text: complete },
  },
  'ucp-create': {
    target: `https://${HOST}/checkout-sessions`,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'UCP-Agent': PROFILE,
      'Idempotency-Key': UUID,
      'Signature-Input': signatureInput(COVERED, 'keyid="platform-2026"'),
      Signature: SIGNED,
      'Content-Digest': { $digest: '{"line_items":[{"item":{"id":"sencha"},"quantity":1}]}' },
    },
    body: { $text: { line_items: [{ item: { id: 'sencha' }, quantity: 1 }] } },
  },
  'ucp-mcp': {
    target: `https://${HOST}/mcp`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: {
      jsonrpc: '2.0',
      id: 4,
      method: 'tools/call',
      params: {
        name: 'complete_checkout',
        arguments: {
          meta: {
            'ucp-agent': { profile: 'https://platform.example/.well-known/ucp' },
            'idempotency-key': UUID,
          },
          id: 'chk_81aa',
          checkout: complete,
        },
      },
    },
  },
}

const acpHeaders = {
  Authorization: 'Bearer made-up-access-token',
  'Content-Type': 'application/json',
  'Idempotency-Key': UUID,
  'Request-Id': 'req-7f33',
  Signature: Buffer.from('3c9d'.repeat(32), 'hex').toString('base64url'),
  Timestamp: '2026-09-21T14:00:00Z',
  'API-Version': '2026-04-17',
}

const acp: Record<string, SampleSource> = {
  'acp-create': {
    target: `https://${HOST}/checkout_sessions`,
    method: 'POST',
    headers: acpHeaders,
    body: { currency: 'eur', line_items: [{ id: 'sencha' }] },
  },
  'acp-complete': {
    target: `https://${HOST}/checkout_sessions/cs_81aa/complete`,
    method: 'POST',
    headers: acpHeaders,
    body: {
      buyer: { first_name: 'Ada', last_name: 'Example', email: 'ada@example.org' },
      payment_data: {
        handler_id: 'card_tokenized',
        instrument: { type: 'card', credential: { type: 'spt', token: 'spt_made_up' } },
      },
    },
  },
  'acp-delegate': {
    target: 'https://psp.example/agentic_commerce/delegate_payment',
    method: 'POST',
    headers: acpHeaders,
    body: {
      payment_method: { type: 'card', card_number_type: 'network_token', virtual: false },
      allowance: {
        reason: 'one_time',
        max_amount: 1890,
        currency: 'eur',
        checkout_session_id: 'cs_81aa',
        merchant_id: 'shop_81',
        expires_at: '2026-09-21T15:00:00Z',
      },
      risk_signals: [{ type: 'card_testing', score: 2, action: 'authorized' }],
      metadata: { source: 'test' },
    },
  },
  'acp-mcp': {
    target: `https://${HOST}/mcp`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: {
      jsonrpc: '2.0',
      id: 5,
      method: 'tools/call',
      params: {
        name: 'complete_checkout_session',
        arguments: {
          meta: {
            api_version: '2026-04-17',
            idempotency_key: UUID,
            request_id: 'req-7f34',
            signature: acpHeaders.Signature,
            timestamp: '2026-09-21T14:00:00Z',
          },
          id: 'cs_81aa',
          payload: {
            payment_data: {
              handler_id: 'card_tokenized',
              instrument: { type: 'card', credential: { type: 'spt', token: 'spt_made_up' } },
            },
          },
        },
      },
    },
  },
}

acp['acp-get'] = {
  target: `https://${HOST}/checkout_sessions/cs_81aa`,
  method: 'GET',
  headers: {
    Authorization: 'Bearer made-up-access-token',
    'Request-Id': 'req-7f35',
    Signature: acpHeaders.Signature,
    Timestamp: '2026-09-21T14:00:00Z',
    'API-Version': '2026-04-17',
  },
}
acp['acp-webhook'] = {
  target: 'https://agent.example/agentic_checkout/webhooks/order_events',
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'Request-Id': 'evt-81',
    'Merchant-Signature': `t=1790000000,v1=${'3c9d'.repeat(16)}`,
  },
  body: { type: 'order_created', data: { type: 'order', checkout_session_id: 'cs_81aa', status: 'created' } },
}
ucp['ucp-get'] = {
  target: `https://${HOST}/checkout-sessions/chk_81aa`,
  method: 'GET',
  headers: {
    'UCP-Agent': PROFILE,
    'Request-Id': 'req-7f36',
    'Signature-Input': signatureInput('"@method" "@authority" "@path" "ucp-agent"', BOT),
    Signature: SIGNED,
  },
}
ucp['ucp-ap2'] = {
  target: `https://${HOST}/checkout-sessions/chk_81aa/complete`,
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'UCP-Agent': PROFILE,
    'Idempotency-Key': UUID,
    'Request-Id': 'req-7f37',
  },
  body: {
    payment: complete,
    ap2: { checkout_mandate: (ap2['ap2-checkout']!.body as { checkout_mandate: Plain }).checkout_mandate },
  },
}

const mcp: Record<string, SampleSource> = {
  'mcp-2026': {
    target: `https://${HOST}/mcp`,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: 'Bearer made-up-access-token',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'brew',
    },
    body: {
      jsonrpc: '2.0',
      id: UUID,
      method: 'tools/call',
      params: {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'tea-client', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {},
          traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
          'example.org/idempotency-key': LATER_UUID,
        },
        name: 'brew',
        arguments: { tea: 'sencha' },
      },
    },
  },
  'mcp-2025': {
    target: `https://${HOST}/mcp`,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'MCP-Protocol-Version': '2025-11-25',
      'Mcp-Session-Id': LATER_UUID,
    },
    body: {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'brew', arguments: { tea: 'sencha' } },
    },
  },
}

export const SAMPLES: Readonly<Record<string, SampleSource>> = {
  ...x402,
  ...mpp,
  ...ap2,
  ...ucp,
  ...acp,
  ...mcp,
}

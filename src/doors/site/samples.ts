// One transaction of each protocol to look at, and one that should not be sent. Names, keys and addresses are made up; times are those of
// the minute in which they are asked for, as of a transaction that was made just now.
import { hash } from 'node:crypto'

const HOST = 'shop.example'
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7'
const PAYER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const SIGNATURE = `0x${'5e71c0a49b3fd286'.repeat(8)}1b`
const KEY = '0b6f4c5e-91d3-4a7e-8c25-6f1de0a973b4'

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const digest = (text: string) => `sha-256=:${hash('sha256', text, 'base64')}:`
const pretty = (value: unknown) => JSON.stringify(value, undefined, 2)
const message = (first: string, fields: Readonly<Record<string, string>>, body = '') =>
  [first, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`), '', body].join('\n')

const accepted = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '25000',
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 120,
  extra: { name: 'USDC', version: '2' },
}
const QUERY = '{"query":"tea prices"}'

/** When what is made in a minute begins and ends to be valid. */
interface Times {
  /** Seconds. */
  readonly from: number
  readonly madeAt: string
  readonly expiresAt: string
}

const authorizationOf = ({ from }: Times) => ({
  from: PAYER,
  to: PAYEE,
  value: '25000',
  validAfter: String(from),
  validBefore: String(from + 120),
  nonce: '0x7c1d4a9e03b85f62e1907a3cd45b28f6917e0c3ad2586b4f10e9c7a8b36d5f24',
})

const x402 = (times: Times) =>
  message(
    'POST /reports HTTP/1.1',
    {
      Host: HOST,
      'Content-Type': 'application/json',
      'Content-Digest': digest(QUERY),
      'Request-Id': 'req-7f31',
      'PAYMENT-SIGNATURE': base64({
        x402Version: 2,
        resource: {
          url: `https://${HOST}/reports`,
          description: 'Prices of tea',
          mimeType: 'application/json',
        },
        accepted,
        payload: { signature: SIGNATURE, authorization: authorizationOf(times) },
        extensions: {
          'payment-identifier': {
            info: { required: false, id: 'order-4c5e91d34a7e8c256f1de0a973b4' },
            schema: { type: 'object' },
          },
        },
      }),
    },
    QUERY,
  )

/** Plain http, another payee than was agreed on, ten times the amount, a window of a month, and a nonce that can be guessed. */
const risky = (times: Times) =>
  message(
    `POST http://${HOST}/reports HTTP/1.1`,
    {
      Host: HOST,
      'Content-Type': 'application/json',
      'PAYMENT-SIGNATURE': base64({
        x402Version: 2,
        resource: {
          url: 'https://elsewhere.example/reports',
          description: 'Prices of tea',
          mimeType: 'text/html',
        },
        accepted,
        payload: {
          signature: SIGNATURE,
          authorization: {
            ...authorizationOf(times),
            to: '0xde709f2102306220921060314715629080e2fb77',
            value: '250000',
            validBefore: String(times.from + 30 * 86_400),
            nonce: `0x${'0'.repeat(63)}1`,
          },
        },
      }),
    },
    QUERY,
  )

const ORDER = '{"tea":"sencha","grams":200}'
const mpp = (times: Times) =>
  message(
    'POST /orders HTTP/1.1',
    {
      Host: HOST,
      'Content-Type': 'application/json',
      'Idempotency-Key': KEY,
      Authorization: `Payment ${base64url({
        challenge: {
          id: 'kTq0Zs8vWb3NfYx1Lr7dHm5Jc2PaG9uEiO4tVhXwB6A',
          realm: HOST,
          method: 'tempo',
          intent: 'charge',
          request: base64url({
            amount: '750000',
            currency: '0x20c0000000000000000000000000000000000001',
            recipient: PAYEE,
            methodDetails: { chainId: 42431 },
          }),
          expires: times.expiresAt,
          digest: digest(ORDER),
        },
        source: `did:pkh:eip155:42431:${PAYER}`,
        payload: { type: 'transaction', signature: `0x76${'a3f0915cd7e4286b'.repeat(10)}` },
      })}`,
    },
    ORDER,
  )

const jws = (payload: unknown) =>
  `${base64url({ alg: 'ES256', typ: 'JWT' })}.${base64url(payload)}.${Buffer.from('7a3c'.repeat(32), 'hex').toString('base64url')}`

const ap2 = (times: Times) =>
  message(
    'POST /a2a HTTP/1.1',
    {
      Host: 'merchant-agent.example',
      'Content-Type': 'application/json',
      'X-A2A-Extensions': 'https://github.com/google-agentic-commerce/ap2/tree/v0.1',
    },
    pretty({
      jsonrpc: '2.0',
      id: 'm-9',
      method: 'message/send',
      params: {
        message: {
          messageId: 'c7a91e04-5d2b-4f68-9b03-2e84d61f57aa',
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
                    timestamp: times.madeAt,
                  },
                  user_authorization: jws({
                    jti: '4f7c0e1b92',
                    iat: times.from,
                    transaction_data: ['aGFzaA'],
                  }),
                },
              },
            },
          ],
        },
      },
    }),
  )

const COMPLETE =
  '{"payment":{"instruments":[{"id":"pi_1","handler_id":"gpay","type":"card","selected":true}]}}'
const ucp = (times: Times) =>
  message(
    'POST /checkout-sessions/chk_81aa/complete HTTP/1.1',
    {
      Host: HOST,
      'Content-Type': 'application/json',
      'UCP-Agent': 'profile="https://platform.example/.well-known/ucp"',
      'Idempotency-Key': KEY,
      'Request-Id': 'req-7f32',
      'Content-Digest': digest(COMPLETE),
      'Signature-Input': `sig1=("@method" "@authority" "@path" "ucp-agent" "idempotency-key" "content-digest" "content-type");created=${times.from};expires=${times.from + 300};nonce="wZ81LrT0sVb6Kc3MxYqPn4";keyid="platform-2026"`,
      Signature: `sig1=:${Buffer.from('7a'.repeat(64), 'hex').toString('base64')}:`,
    },
    COMPLETE,
  )

const acp = (times: Times) =>
  message(
    'POST /checkout_sessions/cs_81aa/complete HTTP/1.1',
    {
      Host: HOST,
      Authorization: 'Bearer made-up-access-token',
      'Content-Type': 'application/json',
      'Idempotency-Key': KEY,
      'Request-Id': 'req-7f33',
      Signature: Buffer.from('3c9d'.repeat(32), 'hex').toString('base64url'),
      Timestamp: times.madeAt,
      'API-Version': '2026-04-17',
    },
    pretty({
      buyer: { first_name: 'Ada', last_name: 'Example', email: 'ada@example.org' },
      payment_data: {
        handler_id: 'card_tokenized',
        instrument: { type: 'card', credential: { type: 'spt', token: 'spt_made_up' } },
      },
    }),
  )

const mcp = () =>
  message(
    'POST /mcp HTTP/1.1',
    { Host: HOST, 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25' },
    pretty({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'brew', arguments: { tea: 'sencha' } },
    }),
  )

const SAMPLES = { x402, risky, mpp, ap2, ucp, acp, mcp } as const
export type SampleName = keyof typeof SAMPLES
/** In the order in which they are offered. */
export const SAMPLE_NAMES = Object.keys(SAMPLES) as SampleName[]

const MINUTE_MS = 60_000

/** @param now milliseconds; within a minute the sample is the same */
export function transactionSample(name: SampleName, now: number): string {
  const from = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const at = (ms: number) => new Date(ms).toISOString().replace('.000', '')
  return SAMPLES[name]({ from: from / 1000, madeAt: at(from), expiresAt: at(from + 5 * MINUTE_MS) })
}

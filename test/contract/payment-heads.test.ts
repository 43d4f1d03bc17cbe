// The head of every answer about money fits into the one buffer that a proxy reads it into: nginx has 4 KiB for it unless it is told
// otherwise, and answers 502 in place of a longer one.
import { request } from 'node:http'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tools } from '../../tools/index.ts'
import { PaymentRequired } from '../../schemas/x402.ts'
import { isPaid } from '../../src/core/price.ts'
import { signPayment, signPaymentV1, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { fromHeader } from '../support/rest-buyer.ts'

/** `proxy_buffer_size` of nginx on a machine with pages of 4 KiB. */
const MAX_HEAD = 4096
const HOST = 'https://api.example.com'
const BROWSER = { accept: 'text/html', 'user-agent': 'Mozilla/5.0' }

let chain: TestChain
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(8453)
  gw = await startTestGateway({ env: chain.env })
  gw.upstream.respond(
    (_request, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end('page'),
  )
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** Status line and headers, to the empty line. */
  readonly head: number
}

/** A client that reads no longer head than a proxy does. */
function send(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const sent = { 'content-type': 'application/json', authorization: `Bearer ${gw.operatorKey}`, ...headers }
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', maxHeaderSize: MAX_HEAD, headers: sent }
    const req = request(gw.baseUrl + path, options, (res) => {
      const { statusCode = 0, statusMessage = '', rawHeaders } = res
      const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
      const head = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`.length
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: statusCode, headers: res.headers as Record<string, string>, text, head })
      })
    })
    req.on('error', reject)
    req.end(JSON.stringify(body))
  })
}

const long = (length: number) => `${HOST}/${'p'.repeat(length)}`
const LENGTHS = [0, 1, 50, 100, 150, 200, 400, 800, 1600, 2000]
/** Inputs of each paid tool: the lengths are those that its quote depends on. */
const INPUTS: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  'gateway.web.fetch': [
    ...LENGTHS.map((length) => ({ url: long(length) })),
    { url: long(100), mode: 'json', method: 'HEAD', timeout_ms: 10_000, max_bytes: 131_072 },
    { command: `curl -I '${long(300)}'` },
    { url: `${HOST}/${encodeURIComponent('ü€'.repeat(60))}` },
  ],
  gateway_execute: [
    ...LENGTHS.flatMap((length) => [
      { capability: 'web-extraction', sources: [{ url: long(length), fallbacks: [`${long(length)}x`] }] },
      { capability: 'web-extraction', urls: [long(length)], query: '€'.repeat(Math.min(length, 200)) },
      { capability: 'product-offers', urls: [long(length), `${long(length)}y`] },
      { capability: 'feed-digest', sources: [long(length)], limit: 30 },
    ]),
    { capability: 'feed-digest' },
  ],
  'gateway.marketplace.call': [
    { seller: 'gateway', service_id: 'feed-digest' },
    { seller: 'gateway', service_id: 'feed-digest', query: { limit: 'x'.repeat(2000) } },
  ],
  'gateway.credits.purchase': [{}, { credits: 1 }, { credits: 100_000 }],
}

const NO_QUOTE = ['gateway.credits.purchase', 'gateway.marketplace.call']
const cases = tools
  .filter(isPaid)
  .flatMap((tool) => tool.rest.filter(({ isRaw }) => !isRaw).map(({ path }) => [tool.name, path] as const))

describe('the head of a 402', () => {
  it('is looked at for every paid tool', () => {
    expect(cases.length).toBeGreaterThanOrEqual(3)
    for (const [name] of cases) expect(Object.keys(INPUTS)).toContain(name)
  })

  it.each(cases)('of %s at %s fits, and a buyer can pay from it', async (name, path) => {
    for (const input of INPUTS[name]!)
      for (const headers of [{}, BROWSER]) {
        const answer = await send(path, input, headers)
        expect(answer.status, answer.text).toBe(402)
        expect(answer.head, JSON.stringify(input).slice(0, 100)).toBeLessThan(MAX_HEAD)
        const required = PaymentRequired.parse(fromHeader(answer.headers['payment-required']!))
        expect(required.accepts).not.toHaveLength(0)
        expect(required.extensions).toMatchObject({
          'payment-identifier': { info: { required: false } },
          'offer-receipt': { info: { challenge: expect.stringMatching(/^[\w-]{32}$/) } },
        })
        if (headers !== BROWSER) expect(Object.keys(required.extensions!)).toContain('bazaar')
        expect('x-gateway-quote' in answer.headers).toBe(!NO_QUOTE.includes(name))
      }
  })

  it('fits with a quote that was asked for, whatever its length', async () => {
    for (const length of LENGTHS) {
      const { body } = await gw.rest('POST', '/v1/pricing/quote', { url: long(length) })
      const answer = await send('/v1/tools/web.fetch', { url: long(length) }, body.how_to_pay.headers)
      expect(answer.status, answer.text).toBe(402)
      expect(answer.head, String(length)).toBeLessThan(MAX_HEAD)
    }
  })

  it('fits when a payment is refused, for buyers of either version', async () => {
    const poor = privateKeyToAccount(generatePrivateKey())
    const input = { url: long(100) }
    const asked = await send('/v1/tools/web.fetch', input)
    const required = PaymentRequired.parse(fromHeader(asked.headers['payment-required']!))
    const [requirements] = required.accepts
    const options = { account: poor, requirements: requirements!, resource: required.resource }
    for (const headers of [
      { 'payment-signature': toHeader(await signPayment({ ...options, extensions: required.extensions! })) },
      { 'x-payment': toHeader(await signPaymentV1(options, 'base')) },
    ]) {
      const answer = await send('/v1/tools/web.fetch', input, headers)
      expect(answer.status, answer.text).toBe(402)
      expect(answer.head).toBeLessThan(MAX_HEAD)
    }
  })
})

describe('the head of a paid answer', () => {
  it('fits, with the settlement and its receipt, for buyers of either version', async () => {
    const input = { url: gw.url(`/${'p'.repeat(500)}`) }
    const asked = await send('/v1/tools/web.fetch', input)
    const required = PaymentRequired.parse(fromHeader(asked.headers['payment-required']!))
    const [requirements] = required.accepts
    const options = { account: chain.payers[0]!, requirements: requirements!, resource: required.resource }
    for (const headers of [
      { 'payment-signature': toHeader(await signPayment({ ...options, extensions: required.extensions! })) },
      { 'x-payment': toHeader(await signPaymentV1(options, 'base')) },
    ]) {
      const answer = await send('/v1/tools/web.fetch', input, headers)
      expect(answer.status, answer.text).toBe(200)
      expect(fromHeader(answer.headers['payment-response']!)).toMatchObject({ success: true })
      expect(answer.head).toBeLessThan(MAX_HEAD)
    }
  })
})

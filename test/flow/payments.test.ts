// x402 over REST on a real chain: the challenge, what a payment buys, and every way to get nothing for it.
import {
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt'
import { request as httpRequest } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import {
  requirementsOf,
  signPayment,
  type SignOptions,
  signPaymentV1,
  startTestChain,
  type TestChain,
  toHeader,
} from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createPaidTools, get, OTHER, PAID, post, PRICE, TESTNET } from '../support/paid-tools.ts'
import { cites } from '../requirements.ts'

let chain: TestChain
let gw: TestGateway
const paid = createPaidTools()

beforeAll(async () => {
  chain = await startTestChain(84532)
  gw = await startTestGateway({ env: chain.env, tools: paid.tools })
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})
afterEach(() => {
  paid.before = undefined
})

const sign = (over: Partial<SignOptions> = {}) =>
  signPayment({ account: chain.payers[0]!, requirements: requirementsOf(chain), ...over })
const pay = (payload: unknown, body: unknown = { text: 'hello' }, path = PAID) =>
  post(gw.baseUrl + path, body, { 'payment-signature': toHeader(payload) })
/** As stock clients of v2 do: resource and extensions go back as they came, and the challenge with them. */
const signEchoing = async () => {
  const { required } = await unpaid()
  return sign({ resource: required!.resource, extensions: required!.extensions! })
}
const unpaid = (path = PAID, headers: Record<string, string> = {}) =>
  post(gw.baseUrl + path, { text: 'hello' }, headers)
const nonceOf = (payload: { payload: Record<string, unknown> }) =>
  (payload.payload['authorization'] as { nonce: string }).nonce

describe('the challenge', () => {
  it(
    cites(
      ['x402:http:challenge', 'x402:http:no-store'],
      'is in the header for v2, in the body for v1 and for people who read problems, and is not to be stored',
    ),
    async () => {
      const { status, headers, body, required } = await unpaid()
      expect(status).toBe(402)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(required).toMatchObject({ x402Version: 2, resource: { url: gw.baseUrl + PAID } })
      expect(required!.accepts).toEqual([requirementsOf(chain)])
      expect(body).toMatchObject({
        code: 'payment_required',
        status: 402,
        x402Version: 1,
        error: 'Payment required',
        accepts: [{ network: 'base-sepolia', maxAmountRequired: '1000', resource: gw.baseUrl + PAID }],
      })
      let size = 0
      for (const [name, value] of headers) size += name.length + value.length + 4
      expect(size).toBeLessThan(8192)
    },
  )

  it(cites('x402:http:order', 'comes after what is wrong with the request itself'), async () => {
    const { status, body, required } = await post(gw.baseUrl + PAID, { text: 1 })
    expect([status, body.code, required]).toEqual([400, 'input_wrong_type', undefined])
    expect(paid.runs).toEqual([])
  })

  it('offers what whoever trusts the address can verify', async () => {
    const { required } = await unpaid()
    const [offer] = extractOffersFromPaymentRequired(required as never)
    // Resolves did:web over HTTP.
    expect(await verifyOfferSignatureJWS(offer as never)).toMatchObject({
      resourceUrl: gw.baseUrl + PAID,
      amount: '1000',
      payTo: chain.payTo,
    })
    const did = await get(`${gw.baseUrl}/.well-known/did.json`)
    expect(did.headers.get('content-type')).toBe('application/did+json')
    expect(did.text).not.toContain('"d"')
  })

  it(
    cites(
      'x402:http:browser',
      'is a page for a browser, that nothing can be injected into and that needs no script',
    ),
    async () => {
      const browser = { accept: 'text/html,*/*', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
      const { status, headers, text, required } = await unpaid(PAID, browser)
      expect(status).toBe(402)
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('cache-control')).toBe('no-store')
      expect(required).toBeDefined()
      for (const word of [
        '0.001000 USDC',
        'Base Sepolia',
        'test money',
        'eip155:84532',
        chain.payTo,
        gw.baseUrl + PAID,
      ])
        expect(text).toContain(word)
      expect(text).not.toMatch(/<script(?![^>]* src="\/site\/)|javascript:|\son\w+=/i)
      for (const half of [{ accept: 'text/html' }, { 'user-agent': 'Mozilla/5.0' }])
        expect((await unpaid(PAID, half)).headers.get('content-type')).toBe('application/problem+json')
    },
  )

  it(cites('x402:http:cors', 'can be read and paid from a web page'), async () => {
    const preflight = await fetch(gw.baseUrl + PAID, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
    for (const name of ['payment-signature', 'x-payment', 'content-type', 'x-gateway-quote'])
      expect(preflight.headers.get('access-control-allow-headers')).toContain(name)
    const { headers } = await unpaid(PAID, { origin: 'http://localhost:3000' })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    for (const name of ['payment-required', 'payment-response', 'x-gateway-quote'])
      expect(headers.get('access-control-expose-headers')).toContain(name)
  })

  it('asks on the test network only where the address says so, and the input may not contradict it', async () => {
    expect((await unpaid(TESTNET)).required!.accepts.map(({ network }) => network)).toEqual(['eip155:84532'])
    expect((await post(gw.baseUrl + TESTNET, { text: 'a', testnet: true })).status).toBe(402)
    const { status, body } = await post(gw.baseUrl + TESTNET, { text: 'a', testnet: false })
    expect([status, body.code]).toEqual([400, 'input_conflict'])
    expect(body.fields).toEqual([{ pointer: '/testnet', message: 'contradicts the address' }])
  })

  it('is not bought off with an Idempotency-Key', async () => {
    const payload = await sign()
    const key = { 'idempotency-key': 'key-0123456789abcdef' }
    const headers = { ...key, 'payment-signature': toHeader(payload) }
    expect((await post(gw.baseUrl + PAID, { text: 'hello' }, headers)).status).toBe(200)
    expect((await unpaid(PAID, key)).status).toBe(402)
  })
})

describe('a payment', () => {
  it(
    cites(
      ['x402:http:exact', 'x402:http:response'],
      'moves exactly the price, and buys the result with receipts that anyone can verify',
    ),
    async () => {
      const payer = chain.payers[1]!
      const before = [await chain.usdcOf(payer.address), await chain.usdcOf(chain.payTo)]
      const { required } = await unpaid()
      const payload = await sign({
        account: payer,
        resource: required!.resource,
        extensions: required!.extensions!,
      })
      const { status, headers, text, body, settled } = await pay(payload)
      expect(status, text).toBe(200)
      expect(await chain.usdcOf(payer.address)).toBe(before[0]! - PRICE)
      expect(await chain.usdcOf(chain.payTo)).toBe(before[1]! + PRICE)
      expect(headers.get('cache-control')).toBe('private, no-store')
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('x-payment-response')).toBeNull()
      expect(Object.keys(body)).toEqual(['text', 'run', 'receipt'])
      expect(settled).toMatchObject({
        success: true,
        payer: payer.address.toLowerCase(),
        network: 'eip155:84532',
        amount: '1000',
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      })
      const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json')).body
      expect(await verifyJws(body.receipt.jws, jwks, JWS_TYPES.receipt)).toMatchObject({
        ok: true,
        payload: { transaction: settled!.transaction },
      })
      expect((await get(body.receipt.url)).body.jws).toBe(body.receipt.jws)

      const receipt = extractReceiptFromResponse(new Response(null, { headers }))
      await verifyReceiptSignatureJWS(receipt as never)
      const [offer] = extractOffersFromPaymentRequired(required as never)
      const offered = await verifyOfferSignatureJWS(offer as never)
      expect(verifyReceiptMatchesOffer(receipt!, offered as never, [payer.address])).toBe(true)
    },
  )

  it(cites('x402:http:v1', 'of v1 buys the same, told under the old name too'), async () => {
    const payload = await signPaymentV1({ account: chain.payers[0]!, requirements: requirementsOf(chain) })
    const { status, headers, body } = await post(
      gw.baseUrl + PAID,
      { text: 'v1' },
      { 'x-payment': toHeader(payload) },
    )
    expect([status, body.text]).toEqual([200, 'v1'])
    expect(headers.get('x-payment-response')).toBe(headers.get('payment-response'))
  })

  it(cites('x402:http:owner', 'is read back by its owner, with the result, and by nobody else'), async () => {
    const payload = await signEchoing()
    const bought = await pay(payload)
    const copy = await pay(payload)
    expect([copy.status, copy.body.code]).toEqual([409, 'payment_claimed'])
    const found = await get(copy.body.payment_url, { 'payment-signature': toHeader(payload) })
    expect(found.status).toBe(200)
    expect(found.headers.get('cache-control')).toBe('no-store')
    expect(found.body).toMatchObject({
      claim_id: copy.body.claim_id,
      state: 'settled',
      amount_atomic: '1000',
      amount: '0.001000',
      transaction: bought.settled!.transaction,
      resource: gw.baseUrl + PAID,
      result: bought.body,
      receipt: bought.body.receipt,
      retry_after_seconds: null,
    })
    for (const headers of [{}, { 'payment-signature': toHeader(await sign()) }] as Record<string, string>[]) {
      const refused = await get(copy.body.payment_url, headers)
      expect([refused.status, refused.body.code]).toEqual([404, 'payment_not_found'])
    }
    const missing = await get(`${gw.baseUrl}/v1/payments/clm_00000000000000000000000000000000000`, {
      'payment-signature': toHeader(payload),
    })
    expect(missing.status).toBe(404)
  })

  it(cites('x402:http:secret', 'is not logged, and what it cost is'), async () => {
    const payload = await sign()
    const { settled } = await pay(payload)
    expect(gw.log()).not.toContain((payload.payload['signature'] as string).slice(2, 40))
    expect(gw.log()).not.toContain(toHeader(payload).slice(0, 200))
    const lines = gw
      .log()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.findLast(({ code, tool }) => tool === 'gateway.paid.say' && code === 'ok')).toMatchObject({
      price: `1000 ${settled!.network}`,
      claim_id: expect.stringMatching(/^clm_/),
    })
  })

  it(
    cites('x402:http:disconnect', 'buys on when its buyer goes away, and the result waits for it'),
    async () => {
      const payload = await signEchoing()
      let go = () => {}
      const gone = new Promise<void>((resolve) => (go = resolve))
      paid.before = () => gone
      const runs = paid.runs.length
      const abort = new AbortController()
      const lost = fetch(gw.baseUrl + PAID, {
        method: 'POST',
        signal: abort.signal,
        headers: { 'content-type': 'application/json', 'payment-signature': toHeader(payload) },
        body: JSON.stringify({ text: 'left alone' }),
      })
      lost.catch(() => undefined)
      await expect.poll(() => paid.runs.length).toBe(runs + 1)
      abort.abort()
      await expect(lost).rejects.toThrow()
      const { body } = await pay(payload, { text: 'left alone' })
      expect(body).toMatchObject({ code: 'payment_claimed', state: 'claimed' })
      go()
      const read = () => get(body.payment_url, { 'payment-signature': toHeader(payload) })
      await expect.poll(async () => (await read()).body.state).toBe('settled')
      expect((await read()).body.result.text).toBe('left alone')
    },
  )
})

describe('a payment identifier', () => {
  const identified = (id: string) => ({ 'payment-identifier': { info: { required: false, id }, schema: {} } })

  it(
    cites(
      'x402:id:replay',
      'gets the stored bytes again, from a new payment of the same payer too, and charges nothing',
    ),
    async () => {
      const extensions = identified('flow_identifier_9c1e7b3f5a0d2e84')
      const payload = await sign({ extensions })
      const first = await pay(payload, { text: 'twice' })
      const transfers = await chain.transfersTo(chain.payTo)
      for (const again of [payload, await sign({ extensions })]) {
        const second = await pay(again, { text: 'twice' })
        expect([second.status, second.text]).toEqual([200, first.text])
        expect(second.headers.get('payment-response')).toBe(first.headers.get('payment-response'))
      }
      expect(await chain.transfersTo(chain.payTo)).toBe(transfers)

      const conflict = await pay(payload, { text: 'something else' })
      expect([conflict.status, conflict.body.code]).toEqual([409, 'payment_identifier_conflict'])
      const other = await pay(payload, { text: 'twice' }, OTHER)
      expect(other.status).toBe(409)
      const stranger = await sign({ extensions, account: chain.payers[2]! })
      const bought = await pay(stranger, { text: 'twice' })
      expect(bought.body.receipt.receipt_id).not.toBe(first.body.receipt.receipt_id)
      expect(await chain.transfersTo(chain.payTo)).toBe(transfers + 1)
    },
  )
})

describe('headers that are no payment', () => {
  const good = () => sign()
  it.each<[string, () => Promise<Record<string, string>> | Record<string, string>]>([
    ['garbage (RS-NEG-001)', () => ({ 'payment-signature': 'not a payment' })],
    [
      'base64 of garbage (RS-NEG-002)',
      () => ({ 'payment-signature': Buffer.from('garbage').toString('base64') }),
    ],
    [
      'base64url',
      async () => ({
        'payment-signature': Buffer.from(`${JSON.stringify(await good())}?>?>`).toString('base64url'),
      }),
    ],
    ['JSON of something else', () => ({ 'payment-signature': toHeader([1, 2]) })],
    [
      'more than 8 KiB',
      async () => ({ 'payment-signature': toHeader({ ...(await good()), padding: 'x'.repeat(7000) }) }),
    ],
    [
      'a payment of v1 under the name of v2',
      async () => ({
        'payment-signature': toHeader({
          ...(await signPaymentV1({ account: chain.payers[0]!, requirements: requirementsOf(chain) })),
          x402Version: 2,
        }),
      }),
    ],
    [
      'both names at once',
      async () => ({ 'payment-signature': toHeader(await good()), 'x-payment': toHeader(await good()) }),
    ],
    [
      'a member twice',
      async () => ({
        'payment-signature': Buffer.from(
          JSON.stringify(await good()).replace('{', '{"x402Version":2,'),
        ).toString('base64'),
      }),
    ],
    [
      'an amount that is a number',
      async () => {
        const payload = await good()
        return {
          'payment-signature': toHeader({ ...payload, accepted: { ...payload.accepted, amount: 1000 } }),
        }
      },
    ],
    ['nothing', () => ({ 'payment-signature': '' })],
  ])(cites('x402:http:malformed', '%s: 400, and nothing is run'), async (_, headers) => {
    const runs = paid.runs.length
    const { status, body } = await post(gw.baseUrl + PAID, { text: 'x' }, await headers())
    expect([status, body.code], body.detail).toEqual([400, 'payment_invalid'])
    expect(paid.runs.length).toBe(runs)
  })

  it(cites('x402:http:twice', 'the same name twice: 400'), async () => {
    const header = toHeader(await good())
    const status = await new Promise((resolve, reject) => {
      const req = httpRequest(gw.baseUrl + PAID, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'payment-signature': [header, header] },
      })
      req.on('response', (res) => resolve(res.resume().statusCode)).on('error', reject)
      req.end('{"text":"x"}')
    })
    expect(status).toBe(400)
  })

  it(cites('x402:http:size', 'a header of 1 MB is refused in words (RS-SEC-005)'), async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const req = httpRequest(gw.baseUrl + PAID, {
        method: 'POST',
        headers: { 'payment-signature': 'A'.repeat(20_000) },
      })
      req.on('response', (res) => resolve(`${res.resume().statusCode}`)).on('error', reject)
      req.end()
    })
    expect(answer).toBe('431')
  })
})

describe('payments that are not good', () => {
  const HALF = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = (signature: string): `0x${string}` => {
    const s = BigInt(`0x${signature.slice(66, 130)}`)
    const flipped = (s > HALF ? s : ORDER - s).toString(16).padStart(64, '0')
    const v = signature.slice(130) === '1b' ? '1c' : '1b'
    return `${signature.slice(0, 66)}${flipped}${v}` as `0x${string}`
  }
  const now = () => Math.floor(Date.now() / 1000)

  it.each<[string, () => Partial<SignOptions>, string, string]>([
    ['expired', () => ({ overrides: { validBefore: String(now() - 1) } }), 'window', 'valid_before'],
    [
      'valid for a year',
      () => ({ overrides: { validBefore: String(now() + 31_536_000) } }),
      'window',
      'valid_before',
    ],
    ['not valid yet', () => ({ overrides: { validAfter: String(now() + 100) } }), 'window', 'valid_after'],
    ['over a smaller value', () => ({ overrides: { value: '999' } }), 'amount', 'value'],
    [
      'to somebody else',
      () => ({ overrides: { to: '0x000000000000000000000000000000000000dEaD' } }),
      'pay_to',
      'recipient_mismatch',
    ],
    [
      'with a lower price accepted (RS-NEG-013)',
      () => ({ overrides: { accepted: { amount: '1' } } }),
      'accepted',
      '',
    ],
    [
      'with another payee accepted (RS-NEG-014)',
      () => ({ overrides: { accepted: { payTo: '0x000000000000000000000000000000000000dEaD' } } }),
      'accepted',
      '',
    ],
    [
      'signed for another domain',
      () => ({ overrides: { domain: { name: 'USD Coin' } } }),
      'signature',
      'invalid_exact_evm_signature',
    ],
    [
      'signed for another chain',
      () => ({ overrides: { domain: { chainId: 8453 } } }),
      'signature',
      'invalid_exact_evm_signature',
    ],
    [
      'signed for another token',
      () => ({ overrides: { domain: { verifyingContract: '0x000000000000000000000000000000000000dEaD' } } }),
      'signature',
      'invalid_exact_evm_signature',
    ],
    [
      'for a fake asset',
      () => ({ overrides: { accepted: { asset: '0x000000000000000000000000000000000000dEaD' } } }),
      'accepted',
      '',
    ],
    [
      'on another network',
      () => ({ overrides: { accepted: { network: 'eip155:8453' } } }),
      'network',
      'network',
    ],
    ['with the other s', () => ({ overrides: { signature: highS } }), 'signature_form', 'signature'],
    [
      'with a short signature',
      () => ({ overrides: { signature: (text) => text.slice(0, 100) as `0x${string}` } }),
      'signature_form',
      'signature',
    ],
    [
      'of a payer without money',
      () => ({ account: chain.payers[9]! }),
      'balance',
      'invalid_exact_evm_insufficient_balance',
    ],
  ])(
    cites('x402:http:invalid', '%s: 402 with the exact reason, and nothing is run'),
    async (name, options, check, reason) => {
      if (name.includes('without money')) await chain.drain(chain.payers[9]!)
      const runs = paid.runs.length
      const { status, body, required, settled } = await pay(await sign(options()))
      expect([status, body.code, body.check], body.detail).toEqual([402, 'payment_rejected', check])
      expect(body.invalid_reason).toContain(reason)
      expect(required!.error).toBe(body.invalid_reason)
      expect(settled).toBeUndefined()
      expect(paid.runs.length).toBe(runs)
    },
  )

  it(cites('x402:chain:canceled', 'canceled on the chain: 402'), async () => {
    const payload = await sign()
    await chain.cancelAuthorization(chain.payers[0]!, nonceOf(payload))
    const { status, body } = await pay(payload)
    expect([status, body.check, body.invalid_reason]).toEqual([
      402,
      'authorization_state',
      'invalid_exact_evm_nonce_already_used',
    ])
  })

  it(
    cites(
      'x402:chain:canceled-late',
      'canceled while the work ran: nothing is released, nothing is charged, and the answer says so',
    ),
    async () => {
      const payload = await sign()
      const transfers = await chain.transfersTo(chain.payTo)
      paid.before = () => chain.cancelAuthorization(chain.payers[0]!, nonceOf(payload))
      const answer = await pay(payload, { text: 'never told' })
      expect(answer.status, answer.text).toBe(402)
      expect(answer.body.code).toBe('settlement_failed')
      expect(answer.text).not.toContain('never told')
      expect(answer.settled).toMatchObject({ success: false, transaction: '', network: 'eip155:84532' })
      expect(answer.required).toBeDefined()
      expect(await chain.transfersTo(chain.payTo)).toBe(transfers)
      const read = await get(answer.body.payment_url, { 'payment-signature': toHeader(payload) })
      expect(read.body).toMatchObject({ state: 'failed', result: null, receipt: null })
    },
  )

  it(cites('x402:chain:drained', 'drained while the work ran: the same'), async () => {
    const payer = chain.payers[8]!
    const payload = await sign({ account: payer })
    paid.before = () => chain.drain(payer)
    const answer = await pay(payload, { text: 'never told' })
    expect([402, 503]).toContain(answer.status)
    expect(answer.text).not.toContain('never told')
  })

  it(
    cites(
      'x402:chain:preempted',
      'submitted by somebody else while the work ran: it is paid, so it is delivered',
    ),
    async () => {
      const payload = await sign({ account: chain.payers[3]! })
      const transfers = await chain.transfersTo(chain.payTo)
      paid.before = async () => void (await chain.preempt(payload))
      const answer = await pay(payload, { text: 'paid all the same' })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body.text).toBe('paid all the same')
      expect(await chain.transfersTo(chain.payTo)).toBe(transfers + 1)
    },
  )
})

describe('HEAD', () => {
  it('is not an address of a tool that is posted to', async () => {
    expect((await fetch(gw.baseUrl + PAID, { method: 'HEAD' })).status).toBe(405)
  })
})

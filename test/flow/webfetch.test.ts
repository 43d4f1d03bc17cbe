// Paid web fetch over REST on a real chain: 402 with a quote, payment, content, evidence, receipt; and everything that is
// not charged.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PaymentRequired, SettleResponse } from '../../schemas/x402.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { createRestBuyer, fromHeader } from '../support/rest-buyer.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { runCli } from '../support/cli.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { startRawUpstream } from '../support/upstream.ts'

const PATH = '/v1/tools/web.fetch'
let chain: TestChain
let gw: TestGateway
let jwks: JSONWebKeySet
let buyer: ReturnType<typeof createRestBuyer>

beforeAll(async () => {
  chain = await startTestChain(8453)
  gw = await startTestGateway({ env: chain.env })
  jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json')).body
  buyer = createRestBuyer(gw.baseUrl, chain.payers[0]!)
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})
beforeEach(() => {
  gw.upstream.respond((_request, res) => {
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>Grüße</h1>')
  })
})

const payload = async (jws: string, typ: string) => {
  const { payload: bytes } = await compactVerify(jws, createLocalJWKSet(jwks))
  expect(decodeProtectedHeader(jws).typ).toBe(typ)
  return JSON.parse(Buffer.from(bytes).toString())
}

describe('an Idempotency-Key on what is paid with x402', () => {
  const key = { 'idempotency-key': '8e03978e-40d5-43dd-bc93-6894a57f9324' }

  it.each([
    [PATH, (page: string) => ({ url: gw.url(page) })],
    ['/v1/execute', (page: string) => ({ capability: 'web-extraction', urls: [gw.url(page)] })],
  ])('is paid and fetched once by one payer at %s, however often it signs', async (path, input) => {
    const first = await buyer.buy(path, input('/once'), key)
    expect([first.status, first.headers.get('idempotent-replayed')], first.text).toEqual([200, null])
    const [paid, fetched] = [await chain.usdcOf(chain.payTo), gw.upstream.requests.length]
    const copies = await Promise.all([1, 2, 3].map(() => buyer.buy(path, input('/once'), key)))
    for (const { status, headers, text } of copies)
      expect([status, headers.get('idempotent-replayed'), text]).toEqual([200, 'true', first.text])
    expect(await buyer.buy(path, input('/other'), key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    })
    expect([await chain.usdcOf(chain.payTo), gw.upstream.requests.length]).toEqual([paid, fetched])

    // The key alone opens nothing: without a payment it is the price, and another payer buys its own.
    expect((await buyer.send(path, input('/once'), key)).status).toBe(402)
    const stranger = await createRestBuyer(gw.baseUrl, chain.payers[2]!).buy(path, input('/once'), key)
    expect(stranger.headers.get('idempotent-replayed')).toBeNull()
    expect(stranger.body.receipt.receipt_id).not.toBe(first.body.receipt.receipt_id)
  })

  it('is charged once for copies at once, each under a payment of its own, and refused where it is no key', async () => {
    const before = await chain.usdcOf(chain.payTo)
    const copies = await Promise.all(
      [1, 2, 3, 4].map(() =>
        buyer.buy(
          PATH,
          { url: gw.url('/together') },
          { 'idempotency-key': '4b1d9c07-e2a8-4f36-9d51-0c7be2f4a618' },
        ),
      ),
    )
    expect(new Set(copies.map(({ text }) => text)).size, copies[0]?.text).toBe(1)
    expect(await chain.usdcOf(chain.payTo)).toBe(before + 1000n)
    const refused = await buyer.buy(PATH, { url: gw.url('/together') }, { 'idempotency-key': 'two words' })
    expect(refused).toMatchObject({ status: 400, body: { code: 'input_invalid' } })
  })
})

describe('a paid fetch', () => {
  it('asks for payment first, with a signed quote, and contacts nobody', async () => {
    const before = gw.upstream.connections
    const challenge = await buyer.send(PATH, { url: gw.url('/page') })
    expect(challenge.status).toBe(402)
    const required = fromHeader<PaymentRequired>(challenge.headers.get('payment-required'))
    expect(required.resource.url).toBe(gw.baseUrl + PATH)
    expect(required.accepts).toEqual([
      expect.objectContaining({
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '1000',
        asset: chain.network.asset.address,
        payTo: chain.payTo,
      }),
    ])
    const quote = await payload(challenge.headers.get('x-gateway-quote')!, JWS_TYPES.quote)
    expect(quote).toMatchObject({
      iss: gw.baseUrl,
      quote_id: expect.stringMatching(/^qte_/),
      request: {
        url: gw.url('/page'),
        method: 'GET',
        timeout_ms: 8000,
        max_bytes: 131_072,
        mode: 'auto',
        network: 'eip155:8453',
      },
      amount_atomic: '1000',
      amount: '0.001000',
      network: 'eip155:8453',
      asset: chain.network.asset.address,
      pay_to: chain.payTo,
      environment: 'sandbox',
      revenue: false,
      notice: expect.stringMatching(/SANDBOX/),
    })
    // The head of a 402 has no room for the sums behind the price; a quote that is asked for has.
    const askedFor = await gw.rest('POST', '/v1/pricing/quote', { url: gw.url('/page') })
    expect(await payload(askedFor.body.quote, JWS_TYPES.quote)).toMatchObject({
      request: quote.request,
      economics: expect.objectContaining({ minimum_price_usd_micros: 125 }),
    })
    expect(Date.parse(quote.expires_at) - Date.parse(quote.issued_at)).toBe(300_000)
    expect(gw.upstream.connections).toBe(before)
  })

  it('moves exactly 0.001 USDC and gives content, evidence and a receipt that anyone can verify', async () => {
    const payer = chain.payers[1]!
    const [payerBefore, sellerBefore] = [await chain.usdcOf(payer.address), await chain.usdcOf(chain.payTo)]
    const answer = await createRestBuyer(gw.baseUrl, payer).buy(PATH, {
      url: gw.url('/page?token=secret-query'),
    })
    expect(answer.status, answer.text).toBe(200)
    expect(await chain.usdcOf(payer.address)).toBe(payerBefore - 1000n)
    expect(await chain.usdcOf(chain.payTo)).toBe(sellerBefore + 1000n)
    expect(answer.headers.get('cache-control')).toMatch(/private/)
    const settled = fromHeader<SettleResponse>(answer.headers.get('payment-response'))
    expect(settled).toMatchObject({ success: true, network: 'eip155:8453' })

    const { body } = answer
    expect(body).toMatchObject({
      ok: true,
      target: { host: 'api.example.com', address_class: 'opened_private' },
      response: {
        status: 200,
        content_type: 'text/html; charset=utf-8',
        content_kind: 'text',
        content: '<h1>Grüße</h1>',
        charset: { name: 'utf-8', from: 'header', replaced: 0 },
        bytes: 16,
        truncated: false,
        untrusted: true,
      },
      redirect: null,
      cost: {
        amount_atomic: '1000',
        amount: '0.001000',
        currency: 'USDC',
        decimals: 6,
        paid: true,
        network: 'eip155:8453',
        revenue: false,
      },
    })
    const evidence = await payload(body.evidence.jws, JWS_TYPES.evidence)
    const receipt = await payload(body.receipt.jws, JWS_TYPES.receipt)
    expect(evidence).toMatchObject({
      evidence_id: body.evidence.evidence_id,
      host: 'api.example.com',
      address_class: 'opened_private',
      upstream_status: 200,
      response_digest: body.response.sha256,
      response_bytes: 16,
      timings_ms: { total: expect.any(Number) },
    })
    for (const signed of [evidence, receipt]) expect(signed.environment).toBe('sandbox')
    expect(receipt).toMatchObject({
      revenue: false,
      tool: 'gateway.web.fetch',
      amount: '1000',
      transaction: settled.transaction,
      request_digest: evidence.request_digest,
    })
    // A kind of document is never taken for another.
    expect(await verifyJws(body.evidence.jws, jwks as never, JWS_TYPES.receipt)).toMatchObject({ ok: false })
    for (const signed of [evidence, receipt]) expect(JSON.stringify(signed)).not.toContain('secret-query')
    expect(gw.log()).not.toContain('secret-query')

    const file = join(gw.dataDir, 'answer.json')
    await writeFile(file, answer.text)
    const keys = join(gw.dataDir, 'keys.json')
    await writeFile(keys, JSON.stringify(jwks))
    const verified = await runCli(['receipts', 'verify', file, '--keys', keys], {})
    expect({ code: verified.code, out: verified.stdout }).toMatchObject({
      code: 0,
      out: expect.stringContaining(body.receipt.receipt_id),
    })
    expect(verified.stdout).toMatch(/^SANDBOX RECEIPT: test money and test keys only/)
    const told = await runCli(['receipts', 'verify', file, '--keys', keys, '--json'], {})
    expect(JSON.parse(told.stdout)).toMatchObject({
      verified: true,
      warning: expect.stringMatching(/^SANDBOX RECEIPT/),
      receipt: { environment: 'sandbox', revenue: false },
    })
  })

  it('sends nothing but what a stranger would send', async () => {
    await buyer.buy(PATH, { url: gw.url('/who'), mode: 'json' })
    const { headers, method, target } = gw.upstream.requests.at(-1)!
    expect([method, target]).toEqual(['GET', '/who'])
    expect(Object.fromEntries(headers)).toEqual({
      host: `api.example.com:${gw.upstream.port}`,
      accept: 'application/json,*/*;q=0.5',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': `AgentGateway/5 (+${gw.baseUrl}/reader)`,
      connection: 'keep-alive',
    })
  })

  it('is the same request in whatever shape it is sent again', async () => {
    const url = gw.url('/shape')
    const challenge = await buyer.send(PATH, { command: `curl -I '${url}'` })
    const signed = await buyer.sign(challenge)
    const answer = await buyer.send(
      PATH,
      { tool: 'gateway.web.fetch', input: { href: url, method: 'HEAD' } },
      { ...signed, 'x-gateway-quote': challenge.headers.get('x-gateway-quote')! },
    )
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.request).toMatchObject({ url, method: 'HEAD' })
    expect(answer.body.response).toMatchObject({ content_kind: 'none', content: null, bytes: 0 })
    expect(gw.upstream.requests.at(-1)!.method).toBe('HEAD')
  })

  it('buys nothing a second time with the same payment', async () => {
    const body = { url: gw.url('/once') }
    const headers = await buyer.sign(await buyer.send(PATH, body))
    expect((await buyer.send(PATH, body, headers)).status).toBe(200)
    const transfers = await chain.transfersTo(chain.payTo)
    const again = await buyer.send(PATH, body, headers)
    expect([again.status, again.body.code]).toEqual([409, 'payment_claimed'])
    const elsewhere = await buyer.send(PATH, { url: gw.url('/other') }, headers)
    expect([elsewhere.status, elsewhere.body.code]).toEqual([409, 'payment_claimed'])
    expect(gw.upstream.requests.filter(({ target }) => target === '/other')).toEqual([])
    expect(await chain.transfersTo(chain.payTo)).toBe(transfers)
  })
})

describe('the quote that is sent along', () => {
  it('must be of this request', async () => {
    const other = await buyer.send(PATH, { url: gw.url('/other') })
    const quote = other.headers.get('x-gateway-quote')!
    const body = { url: gw.url('/this') }
    const signed = await buyer.sign(await buyer.send(PATH, body))
    for (const headers of [{}, signed]) {
      const answer = await buyer.send(PATH, body, { ...headers, 'x-gateway-quote': quote })
      expect([answer.status, answer.body.code]).toEqual([400, 'quote_invalid'])
    }
  })

  it.each([
    ['nonsense', 'nonsense'],
    ['three empty parts', '..'],
    ['a very long one', 'a'.repeat(9000)],
  ])('is refused when it is %s', async (_, quote) => {
    const answer = await buyer.send(PATH, { url: gw.url('/this') }, { 'x-gateway-quote': quote })
    expect([answer.status, answer.body.code]).toEqual([400, 'quote_invalid'])
  })

  it('is refused when it is another document that we signed', async () => {
    const { body } = await buyer.buy(PATH, { url: gw.url('/this') })
    const answer = await buyer.send(PATH, { url: gw.url('/this') }, { 'x-gateway-quote': body.evidence.jws })
    expect([answer.status, answer.body.code]).toEqual([400, 'quote_invalid'])
  })
})

describe('what comes back', () => {
  const cases: [string, Record<string, string>, Buffer | string, Record<string, unknown>, object][] = [
    [
      'JSON',
      { 'content-type': 'application/json' },
      '{"a":[1,2]}',
      {},
      { content_kind: 'json', content: { a: [1, 2] } },
    ],
    [
      'a page in windows-1252',
      { 'content-type': 'text/html; charset=iso-8859-1' },
      Buffer.from('\x93na\xefve\x94', 'latin1'),
      {},
      { content: '\u201cnaïve\u201d', charset: { name: 'windows-1252', from: 'header', replaced: 0 } },
    ],
    [
      'gzip',
      { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
      gzipSync('packed'),
      {},
      { content: 'packed', content_encoding: 'gzip', bytes: 6, truncated: false },
    ],
    [
      'a bomb, cut at max_bytes',
      { 'content-type': 'text/plain', 'content-encoding': 'br' },
      brotliCompressSync('a'.repeat(20_000_000)),
      { max_bytes: 2048 },
      { content: 'a'.repeat(2048), bytes: 2048, truncated: true },
    ],
    [
      'a big page, cut at max_bytes',
      { 'content-type': 'text/plain' },
      'é'.repeat(100_000),
      { max_bytes: 1025 },
      { content: 'é'.repeat(512), bytes: 1025, truncated: true },
    ],
    [
      'exactly max_bytes, whole',
      { 'content-type': 'text/plain' },
      'a'.repeat(1024),
      { max_bytes: 1024 },
      { bytes: 1024, truncated: false },
    ],
    [
      'an image',
      { 'content-type': 'image/png' },
      Buffer.from([137, 80, 0]),
      {},
      { content_kind: 'base64', content: 'iVAA' },
    ],
    [
      'JSON under another name, where JSON was asked for',
      { 'content-type': 'text/html' },
      '{"a":1}',
      { mode: 'json' },
      { content_kind: 'json', content: { a: 1 } },
    ],
  ]
  it.each(cases)('%s', async (_, headers, body, options, expected) => {
    gw.upstream.respond((_request, res) => void res.writeHead(200, headers).end(body))
    const answer = await buyer.buy(PATH, { url: gw.url('/content'), ...options })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.response).toMatchObject({ status: 200, ...expected })
  })

  it('is delivered and charged for any complete answer, a redirect not followed', async () => {
    for (const status of [404, 503, 304]) {
      gw.upstream.respond((_request, res) => void res.writeHead(status).end())
      const answer = await buyer.buy(PATH, { url: gw.url('/status') })
      expect([answer.status, answer.body.response.status]).toEqual([200, status])
    }
    gw.upstream.respond((_request, res) => void res.writeHead(302, { location: '../next?a=b' }).end())
    const sent = gw.upstream.requests.length
    const answer = await buyer.buy(PATH, { url: gw.url('/a/b') })
    expect(answer.body.redirect).toEqual({
      location: '../next?a=b',
      url: gw.url('/next?a=b'),
      followed: false,
    })
    expect(gw.upstream.requests.length).toBe(sent + 1)
    gw.upstream.respond((_request, res) => void res.writeHead(307, { location: 'javascript:a' }).end())
    const nowhere = await buyer.buy(PATH, { url: gw.url('/a/b') })
    expect(nowhere.body.redirect).toEqual({ location: 'javascript:a', url: null, followed: false })
  })

  it('carries no cookie and nothing that sets state', async () => {
    gw.upstream.respond((_request, res) => {
      res
        .writeHead(200, {
          'set-cookie': 'a=b',
          'www-authenticate': 'Basic',
          etag: '"1"',
          'x-powered-by': 'x',
        })
        .end('a')
    })
    const { body } = await buyer.buy(PATH, { url: gw.url('/cookie') })
    expect(body.response.headers).toMatchObject({ etag: '"1"' })
    expect(Object.keys(body.response.headers)).toEqual(
      expect.not.arrayContaining(['set-cookie', 'www-authenticate', 'x-powered-by']),
    )
  })

  it('of a page that was cut leaves nothing for the next fetch', async () => {
    gw.upstream.respond((request, res) => {
      res.writeHead(200, { 'content-type': 'text/plain' })
      res.end(request.target === '/long' ? 'x'.repeat(2_000_000) : 'short')
    })
    const long = await buyer.buy(PATH, { url: gw.url('/long'), max_bytes: 1024 })
    const short = await buyer.buy(PATH, { url: gw.url('/short'), max_bytes: 1024 })
    expect([long.body.response.truncated, short.body.response.content]).toEqual([true, 'short'])
  })
})

describe('what is refused before anything is asked of the buyer', () => {
  it.each<[string, Record<string, unknown>, number, string]>([
    ['no URL', {}, 400, 'input_missing_field'],
    ['two URLs', { url: 'https://a.example.com/', href: 'https://b.example.com/' }, 400, 'input_conflict'],
    ['an unknown member', { url: 'https://a.example.com/', headers: {} }, 400, 'input_unknown_property'],
    ['a curl option', { command: 'curl -L https://a.example.com/' }, 400, 'input_invalid'],
    ['plain HTTP', { url: 'http://a.example.com/' }, 400, 'target_invalid'],
    ['a fragment', { url: 'https://a.example.com/#b' }, 400, 'target_invalid'],
    ['a password', { url: 'https://a:b@a.example.com/' }, 400, 'target_invalid'],
    ['an address', { url: 'https://127.0.0.1/' }, 403, 'target_blocked'],
    ['an address in disguise', { url: 'https://0x7f.1/' }, 403, 'target_blocked'],
    ['a local name', { url: 'https://db.internal/' }, 403, 'target_blocked'],
    ['a port', { url: 'https://a.example.com:8443/' }, 403, 'target_blocked'],
  ])('%s', async (_, body, status, code) => {
    const answer = await buyer.send(PATH, body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.headers.get('payment-required')).toBeNull()
  })
})

describe('what is not charged', () => {
  /** Pays for a fetch that fails, and then for one that works with the very same payment. */
  async function failsWith(url: string, options: Record<string, unknown> = {}) {
    const before = await chain.transfersTo(chain.payTo)
    const body = { url, ...options }
    const headers = await buyer.sign(await buyer.send(PATH, body))
    const failed = await buyer.send(PATH, body, headers)
    expect(await chain.transfersTo(chain.payTo)).toBe(before)
    expect(failed.body.detail).toMatch(/Nothing was charged/)
    return [failed.status, failed.body.code]
  }

  it.each<[string, number, Record<string, string>, string, Record<string, unknown>, object]>([
    ['HTML', 200, { 'content-type': 'text/html' }, '<p>', {}, { parse_error: 'not_json' }],
    ['an empty answer', 204, {}, '', {}, { parse_error: 'empty', upstream_content_type: null }],
    [
      'an error page',
      404,
      { 'content-type': 'text/html' },
      '<h1>Not found</h1>',
      {},
      { upstream_status: 404, upstream_content_type: 'text/html', parse_error: 'not_json' },
    ],
    [
      'JSON that is cut',
      200,
      { 'content-type': 'application/json' },
      JSON.stringify('a'.repeat(2000)),
      { max_bytes: 1024 },
      { parse_error: 'truncated', detail: expect.stringMatching(/larger max_bytes/) },
    ],
    [
      'a redirect',
      302,
      { location: '/v2' },
      '',
      {},
      { upstream_status: 302, redirect_url: expect.stringMatching(/^https:.*\/v2$/) },
    ],
  ])('%s where JSON was asked for', async (_, status, headers, text, options, expected) => {
    gw.upstream.respond((_request, res) => void res.writeHead(status, headers).end(text))
    const before = await chain.transfersTo(chain.payTo)
    const body = { url: gw.url('/json'), mode: 'json', ...options }
    const refused = await buyer.buy(PATH, body)
    expect(refused).toMatchObject({
      status: 502,
      body: {
        code: 'response_unacceptable',
        detail: expect.stringMatching(/Nothing was charged/),
        ...expected,
      },
    })
    expect(await chain.transfersTo(chain.payTo)).toBe(before)
  })

  it('but a HEAD is, whatever mode it names', async () => {
    gw.upstream.respond((_request, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end())
    const answer = await buyer.buy(PATH, { url: gw.url('/head'), method: 'HEAD', mode: 'json' })
    expect(answer.status, answer.text).toBe(200)
  })

  it('a connection that is lost', async () => {
    gw.upstream.respond((_request, res) => void res.socket!.destroy())
    expect(await failsWith(gw.url('/lost'))).toEqual([503, 'upstream_unreachable'])
  })

  it('an answer that ends early', async () => {
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-length': '100' }).write('half')
      res.socket!.end()
    })
    expect(await failsWith(gw.url('/half'))).toEqual([503, 'upstream_unreachable'])
  })

  it('an answer that does not come in time', async () => {
    gw.upstream.respond(() => {})
    expect(await failsWith(gw.url('/late'), { timeout_ms: 1000 })).toEqual([503, 'upstream_unreachable'])
  })

  it('an answer that is no HTTP', async () => {
    const raw = await startRawUpstream(await gw.ca.leaf('api.example.com'), (socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab')
    })
    const other = await startTestGateway({
      world: {
        ...gw,
        env: { ...gw.env, GATEWAY_DATA_DIR: join(gw.dataDir, 'raw'), GATEWAY_EGRESS_PORTS: `${raw.port}` },
      },
    })
    try {
      const url = `https://api.example.com:${raw.port}/`
      const answer = await createRestBuyer(other.baseUrl, chain.payers[2]!).buy(PATH, { url })
      expect([answer.status, answer.body.code]).toEqual([502, 'response_unacceptable'])
    } finally {
      await other.close()
      await raw.close()
    }
  })

  it('a name that does not exist, and one that leads to a private address', async () => {
    expect(await failsWith('https://nowhere.example.com/')).toEqual([503, 'upstream_unreachable'])
    gw.dns.set('inside.example.com', { A: ['93.184.216.34', '10.0.0.1'] })
    const before = gw.upstream.connections
    expect(await failsWith('https://inside.example.com/')).toEqual([403, 'target_blocked'])
    expect(gw.upstream.connections).toBe(before)
  })

  it('what the operator denies, which is not even priced', async () => {
    const directory = join(gw.dataDir, 'data')
    await mkdir(directory, { recursive: true })
    const write = (policy: unknown) =>
      writeFile(join(directory, 'egress-policy.json'), JSON.stringify(policy))
    const code = async () => (await buyer.send(PATH, { url: gw.url('/') })).body.code
    await write({ denied_hosts: ['example.com'] })
    await expect.poll(code).toBe('target_blocked')
    await write({ paused: true })
    await expect.poll(code).toBe('egress_paused')
    await write({})
    await expect.poll(code).toBe('payment_required')
  })

  it('leaves the payment as good as new', async () => {
    const body = { url: gw.url('/flaky') }
    gw.upstream.respond((_request, res) => void res.socket!.destroy())
    const headers = await buyer.sign(await buyer.send(PATH, body))
    expect((await buyer.send(PATH, body, headers)).status).toBe(503)
    gw.upstream.respond((_request, res) => void res.end('there'))
    const answer = await buyer.send(PATH, body, headers)
    expect(answer.status, answer.text).toBe(200)
  })
})

// What is said of paid calls before they are made agrees with what they answer: /.well-known/x402, `x-payment-info` and the plain JWKS.
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tools } from '../../tools/index.ts'
import type { PaymentRequired } from '../../schemas/x402.ts'
import { isPaid } from '../../src/core/price.ts'
import { publishedKeys, verificationKeys } from '../../src/receipts/published-keys.ts'
import { createClient, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { fromHeader } from '../support/rest-buyer.ts'
import { at, type Json } from '../support/tree.ts'

interface Item {
  readonly resource: string
  readonly method: string
  readonly accepts: readonly unknown[]
  readonly extensions: { readonly bazaar: { readonly info: { readonly input: { readonly body: unknown } } } }
}

let gw: TestGateway
let manifest: { version: number; resources: string[]; items: Item[]; environment: string }
let openApi: Json
beforeAll(async () => {
  // A network that payments are taken on, and that none of our calls is sold on.
  gw = await startTestGateway({ env: { GATEWAY_RPC_137: 'http://127.0.0.1:1' } })
  manifest = (await gw.rest('GET', '/.well-known/x402', undefined, '')).body
  openApi = (await gw.rest('GET', '/openapi.json', undefined, '')).body
})
afterAll(() => gw?.close())

const operationOf = (path: string) =>
  (at(openApi, 'paths', path, 'post') ?? at(openApi, 'paths', path, 'get')) as Json
const askFor = (path: string, body: unknown) => gw.rest('POST', path, body, '')

describe('/.well-known/x402', () => {
  it('has the form that catalogues read, and says that this is a sandbox', async () => {
    const answer = await fetch(`${gw.baseUrl}/.well-known/x402`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(manifest).toMatchObject({ version: 1, x402Version: 2, environment: 'sandbox' })
    expect(manifest.resources.every((url) => URL.canParse(url))).toBe(true)
    expect(new Set(manifest.resources)).toEqual(new Set(manifest.items.map(({ resource }) => resource)))
    expect(manifest.resources).toHaveLength(new Set(manifest.resources).size)
  })

  it('names every paid call that needs no key, and no other', () => {
    const open = tools.filter((tool) => isPaid(tool) && !tool.errors.includes('key_required'))
    // A template names many resources, each with a listing of its own.
    const paths = open.flatMap(({ rest }) => rest.filter(({ isRaw }) => !isRaw).map(({ path }) => path))
    const onMarket = ['/p/gateway/feed-digest/']
    expect(manifest.resources.toSorted()).toEqual(
      [...paths, ...onMarket].map((path) => gw.baseUrl + path).toSorted(),
    )
  })

  it('asks of each resource what its 402 asks', async () => {
    for (const { resource, method, accepts, extensions } of manifest.items) {
      const { body } = extensions.bazaar.info.input
      const path = resource.slice(gw.baseUrl.length)
      // Services of the market take other methods than our tools.
      const isService = path.startsWith('/p/')
      const answer = isService ? await gw.rest(method, path, undefined, '') : await askFor(path, body)
      expect([isService || method === 'POST', answer.status], answer.text).toEqual([true, 402])
      const required = fromHeader<PaymentRequired>(answer.headers.get('payment-required'))
      expect(required.resource.url).toBe(resource)
      expect(accepts).toEqual(required.accepts)
    }
  })

  it('names nothing where nobody is paid', async () => {
    const unpaid = await startTestGateway({
      env: { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gw.example' },
    })
    try {
      const { rest } = createClient(`http://127.0.0.1:${unpaid.gateway.port}`, unpaid)
      const { body } = await rest('GET', '/.well-known/x402', undefined, '')
      expect(body).toMatchObject({ environment: 'production', resources: [], items: [] })
    } finally {
      await unpaid.close()
    }
  })
})

describe('x-payment-info', () => {
  it('is on every operation that is paid, and on no other', () => {
    const marked = Object.entries(at(openApi, 'paths') as Json).flatMap(([path, item]) =>
      Object.values(item as Json).some((operation) => 'x-payment-info' in (operation as Json)) ? [path] : [],
    )
    const paid = tools.filter(isPaid).flatMap(({ rest }) => rest.map(({ path }) => path))
    expect(marked.toSorted()).toEqual(paid.toSorted())
    for (const path of marked)
      expect(Object.keys(at(operationOf(path), 'responses') as Json)).toContain('402')
  })

  it('says a fixed price where it is one, and the 402 asks for that', async () => {
    const info = operationOf('/v1/tools/web.fetch')['x-payment-info']
    expect(info).toEqual({
      price: { mode: 'fixed', amount: '0.001000', currency: 'USD' },
      protocols: [{ x402: {} }],
    })
    const onTestNetwork = at(operationOf('/v1/tools/web.fetch/testnet'), 'x-payment-info')
    expect(onTestNetwork).toEqual({ ...(info as Json), protocols: [{ x402: { testnet: true } }] })
    const answer = await askFor('/v1/tools/web.fetch', { url: gw.url('/') })
    const [accepted] = fromHeader<PaymentRequired>(answer.headers.get('payment-required')).accepts
    expect(Number(accepted!.amount) / 1e6).toBe(0.001)
  })

  it('says the bounds of a price that hangs on the job, and none where there are none', () => {
    const priceOf = (path: string) => at(operationOf(path), 'x-payment-info', 'price')
    expect(priceOf('/v1/execute')).toEqual({
      mode: 'dynamic',
      min: '0.000000',
      max: '0.006000',
      currency: 'USD',
    })
    expect(priceOf('/v1/credits/purchase')).toEqual({ mode: 'dynamic', currency: 'USD' })
  })
})

describe('/.well-known/jwks.json', () => {
  it('verifies what the gateway signs, in a library that knows nothing of us', async () => {
    const { body } = await gw.rest('POST', '/v1/pricing/quote', { url: gw.url('/') }, '')
    const keys = createRemoteJWKSet(new URL(`${gw.baseUrl}/.well-known/jwks.json`))
    const { payload, protectedHeader } = await jwtVerify(body.quote, keys, { issuer: gw.baseUrl })
    expect(payload['quote_id']).toBe(body.quote_id)
    const jwks = (await gw.rest('GET', '/.well-known/jwks.json', undefined, '')).body
    expect(jwks.keys).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: expect.any(String),
        kid: protectedHeader.kid,
        use: 'sig',
        alg: 'EdDSA',
        not_before: expect.stringMatching(/Z$/),
        retired_at: null,
      },
    ])
  })

  it('holds the verification keys of the key document, the retired ones as well, and neither revoked nor wrapping keys', () => {
    const key = (kid: string, purpose: 'sign' | 'wrap', retiredAt: number | null = null) => ({
      kid,
      purpose,
      jwk: JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: kid, d: 'secret' }),
      notBefore: 0,
      retiredAt,
      revokedAt: null,
      revocationReason: null,
    })
    const stolen = { ...key('d', 'sign', 1), revokedAt: 2, revocationReason: 'stolen' }
    const keys = [key('a', 'sign'), key('b', 'wrap'), key('c', 'sign', 1), stolen]
    const not_before = '1970-01-01T00:00:00.000Z'
    const retired_at = '1970-01-01T00:00:00.001Z'
    expect(verificationKeys(keys).keys).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: 'a',
        kid: 'a',
        use: 'sig',
        alg: 'EdDSA',
        not_before,
        retired_at: null,
      },
      { kty: 'OKP', crv: 'Ed25519', x: 'c', kid: 'c', use: 'sig', alg: 'EdDSA', not_before, retired_at },
    ])
    const told = publishedKeys(keys).keys.filter(({ use }) => use === 'sig')
    expect(told.map(({ kid }) => kid)).toEqual(['a', 'c'])
  })
})

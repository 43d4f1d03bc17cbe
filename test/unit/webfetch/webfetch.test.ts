// Web fetch over fakes of everything it needs from the world: quotes in time, refusals, failures of the sender.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WebFetch } from '../../../src/webfetch/ports.ts'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import {
  type OutboundRequest,
  ResolveError,
  type SendFailure,
  type SendResult,
} from '../../../src/egress/ports.ts'
import type { GatewayError } from '../../../src/core/errors.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import type { Route } from '../../../src/payments/ports.ts'
import { createPublishedKeys } from '../../support/published-keys.ts'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
import { decodeJws, JWS_TYPES } from '../../../src/receipts/types.ts'
import { DEFAULT_ECONOMICS } from '../../../src/webfetch/economics.ts'
import { createWebFetch, type WebFetchParts } from '../../../src/webfetch/index.ts'

let directory: string
let signer: Awaited<ReturnType<typeof openSigner>>
const clock = { now: Date.UTC(2026, 10, 21, 12) }
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'webfetch-'))
  const store = createPublishedKeys()
  signer = await openSigner({
    file: join(directory, 'signing.jwk'),
    store,
    now: () => clock.now,
    environment: 'sandbox',
  })
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const ANSWER: SendResult = {
  ok: true,
  response: {
    status: 200,
    statusText: 'OK',
    headers: [{ name: 'content-type', value: 'text/plain' }],
    body: Buffer.from('hello'),
  },
}

function create(change: Partial<WebFetchParts> = {}, answer: SendResult = ANSWER) {
  const sent: OutboundRequest[] = []
  const saved: unknown[] = []
  const webFetch = createWebFetch({
    config: { mode: 'production', egressPorts: [443] },
    networks: createNetworks([8453, 84532]),
    router: { routes: async () => [{} as Route] },
    payTo: '0x00000000000000000000000000000000cA5cAde5',
    resolver: { resolve: async () => ['93.184.216.34'] },
    sender: {
      send: async (request) => {
        sent.push(request)
        return answer
      },
      close: async () => {},
    },
    policy: createAddressPolicy([]),
    checkHost: async () => ({ ok: true }),
    signer,
    verifyOwn: signer.verifyOwn,
    store: { saveQuote: async (quote) => void saved.push(quote) },
    baseUrl: 'https://gateway.example',
    siteUrl: 'https://gateway.example',
    now: () => clock.now,
    ...change,
  })
  return { webFetch, sent, saved }
}

const URL = 'https://a.example.com/p?q=1'
const refusal = async (work: () => Promise<unknown>): Promise<GatewayError> => {
  try {
    await work()
  } catch (thrown) {
    return thrown as GatewayError
  }
  throw new Error('it was not refused')
}

const run = async (webFetch: WebFetch, input: unknown) =>
  (await webFetch.plan(input)).run({ requestId: 'req_1' })

describe('a quote', () => {
  it('that is presented in time is the one that applies', async () => {
    const { webFetch } = create()
    const { jws, expiresAt } = (await webFetch.plan({ url: URL })).charge.quote!(undefined)
    expect(expiresAt).toBe(clock.now + 300_000)
    clock.now += 299_999
    const same = (await webFetch.plan({ tool: 'gateway.web.fetch', input: { href: URL, method: 'GET' } }))
      .charge
    expect(same.quote!(jws)).toEqual({ jws, expiresAt })
  })

  it('that has expired is replaced, and never accepted', async () => {
    const { webFetch } = create()
    const terms = (await webFetch.plan({ url: URL })).charge
    const { jws } = terms.quote!(undefined)
    clock.now += 300_000
    const fresh = terms.quote!(jws)
    expect(fresh.jws).not.toBe(jws)
    expect(fresh.expiresAt).toBe(clock.now + 300_000)
  })

  it.each<[string, Record<string, unknown>]>([
    ['another URL', { url: 'https://a.example.com/p?q=2' }],
    ['another method', { url: URL, method: 'HEAD' }],
    ['another size', { url: URL, max_bytes: 2048 }],
    ['another time', { url: URL, timeout_ms: 2000 }],
    ['another mode', { url: URL, mode: 'text' }],
    ['another network', { url: URL, testnet: true }],
  ])('of %s is refused', async (_, other) => {
    const { webFetch } = create()
    const { jws } = (await webFetch.plan(other)).charge.quote!(undefined)
    const terms = (await webFetch.plan({ url: URL })).charge
    expect((await refusal(async () => terms.quote!(jws))).code).toBe('quote_invalid')
  })

  it('of another price or another seller is replaced', async () => {
    const quoteOf = async (change: Partial<WebFetchParts>) =>
      (await create(change).webFetch.plan({ url: URL })).charge.quote!(undefined).jws
    const { charge: terms } = await create().webFetch.plan({ url: URL })
    for (const jws of [
      await quoteOf({ economics: { ...DEFAULT_ECONOMICS, customerPriceUsdMicros: 500n } }),
      await quoteOf({ payTo: '0x0000000000000000000000000000000000000001' }),
    ])
      expect(terms.quote!(jws).jws).not.toBe(jws)
  })

  it('with one character changed is refused', async () => {
    const { webFetch } = create()
    const terms = (await webFetch.plan({ url: URL })).charge
    const { jws } = terms.quote!(undefined)
    const at = Math.floor(jws.length / 2)
    const broken = jws.slice(0, at) + (jws[at] === 'A' ? 'B' : 'A') + jws.slice(at + 1)
    expect((await refusal(async () => terms.quote!(broken))).code).toBe('quote_invalid')
  })

  it('is stored when it is asked for, and not when a challenge carries it', async () => {
    const { webFetch, saved } = create()
    ;(await webFetch.plan({ url: URL })).charge.quote!(undefined)
    expect(saved).toEqual([])
    const answer = await webFetch.quote({ url: URL })
    expect(saved).toEqual([
      { id: answer['quote_id'], jws: answer['quote'], createdAt: clock.now, expiresAt: clock.now + 300_000 },
    ])
  })

  it('says as much as there is room for, and never more than that', async () => {
    const { webFetch } = create()
    const shown = new Set<string>()
    for (const length of [1, 20, 60, 100, 140, 200, 300, 600, 1200, 2000])
      for (const room of [1400, 1500, 1700, 2000, 5120]) {
        const { charge } = await webFetch.plan({ url: `https://a.example.com/${'p'.repeat(length)}` })
        const { jws } = charge.quote!(undefined, room)
        expect(jws.length, `${length} in ${room}`).toBeLessThanOrEqual(room)
        const {
          request,
          economics,
          request_digest: digest,
        } = decodeJws(jws).payload as {
          request: { url: string | null } | null
          economics?: object
          request_digest: string
        }
        expect(digest).toBe(charge.requestDigest)
        shown.add(
          `${economics ? 'all' : 'brief'} ${request === null ? 'digest' : request.url === null ? 'no URL' : 'request'}`,
        )
      }
    expect(shown).toEqual(new Set(['all request', 'all no URL', 'brief request', 'brief no URL']))
  })

  it('carries no sandbox notice in production', async () => {
    const { jws } = (await create().webFetch.plan({ url: URL })).charge.quote!(undefined)
    expect(decodeJws(jws).header).toMatchObject({ typ: JWS_TYPES.quote })
    expect(decodeJws(jws).payload).not.toHaveProperty('notice')
  })
})

describe('a price that does not cover its costs', () => {
  const open = () => create({ economics: { ...DEFAULT_ECONOMICS, customerPriceUsdMicros: 124n } })

  it('is not offered', async () => {
    const { webFetch } = open()
    for (const work of [() => webFetch.plan({ url: URL }), () => webFetch.quote({ url: URL })]) {
      const error = await refusal(work)
      expect([error.code, error.status]).toEqual(['tool_unavailable', 503])
    }
    const document = (await webFetch.pricing()) as { tools: Record<string, { available: boolean }> }
    expect(document.tools['gateway.web.fetch']).toMatchObject({
      available: false,
      economics: { available: false, rejection_reason: 'price_below_minimum' },
      customer_price_usd_micros: 124,
      amount_atomic: '124',
    })
  })

  it('is a finding of the preflight', async () => {
    expect(await open().webFetch.preflight({ url: URL })).toMatchObject({
      ready: false,
      findings: [{ code: 'tool_unavailable', reason: 'price_below_minimum' }],
    })
  })
})

describe('payment readiness', () => {
  it.each<[string, Partial<WebFetchParts>, string]>([
    ['nobody to pay', { payTo: undefined }, 'no_pay_to'],
    ['no chain', { networks: createNetworks([84532]) }, 'no_network'],
    ['no live route', { router: { routes: async () => [] } }, 'no_route'],
    ['a router that fails', { router: { routes: () => Promise.reject(new Error('down')) } }, 'no_route'],
  ])('%s is a finding, and `configured` is false', async (_, change, reason) => {
    const { webFetch, sent } = create(change)
    expect(await webFetch.preflight({ url: URL })).toMatchObject({
      ready: false,
      target: { safe: true, address_class: 'public' },
      payment: { ready: false },
      findings: [{ code: 'payments_unavailable', reason }],
    })
    const document = (await webFetch.pricing()) as {
      tools: Record<string, { payment_rails: { configured: boolean }[] }>
    }
    expect(document.tools['gateway.web.fetch']!.payment_rails[0]!.configured).toBe(false)
    expect(sent).toEqual([])
  })

  it('asks the router for the network of the request', async () => {
    const asked: unknown[] = []
    const { webFetch } = create({
      router: {
        routes: async (selector) => {
          asked.push(selector)
          return [{} as Route]
        },
      },
    })
    await webFetch.preflight({ url: URL, testnet: true })
    expect(asked).toEqual([{ scheme: 'exact', network: 'eip155:84532' }])
  })
})

describe('a fetch', () => {
  it('sends once, to the vetted addresses, within what is left of the time', async () => {
    const { webFetch, sent } = create({
      resolver: {
        resolve: async (_host, timeoutMs) => {
          expect(timeoutMs).toBe(3000)
          clock.now += 1200
          return ['93.184.216.34', '2606:2800:220:1::1']
        },
      },
    })
    const result = await run(webFetch, { url: URL, timeout_ms: 3000, max_bytes: 2048 })
    expect(sent).toHaveLength(1)
    expect(sent[0]).toMatchObject({
      method: 'GET',
      addresses: ['93.184.216.34', '2606:2800:220:1::1'],
      timeoutMs: 1800,
      maxResponseBytes: 2048,
      body: undefined,
      overflow: 'cut',
    })
    expect(result).toMatchObject({ target: { address_class: 'public' }, receipt: null })
    expect(decodeJws(result.evidence.jws).payload).toMatchObject({
      request_id: 'req_1',
      timings_ms: { resolve: 1200, exchange: 0, total: 1200 },
    })
  })

  const failures: [SendFailure, string, number][] = [
    [{ phase: 'before_send', reason: 'connect_failed' }, 'upstream_unreachable', 503],
    [{ phase: 'before_send', reason: 'tls_failed' }, 'upstream_unreachable', 503],
    [{ phase: 'before_send', reason: 'address_mismatch' }, 'upstream_unreachable', 503],
    [{ phase: 'before_send', reason: 'timeout' }, 'upstream_unreachable', 503],
    [{ phase: 'before_send', reason: 'request_rejected' }, 'upstream_unreachable', 503],
    [{ phase: 'after_send', reason: 'reset' }, 'upstream_unreachable', 503],
    [{ phase: 'after_send', reason: 'timeout' }, 'upstream_unreachable', 503],
    [{ phase: 'after_send', reason: 'body_incomplete' }, 'upstream_unreachable', 503],
    [{ phase: 'after_send', reason: 'malformed' }, 'response_unacceptable', 502],
    [{ phase: 'response', status: 206, reason: 'bad_status' }, 'response_unacceptable', 502],
  ]
  it.each(failures)('that ends in %j is refused', async (failure, code, status) => {
    const { webFetch, sent } = create({}, { ok: false, ...failure })
    const error = await refusal(() => run(webFetch, { url: URL }))
    expect([error.code, error.status]).toEqual([code, status])
    expect(error.message).toMatch(/Nothing was charged/)
    expect(sent).toHaveLength(1)
  })

  it.each<[string, Partial<WebFetchParts>, string]>([
    ['a private address', { resolver: { resolve: async () => ['10.0.0.1'] } }, 'target_blocked'],
    [
      'one private address of two',
      { resolver: { resolve: async () => ['93.184.216.34', '::1'] } },
      'target_blocked',
    ],
    ['no address', { resolver: { resolve: async () => [] } }, 'upstream_unreachable'],
    [
      'no name',
      { resolver: { resolve: () => Promise.reject(new ResolveError('not_found')) } },
      'upstream_unreachable',
    ],
    [
      'a slow resolver',
      { resolver: { resolve: () => Promise.reject(new ResolveError('timeout')) } },
      'upstream_unreachable',
    ],
    ['a denied host', { checkHost: async () => ({ ok: false, reason: 'denied_host' }) }, 'target_blocked'],
    ['a pause', { checkHost: async () => ({ ok: false, reason: 'paused' }) }, 'egress_paused'],
  ])('into %s sends nothing', async (_, change, code) => {
    const { webFetch, sent } = create(change)
    const error = await refusal(() => run(webFetch, { url: URL }))
    expect(error.code).toBe(code)
    expect(sent).toEqual([])
  })

  it('lets no name of the sandbox through in production', async () => {
    const { webFetch } = create()
    const error = await refusal(() => webFetch.plan({ url: 'https://sandbox.agent-gateway.test/' }))
    expect(error.code).toBe('target_blocked')
  })

  it('delivers bytes where the encoding cannot be undone, and says so', async () => {
    const body = Buffer.from('not gzip')
    const headers = [
      { name: 'content-type', value: 'text/html' },
      { name: 'content-encoding', value: 'gzip' },
      { name: 'content-encoding', value: 'late', trailer: true },
    ]
    const { webFetch } = create({}, { ok: true, response: { status: 200, statusText: '', headers, body } })
    const { response } = await run(webFetch, { url: URL })
    expect(response).toMatchObject({
      content_kind: 'base64',
      content: body.toString('base64'),
      content_encoding: 'gzip',
      parse_error: 'content_encoding',
    })
  })
})

// Our own looks at services: when, at what, and what counts as an answer.
import { describe, expect, it } from 'vitest'
import { createProbes } from '../../../src/market/trust/probes.ts'
import type { OutboundRequest, OutboundResponse } from '../../../src/egress/ports.ts'
import { createTestMarket, newListing, START, type TestMarket } from '../../support/market-catalogue.ts'
import { listingDocument, newSeller } from '../../support/market-sellers.ts'

const HOUR = 3_600_000
const [plain] = listingDocument().routes
if (!plain) throw new Error('a document has a route')

function worldOf(answer: (request: OutboundRequest) => Partial<OutboundResponse> | undefined) {
  const market = createTestMarket()
  market.sellers.push(newSeller('acme', { createdAt: START, updatedAt: START }))
  const asked: string[] = []
  const recorded: string[] = []
  const scores: (number | null)[] = []
  const probes = createProbes({
    catalogue: market.catalogue,
    store: { noteChallengeScore: async ({ score }) => void scores.push(score) },
    targets: {
      resolve: async ({ host }) => {
        if (host.startsWith('private')) throw new Error('not public')
        return { ok: true, addresses: ['203.0.113.1'], addressClass: 'public' }
      },
    },
    rules: { ports: [443] },
    sender: {
      async send(request) {
        asked.push(`${request.method} ${request.url.href}`)
        const given = answer(request)
        if (!given) return { ok: false, phase: 'before_send', reason: 'connect_failed' }
        return {
          ok: true,
          response: { status: 200, statusText: '', headers: [], body: Buffer.alloc(0), ...given },
        } as const
      },
      close: async () => {},
    } as Parameters<typeof createProbes>[0]['sender'],
    recorder: { record: ({ serviceId, kind }) => void recorded.push(`${serviceId} ${kind}`) },
    readIntervalMs: async () => HOUR,
    now: market.now,
  })
  const pass = () => probes.pass(new AbortController().signal)
  return { market, asked, recorded, scores, pass }
}
const offer = (market: TestMarket, id: string, over: Parameters<typeof newListing>[2] = {}) =>
  void market.listings.push(newListing('acme', id, over))

describe('our own looks', () => {
  it('come once in an interval to each service that is sold, with neither credential nor payment', async () => {
    const { market, asked, recorded, pass } = worldOf(() => ({ status: 401 }))
    offer(market, 'one', { document: { basePath: '/v2', credentialId: 'cred_1' } })
    offer(market, 'paused', { state: 'paused' })
    offer(market, 'draft', { state: 'draft' })
    expect(await pass()).toBe(1)
    expect(await pass()).toBe(0)
    expect(asked).toEqual(['GET https://api.example.com/v2/'])
    expect(recorded).toEqual(['one up'])
    market.pass(HOUR)
    expect(await pass()).toBe(1)
    expect(asked.at(-1)).toBe('HEAD https://api.example.com/v2/')
  })

  it('ask nothing that might act, and no path with a hole in it', async () => {
    const { market, asked, pass } = worldOf(() => ({}))
    const routes = [{ ...plain, method: 'POST' as const, path: '/orders/{id}/pay' }]
    offer(market, 'orders', { document: { routes } })
    await pass()
    expect(asked).toEqual(['HEAD https://api.example.com/orders/'])
  })

  it.each([
    [200, 'up'],
    [402, 'up'],
    [404, 'up'],
    [500, 'down'],
    [503, 'down'],
  ])('take a %i for %s', async (status, kind) => {
    const { market, recorded, pass } = worldOf(() => ({ status }))
    offer(market, 'one')
    await pass()
    expect(recorded).toEqual([`one ${kind}`])
  })

  it('take a host that is not reached, or has turned private, for down', async () => {
    const { market, asked, recorded, pass } = worldOf(() => undefined)
    offer(market, 'gone')
    offer(market, 'hidden', { document: { origin: 'https://private.example.com' } })
    await pass()
    expect(recorded.toSorted()).toEqual(['gone down', 'hidden down'])
    expect(asked).toHaveLength(1)
  })

  it('are spread: a pass takes its share, and those that waited longest', async () => {
    const { market, asked, pass } = worldOf(() => ({}))
    for (let n = 0; n < 1200; n++) offer(market, `s${n}`)
    expect(await pass()).toBe(20)
    market.pass(60_000)
    expect(await pass()).toBe(20)
    expect(asked).toHaveLength(40)
  })

  it('score the 402 that the seller’s own endpoint gives, once a day', async () => {
    const required = Buffer.from(
      JSON.stringify({
        x402Version: 2,
        resource: { url: 'https://api.example.com/' },
        accepts: [
          {
            scheme: 'exact',
            network: 'eip155:8453',
            amount: '1000',
            asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
            payTo: '0x1111111111111111111111111111111111111111',
            maxTimeoutSeconds: 60,
            extra: { name: 'USD Coin', version: '2' },
          },
        ],
      }),
    ).toString('base64')
    const { market, scores, pass } = worldOf(() => ({
      status: 402,
      headers: [{ name: 'payment-required', value: required }],
    }))
    offer(market, 'one')
    await pass()
    expect(scores).toEqual([expect.any(Number)])
    expect(scores[0]).toBeGreaterThan(0)
    market.pass(HOUR)
    await pass()
    expect(scores).toHaveLength(1)
  })
})

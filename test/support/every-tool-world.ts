// A gateway with something for every tool to act on: an upstream and capabilities on it, permits, sellers and what they sell, payments on
// a chain. What a call uses up is made anew for each call.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { PaymentRequired } from '../../schemas/x402.ts'
import { type ActionsClient, createActionsClient } from './actions.ts'
import { createBuyer } from './buyer.ts'
import { startTestChain, type TestChain, toHeader } from './chain.ts'
import { rss } from './feeds.ts'
import { createWorld, startTestGateway, type TestGateway } from './gateway.ts'
import { routeOf, type SeededMarket, seedMarket, SELLER } from './market-seller.ts'
import { proveHost, registerSeller } from './onboarding.ts'
import { fromHeader } from './rest-buyer.ts'
import { at, type Json } from './tree.ts'
import { decodeJws } from '../../src/receipts/types.ts'

const TREASURY = `0x${0xeefd_0000_0001n.toString(16).padStart(64, '0')}` as const
/** Hosts of sellers, each to be proven once. */
const HOSTS = [
  'api.first-shop.com',
  'api.second-shop.com',
  'api.third-shop.com',
  'api.fourth-shop.com',
  'api.fifth-shop.com',
]

export interface Bought {
  readonly claimId: string
  readonly receiptId: string
  readonly payment: Json
}

export interface EveryToolWorld {
  readonly gw: TestGateway
  readonly chain: TestChain
  readonly market: SeededMarket
  readonly actions: ActionsClient
  readonly credentialId: string
  readonly capability: string
  /** Opens the tools of sellers; its first host is proven, and sells the service `weather`. */
  readonly sellerKey: string
  readonly origin: string
  /** A number that nobody else has, for names. */
  next(): number
  /** An origin that no seller has proven yet. */
  nextOrigin(): string
  /** Signs what a challenge asks for. */
  pay(required: unknown): Promise<Json>
  /** An email key, the same for everybody. */
  emailKey(): Promise<string>
  /** A call of the seeded service that is paid and settled. */
  buy(): Promise<Bought>
  /** REST, and what it answered; throws where that is a refusal. */
  rest(method: string, path: string, body?: unknown, token?: string): Promise<Json>
  close(): Promise<void>
}

const openapi = {
  openapi: '3.0.3',
  info: { title: 'Weather API', description: 'Now' },
  paths: { '/now': { get: { 'x-payment-info': { price: '$0.005', pricingMode: 'fixed' }, responses: {} } } },
}

export async function createEveryToolWorld(): Promise<EveryToolWorld> {
  const chain = await startTestChain(8453)
  const made = await createWorld({ names: HOSTS, nameTtlSeconds: 60, env: chain.env })
  const keyFile = join(made.dataDir, 'treasury.key')
  await writeFile(keyFile, `${TREASURY}\n`, { mode: 0o600 })
  await chain.fund(privateKeyToAccount(TREASURY).address, 1_000_000n)
  const world = {
    ...made,
    env: {
      ...made.env,
      GATEWAY_REFUND_KEY_FILE: keyFile,
      GATEWAY_PAYOUT_KEY_FILE: keyFile,
      GATEWAY_SERVICE_KEY_CREDITS: '1000',
      GATEWAY_FEED_SOURCES: made.url('/feed.xml'),
    },
  }
  world.upstream.respond(({ target }, res) => {
    if (target === '/feed.xml')
      return res
        .writeHead(200, { 'content-type': 'application/rss+xml' })
        .end(rss('<title>News</title><item><title>One</title><guid>1</guid></item>'))
    if (target === '/lost') return res.destroy()
    const isDocument = target === '/openapi.json'
    return res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(isDocument ? JSON.stringify(openapi) : '{"celsius":21.5}')
  })
  world.dns.set('good.example', { MX: [[10, 'mx.good.example']], ttl: 600 })
  world.dns.set('mx.good.example', { A: ['93.184.216.34'], ttl: 600 })
  const gw = await startTestGateway({ world, undocumented: 'fail' })

  const { credentialId, capability } = await gw.grant()
  const actions = await createActionsClient(gw, (path) => gw.url(path))
  const market = seedMarket(gw)
  market.list('echo', { routes: [routeOf({ example: { query: {} } })] })
  market.list('quiet')
  const originOf = (host: string) => `https://${host}:${gw.upstream.port}`
  const [first = '', ...others] = HOSTS.map(originOf)
  const sellerKey = await registerSeller(gw, 'first-shop')
  await proveHost(gw, sellerKey, first)

  async function rest(method: string, path: string, body?: unknown, token?: string): Promise<Json> {
    const answer = await gw.rest(method, path, body, token)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body as Json
  }
  await rest('POST', '/v1/marketplace/seller/services', serviceOf('weather', first), sellerKey)

  let count = 0
  let emailKey: string | undefined
  const pay = createBuyer(chain.payers[0]!)
  return {
    gw,
    chain,
    market,
    actions,
    credentialId,
    capability,
    sellerKey,
    origin: first,
    pay,
    rest,
    next: () => ++count,
    nextOrigin() {
      const origin = others.pop()
      if (origin === undefined) throw new Error('every host is proven')
      return origin
    },
    async emailKey() {
      if (emailKey !== undefined) return emailKey
      const key = (await rest('POST', '/v1/keys/free', {}, ''))['key'] as string
      // What was not found in time is looked for again by the next call, and may be there then: it is known before doors are compared.
      const late = async () => {
        const { reasons } = await rest('POST', '/v1/verify', { email: 'ada@good.example' }, key)
        return (reasons as string[]).filter((reason) => /^dns_(?:failure|timeout)$/.test(reason))
      }
      await expect.poll(late).toEqual([])
      return (emailKey = key)
    },
    async buy() {
      const send = (headers: Record<string, string> = {}) =>
        fetch(`${gw.baseUrl}/p/${SELLER}/echo/`, { headers })
      const challenge = await send()
      const payment = await pay(fromHeader<PaymentRequired>(challenge.headers.get('payment-required')))
      const paid = await send({ 'payment-signature': toHeader(payment) })
      if (!paid.ok) throw new Error(await paid.text())
      const receipt = decodeJws(paid.headers.get('agent-gateway-receipt') ?? '')
      return {
        claimId: paid.headers.get('agent-gateway-claim') ?? '',
        receiptId: at(receipt, 'payload', 'receipt_id') as string,
        payment,
      }
    },
    async close() {
      await gw.close()
      await made.close()
      await chain.close()
    },
  }
}

/** A service with one route that can be tried. */
export const serviceOf = (service_id: string, origin: string): Json => ({
  service_id,
  name: 'Weather now',
  description: 'Temperature at an airport.',
  origin,
  routes: [{ path: '/now', price_atomic: '5000', example: { query: {} } }],
})

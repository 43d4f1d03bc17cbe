// A paid call of a seller's service, against a paid web fetch of the same page: both requests of each (402, then payment, claim,
// request, judgement, settlement, receipt), in turn, by the CPU of the gateway's process; what the buyer signs is not counted. The service
// has schemas for its query and its answer; once without and once with a credential. `node bench/market.ts`
import { join } from 'node:path'
import { Client } from 'undici'
import type { PaymentRequired } from '../schemas/x402.ts'
import { signPayment, startTestChain, toHeader } from '../test/support/chain.ts'
import { createClient } from '../test/support/gateway.ts'
import { routeOf, seedMarket, SELLER } from '../test/support/market-seller.ts'
import { newToken } from '../src/lib/tokens.ts'
import { cpuSeconds, createServers, median, printTable, START_FLAGS } from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'

const HOST = 'api.example.com'
const ROUNDS = 9
const CALLS = 80
const WARM_UP = 200
const TARGET = 1.2

const behind = await prepareTlsUpstream(HOST)
const { directory, caFile, dns } = behind
const chain = await startTestChain(8453)
const servers = createServers()
let buyer: Client | undefined

try {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const { port } = new URL(upstream.url)
  const operatorKey = newToken('sk')
  const env = {
    ...chain.env,
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'data'),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
    GATEWAY_OPERATOR_KEY: operatorKey,
    GATEWAY_DNS_SERVERS: dns.address,
    GATEWAY_EGRESS_PORTS: port,
    NODE_EXTRA_CA_CERTS: caFile,
  }
  const gateway = await servers.start('../test/support/loopback-gateway.ts', env, START_FLAGS)
  const origin = `https://${HOST}:${port}`
  const market = seedMarket({ env, url: () => origin })
  const { credentialId } = await createClient(gateway.url, { operatorKey }).grant()
  const routes = [
    routeOf({
      path: '/items',
      inputSchema: {
        type: 'object',
        properties: { limit: { type: 'integer', minimum: 1, maximum: 30, default: 10 } },
        additionalProperties: false,
      },
      outputSchema: { type: 'object' },
    }),
  ]
  market.list('open', { basePath: '/v1', routes })
  market.list('keyed', { basePath: '/v1', routes, credentialId })

  const client = new Client(gateway.url, { pipelining: 1 })
  buyer = client
  const json = { 'content-type': 'application/json' }
  const page = JSON.stringify({ url: `${origin}/v1/items?limit=5` })
  const cases = {
    'paid web fetch': { path: '/v1/tools/web.fetch', method: 'POST', body: page, headers: json },
    'market call': { path: `/p/${SELLER}/open/items?limit=5`, method: 'GET', body: undefined, headers: {} },
    'market call, with a credential': {
      path: `/p/${SELLER}/keyed/items?limit=5`,
      method: 'GET',
      body: undefined,
      headers: {},
    },
  } as const
  type Case = (typeof cases)[keyof typeof cases]

  async function send({ path, method, body, headers }: Case, more: Record<string, string> = {}) {
    const answer = await client.request({
      path,
      method,
      body: body ?? null,
      headers: { ...headers, ...more },
    })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }
  async function buyOnce(one: Case): Promise<void> {
    const asked = await send(one)
    const header = String(asked.headers['payment-required'] ?? '')
    if (header === '') throw new Error(`${asked.status} ${asked.text}`)
    const { accepts, resource, extensions } = JSON.parse(
      Buffer.from(header, 'base64').toString(),
    ) as PaymentRequired
    const payment = await signPayment({
      account: chain.payers[0]!,
      requirements: accepts[0]!,
      resource,
      ...(extensions && { extensions }),
    })
    const bought = await send(one, { 'payment-signature': toHeader(payment) })
    if (bought.status !== 200) throw new Error(`${bought.status} ${bought.text}`)
  }
  async function round(one: Case, calls: number): Promise<number> {
    const before = cpuSeconds(gateway.pid)
    for (let i = 0; i < calls; i++) await buyOnce(one)
    return ((cpuSeconds(gateway.pid) - before) * 1e3) / calls
  }

  const results = new Map<string, number[]>()
  for (const [name, one] of Object.entries(cases)) {
    await round(one, WARM_UP)
    results.set(name, [])
  }
  for (let i = 0; i < ROUNDS; i++)
    for (const [name, one] of Object.entries(cases)) results.get(name)!.push(await round(one, CALLS))

  const floor = median(results.get('paid web fetch')!)
  printTable(
    `${ROUNDS} rounds of ${CALLS} purchases each, one at a time (target: at most ${TARGET.toFixed(1)}x a paid web fetch)`,
    ['', 'CPU ms a purchase', 'least', 'most', 'against a paid web fetch'],
    [...results].map(([name, rounds]) => [
      name,
      median(rounds).toFixed(2),
      Math.min(...rounds).toFixed(2),
      Math.max(...rounds).toFixed(2),
      `${(median(rounds) / floor).toFixed(2)}x`,
    ]),
  )
} finally {
  await buyer?.destroy()
  await servers.stop()
  await chain.close()
  await behind.close()
}

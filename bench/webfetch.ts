// A paid web fetch from the first request to the answer (402, then payment, claim, fetch, settlement, receipt; the buyer's
// signing not counted), against what it cannot do without: one settlement on the same chain and one fetch of the same page
// over a kept connection. Settled are equal payments: by the protocol's own facilitator and by our in-process one, both
// without any record of it, and by this gateway's POST /settle, which keeps one as the paid call does. The chain mines at
// once. `node bench/webfetch.ts`
import { join } from 'node:path'
import { Client } from 'undici'
import type { PaymentRequired, PaymentRequirements } from '../schemas/x402.ts'
import { noFault } from '../src/lib/fault-points.ts'
import { createLocalUpstream } from '../src/payments/adapters/local-upstream.ts'
import { decodePayment } from '../src/payments/wire.ts'
import { Secret } from '../src/lib/secret.ts'
import { requirementsOf, signPayment, startTestChain, toHeader } from '../test/support/chain.ts'
import { createReferenceSettler } from './peers/settle-sdk.ts'
import { createServers, percentile, printTable, START_FLAGS } from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'

const HOST = 'api.example.com'
const CHAIN_ID = 8453
const WARM_UP = 150
const SAMPLES = 300
const TARGET = 1.3
const PATH = '/v1/tools/web.fetch'

const behind = await prepareTlsUpstream(HOST)
const { directory, caFile, dns } = behind
const chain = await startTestChain(CHAIN_ID)
const servers = createServers()
// Another account than the gateway's, so that neither waits for the other's transactions.
const settler = createLocalUpstream({
  chains: [{ network: chain.network, rpcUrl: async () => chain.rpcUrl }],
  settlerKeys: async () => [new Secret<string>(chain.settlerKeys[1]!)],
  fault: noFault,
  now: Date.now,
})
const settleByReference = createReferenceSettler({
  chainId: CHAIN_ID,
  rpcUrl: chain.rpcUrl,
  settlerKey: chain.settlerKeys[2]!,
})
const clients: Client[] = []

try {
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const port = new URL(upstream.url).port
  const gateway = await servers.start(
    '../test/support/loopback-gateway.ts',
    {
      ...chain.env,
      PORT: '0',
      GATEWAY_DATA_DIR: join(directory, 'data'),
      GATEWAY_LOG_LEVEL: 'error',
      GATEWAY_RATE_LIMIT: '0',
      GATEWAY_SETTLE_FREE_ALLOWANCE: '1000000',
      GATEWAY_DNS_SERVERS: dns.address,
      GATEWAY_EGRESS_PORTS: port,
      NODE_EXTRA_CA_CERTS: caFile,
    },
    START_FLAGS,
  )
  const buyer = open(gateway.url)
  const direct = open(upstream.url)
  const page = { url: `https://${HOST}:${port}/v1/items` }
  const json = { 'content-type': 'application/json' }
  const sign = (requirements: PaymentRequirements) =>
    signPayment({ account: chain.payers[0]!, requirements, resource: { url: gateway.url + PATH } })

  async function referenceOnce(): Promise<number> {
    const requirements = requirementsOf(chain)
    const payment = await sign(requirements)
    return (await timed(() => settleByReference(payment, requirements))).ms
  }
  async function settleOnce(): Promise<number> {
    const requirements = requirementsOf(chain)
    const presented = { form: 'object' as const, value: new Secret<unknown>(await sign(requirements)) }
    const payment = decodePayment(presented)
    const result = await timed(() => settler.settle({ payment, requirements, deadlineMs: 10_000 }))
    if (result.value.state !== 'settled') throw new Error(`settle: ${JSON.stringify(result.value)}`)
    return result.ms
  }
  async function settleKeptOnce(): Promise<number> {
    const paymentRequirements = requirementsOf(chain)
    const paymentPayload = await sign(paymentRequirements)
    const { ms, value } = await timed(() =>
      post('/settle', { x402Version: 2, paymentPayload, paymentRequirements }),
    )
    if (value.status !== 200) throw new Error(`${value.status} ${value.text}`)
    return ms
  }
  async function fetchOnce(): Promise<number> {
    const { ms } = await timed(async () => {
      const answer = await direct.request({ path: '/v1/items', method: 'GET', headers: { host: HOST } })
      await answer.body.text()
    })
    return ms
  }
  async function post(path: string, body: object, headers: Record<string, string> = {}) {
    const answer = await buyer.request({
      path,
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }
  async function buyOnce(): Promise<{ challenge: number; paid: number }> {
    const asked = await timed(() => post(PATH, page))
    const header = String(asked.value.headers['payment-required'] ?? '')
    if (header === '') throw new Error(`${asked.value.status} ${asked.value.text}`)
    const required = JSON.parse(Buffer.from(header, 'base64').toString()) as PaymentRequired
    const signature = toHeader(await sign(required.accepts[0]!))
    const bought = await timed(() => post(PATH, page, { 'payment-signature': signature }))
    if (bought.value.status !== 200) throw new Error(`${bought.value.status} ${bought.value.text}`)
    return { challenge: asked.ms, paid: bought.ms }
  }

  const reference: number[] = []
  const settled: number[] = []
  const kept: number[] = []
  const fetched: number[] = []
  const challenged: number[] = []
  const paid: number[] = []
  const total: number[] = []
  for (let i = -WARM_UP; i < SAMPLES; i++) {
    const referenceMs = await referenceOnce()
    const settleMs = await settleOnce()
    const keptMs = await settleKeptOnce()
    const fetchMs = await fetchOnce()
    const bought = await buyOnce()
    if (i < 0) continue
    reference.push(referenceMs)
    settled.push(settleMs)
    kept.push(keptMs)
    fetched.push(fetchMs)
    challenged.push(bought.challenge)
    paid.push(bought.paid)
    total.push(bought.challenge + bought.paid)
  }

  const p = (samples: number[], share: number) =>
    percentile(
      samples.toSorted((a, b) => a - b),
      share,
    )
  const [whole, page50] = [p(total, 0.5), p(fetched, 0.5)]
  printTable(
    `${SAMPLES} of each in turn, one at a time (target: at most ${TARGET.toFixed(2)}x settlement and fetch at p50)`,
    ['', 'p50 ms', 'p90 ms', 'p99 ms'],
    Object.entries({
      'settlement by @x402/evm': reference,
      'settlement by our settler': settled,
      'settlement by our POST /settle': kept,
      'fetch of the page': fetched,
      '402 with quote': challenged,
      'paid request': paid,
      'paid web fetch, both requests': total,
    }).map(([name, samples]) => [name, ...[0.5, 0.9, 0.99].map((share) => p(samples, share).toFixed(2))]),
  )
  const against = (samples: number[]) => (whole / (p(samples, 0.5) + page50)).toFixed(2)
  console.log(
    `\npaid web fetch at p50: ${against(reference)}x settlement by @x402/evm and fetch, ${against(kept)}x settlement by our ` +
      `POST /settle and fetch, ${against(settled)}x settlement by our settler alone and fetch`,
  )
} finally {
  await Promise.all(clients.map((client) => client.destroy()))
  await servers.stop()
  await settler.close()
  await chain.close()
  await behind.close()
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const started = performance.now()
  const value = await work()
  return { value, ms: performance.now() - started }
}

function open(url: string): Client {
  const client = new Client(url, { pipelining: 1, connect: { ca: behind.ca.pem, servername: HOST } })
  clients.push(client)
  return client
}

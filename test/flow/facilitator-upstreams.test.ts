// Facilitators that others wrote, behind ours: a payment goes through their code and their signer, and is answered by ours.
import { createFacilitatorHandler } from '@faremeter/payment-evm/exact'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requirementsOf, signPayment, startTestChain, type TestChain } from '../support/chain.ts'
import { type FacilitatorServer, reply, startFacilitator } from '../support/facilitator-server.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { exactKind } from '../support/payment-fakes.ts'
import { createReferenceFacilitator } from '../support/reference-facilitator.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'
const NETWORK = 'eip155:84532'

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(84532)))
afterAll(() => chain.close())

/** @x402/core and @x402/evm. */
async function startReference(): Promise<FacilitatorServer> {
  const reference = createReferenceFacilitator({
    chainId: 84532,
    rpcUrl: chain.rpcUrl,
    settlerKey: chain.settlerKeys[0]!,
  })
  return startFacilitator({
    kinds: reference.supported().kinds,
    onVerify: async (call, res) => {
      const { paymentPayload, paymentRequirements } = call.body
      return reply(await reference.verify(paymentPayload, paymentRequirements))(call, res)
    },
    onSettle: async (call, res) => {
      const { paymentPayload, paymentRequirements } = call.body
      return reply(await reference.settle(paymentPayload, paymentRequirements))(call, res)
    },
  })
}

/** @faremeter/payment-evm, another implementation altogether. */
async function startFaremeter(): Promise<FacilitatorServer> {
  const handler = await createFacilitatorHandler(
    { id: 84532, name: 'test', rpcUrls: { default: { http: [chain.rpcUrl] } } },
    chain.settlerKeys[1]!,
    'USDC',
  )
  return startFacilitator({
    kinds: [exactKind(NETWORK)],
    onVerify: async (call, res) => {
      const { paymentPayload, paymentRequirements } = call.body
      return reply(await handler.handleVerify!(paymentRequirements, paymentPayload))(call, res)
    },
    onSettle: async (call, res) => {
      const { paymentPayload, paymentRequirements } = call.body
      return reply(await handler.handleSettle(paymentRequirements, paymentPayload))(call, res)
    },
  })
}

describe.each([
  ['the reference implementation', startReference],
  ['Faremeter', startFaremeter],
])('through %s', (_name, startUpstream) => {
  let upstream: FacilitatorServer
  let gateway: TestGateway
  beforeAll(async () => {
    upstream = await startUpstream()
    gateway = await startTestGateway({
      env: {
        GATEWAY_RPC_84532: chain.rpcUrl,
        GATEWAY_RPC_8453: 'http://127.0.0.1:1',
        GATEWAY_PAY_TO: chain.payTo,
        GATEWAY_FACILITATORS: upstream.url,
      },
    })
  })
  afterAll(async () => {
    await gateway?.close()
    await upstream?.close()
  })
  const makeBody = async (payer: number) => {
    const requirements = { ...requirementsOf(chain, '1000'), payTo: SELLER }
    const paymentPayload = await signPayment({ account: chain.payers[payer]!, requirements })
    return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
  }
  const post = (path: string, body: unknown) => gateway.rest('POST', path, body, '')

  it('its kinds are ours', async () => {
    const { kinds } = (await gateway.rest('GET', '/supported', undefined, '')).body
    expect(kinds).toContainEqual(expect.objectContaining(exactKind(NETWORK)))
    const { body } = await gateway.rest('GET', `/v1/facilitator/route?network=${NETWORK}`, undefined, '')
    expect(body.recommended).toMatchObject({ upstream: upstream.host, url: upstream.url })
  })

  it('a payment settles once, in its name', async () => {
    const body = await makeBody(0)
    expect((await post('/verify', body)).status).toBe(200)
    const before = await chain.transfersTo(SELLER)
    const { status, body: answer } = await post('/settle', body)
    expect([status, answer.detail]).toEqual([200, undefined])
    expect((await post('/settle', body)).body.code).toBe('settlement_replayed')
    expect((await chain.transfersTo(SELLER)) - before).toBe(1)
    const receipt = (await gateway.rest('GET', `/v1/receipts/${answer.extra.receipt_id}`, undefined, '')).body
    expect(receipt.claims).toMatchObject({ upstream: upstream.host, transaction: answer.transaction })
  })

  it('eight copies of a payment reach it once', async () => {
    upstream.calls.splice(0)
    const body = await makeBody(1)
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('/settle', body)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(400)])
    expect(upstream.to('/settle')).toHaveLength(1)
  })
})

describe('at addresses with a key in the path', () => {
  let upstream: FacilitatorServer
  let gateway: TestGateway
  beforeAll(async () => {
    upstream = await startFacilitator({ kinds: [exactKind(NETWORK)] })
    gateway = await startTestGateway({
      env: {
        GATEWAY_RPC_84532: chain.rpcUrl,
        GATEWAY_RPC_8453: 'http://127.0.0.1:1',
        GATEWAY_PAY_TO: chain.payTo,
        GATEWAY_FACILITATORS: `${upstream.url}/key-of-one/x402,${upstream.url}/key-of-two`,
      },
    })
  })
  afterAll(async () => {
    await gateway?.close()
    await upstream?.close()
  })

  it('both are asked, and nobody is shown the key of either', async () => {
    const read = async (path: string) => (await gateway.rest('GET', path, undefined, '')).text
    const route = await read(`/v1/facilitator/route?network=${NETWORK}`)
    expect(upstream.calls.map(({ path }) => path).toSorted()).toEqual([
      '/key-of-one/x402/supported',
      '/key-of-two/supported',
    ])
    const names = [upstream.host, `${upstream.host}#2`]
    const { recommended, alternatives } = JSON.parse(route)
    const all = [recommended, ...alternatives]
    expect(all.map((one) => one.upstream).toSorted()).toEqual(names)
    expect(all.map((one) => one.url)).toEqual([upstream.url, upstream.url])
    const identity = await read('/facilitator')
    expect(JSON.parse(identity).upstreams.map(({ id }: { id: string }) => id)).toEqual(names)
    const shown = [route, identity, await read('/healthz'), await read('/readyz'), await read('/status')]
    expect(shown.join('\n')).not.toContain('key-of')
  })
})

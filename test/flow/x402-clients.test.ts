// Stock clients, as their own documentation says to use them, pay without any override: for v2 on both networks, and for
// v1 when the header of v2 does not reach them.
import { createPaymentHandler } from '@faremeter/payment-evm/exact'
import { wrap as wrapFaremeter } from '@faremeter/fetch'
import { wrapAxiosWithPayment, x402Client as axiosClient } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/v1'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier'
import axios from 'axios'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { unguessableIdentifier } from '../support/identifiers.ts'
import { createPaidTools, PAID, PRICE, TESTNET } from '../support/paid-tools.ts'

const NAMES: Readonly<Record<number, string>> = { 8453: 'Base', 84532: 'Base Sepolia' }

describe.each([8453, 84532])('stock clients on chain %i', (chainId) => {
  let chain: TestChain
  let gw: TestGateway
  const paid = createPaidTools('eip155:8453')
  const path = chainId === 8453 ? PAID : TESTNET

  beforeAll(async () => {
    chain = await startTestChain(chainId)
    gw = await startTestGateway({ env: chain.env, tools: paid.tools })
  })
  afterAll(async () => {
    await gw?.close()
    await chain?.close()
  })

  /** Exactly one payment of the price, for exactly one run, settled on this chain. */
  async function expectOnePayment(
    payer: string,
    action: () => Promise<{ body: unknown; settlement: string | null }>,
  ) {
    const [from, to, runs] = [await chain.usdcOf(payer), await chain.usdcOf(chain.payTo), paid.runs.length]
    const { body, settlement } = await action()
    expect(body).toMatchObject({ text: 'hello', receipt: { receipt_id: expect.stringMatching(/^rcp_/) } })
    expect(paid.runs.length).toBe(runs + 1)
    expect(await chain.usdcOf(payer)).toBe(from - PRICE)
    expect(await chain.usdcOf(chain.payTo)).toBe(to + PRICE)
    expect(decodePaymentResponseHeader(settlement!)).toMatchObject({
      success: true,
      network: `eip155:${chainId}`,
      payer: payer.toLowerCase(),
    })
  }

  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'hello' }),
  }
  const answerOf = async (response: Response, name = 'payment-response') => {
    expect(response.status).toBe(200)
    return { body: await response.json(), settlement: response.headers.get(name) }
  }

  it('@x402/fetch', async () => {
    const account = chain.payers[0]!
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
    const pay = wrapFetchWithPayment(fetch, client)
    await expectOnePayment(account.address, async () => answerOf(await pay(gw.baseUrl + path, init)))
  })

  it('@x402/fetch with a payment identifier: the same bytes for a second payment, charged once', async () => {
    const account = chain.payers[1]!
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
    const id = unguessableIdentifier(generatePaymentId)
    client.registerExtension({
      key: 'payment-identifier',
      enrichPaymentPayload: async (payload) => {
        const extensions = structuredClone(payload.extensions ?? {})
        appendPaymentIdentifierToExtensions(extensions, id)
        return { ...payload, extensions }
      },
    })
    const pay = wrapFetchWithPayment(fetch, client)
    const texts: string[] = []
    await expectOnePayment(account.address, async () => {
      const responses = [await pay(gw.baseUrl + path, init), await pay(gw.baseUrl + path, init)]
      for (const response of responses) texts.push(await response.clone().text())
      return answerOf(responses[1]!)
    })
    expect(texts[1]).toBe(texts[0])
  })

  it('@x402/axios', async () => {
    const account = chain.payers[2]!
    const client = new axiosClient().register('eip155:*', new ExactEvmScheme(account))
    const api = wrapAxiosWithPayment(axios.create({ adapter: 'http' }), client)
    await expectOnePayment(account.address, async () => {
      const { data, headers } = await api.post(gw.baseUrl + path, { text: 'hello' })
      return { body: data, settlement: headers['payment-response'] as string }
    })
  })

  it('@faremeter/fetch', async () => {
    const account = chain.payers[3]!
    const wallet = {
      chain: { id: chainId, name: NAMES[chainId]! },
      address: account.address,
      account: { signTypedData: (data: never) => account.signTypedData(data) },
    }
    const pay = wrapFaremeter(fetch, { handlers: [createPaymentHandler(wallet as never)] })
    await expectOnePayment(account.address, async () => answerOf(await pay(gw.baseUrl + path, init)))
  })

  it('@x402/fetch of v1, when only the body reaches it', async () => {
    const account = chain.payers[4]!
    const name = chainId === 8453 ? 'base' : 'base-sepolia'
    const client = new x402Client().registerV1(name, new ExactEvmSchemeV1(account))
    const sent: string[] = []
    const withoutV2: typeof fetch = async (input, options) => {
      const request = new Request(input, options)
      sent.push([...request.headers.keys()].filter((key) => /payment/.test(key)).join())
      const response = await fetch(request)
      const headers = new Headers(response.headers)
      headers.delete('payment-required')
      headers.delete('payment-response')
      return new Response(await response.arrayBuffer(), { status: response.status, headers })
    }
    // Of v1, the wrapper's bookkeeping after the answer knows nothing: it is the answer that counts.
    const answers: Response[] = []
    const pay = wrapFetchWithPayment(async (input, options) => {
      const response = await withoutV2(input, options)
      answers.push(response.clone())
      return response
    }, client)
    await expectOnePayment(account.address, async () => {
      await pay(gw.baseUrl + path, init).catch(() => undefined)
      return answerOf(answers.at(-1)!, 'x-payment-response')
    })
    expect(sent).toEqual(['', 'x-payment'])
  })

  it('do not pay when the call would fail anyway', async () => {
    const account = chain.payers[5]!
    const before = await chain.usdcOf(account.address)
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
    const pay = wrapFetchWithPayment(fetch, client)
    expect((await pay(gw.baseUrl + path, { ...init, body: '{"text":1}' })).status).toBe(400)
    paid.before = () => Promise.reject(new Error('the handler broke'))
    expect((await pay(gw.baseUrl + path, init)).status).toBe(500)
    paid.before = undefined
    expect(await chain.usdcOf(account.address)).toBe(before)
  })
})

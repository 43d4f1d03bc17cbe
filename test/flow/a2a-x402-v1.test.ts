// A buyer of a2a-x402 v0.1 on a real chain: the official A2A client of 0.3, and a wallet that does what those of the extension do.
// It signs the first of `accepts`, knows networks by their names of v1, and sends times as numbers.
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk-0.3/client'
import { randomBytes } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const V01 = 'https://github.com/google-a2a/a2a-x402/v0.1'
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

let chain: TestChain
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(84532)
  gw = await startTestGateway({ env: chain.env })
  gw.upstream.respond(
    (_request, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end('page'),
  )
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

interface Requirement {
  readonly scheme: string
  readonly network: string
  readonly maxAmountRequired: string
  readonly asset: `0x${string}`
  readonly payTo: `0x${string}`
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string }
}

async function pay({ accepts }: { accepts: readonly Requirement[] }, wallet: PrivateKeyAccount) {
  const [first] = accepts
  if (!first) throw new Error('nothing is accepted')
  const { scheme, network, payTo, maxAmountRequired, asset, extra } = first
  const chainId = { base: 8453, 'base-sepolia': 84532 }[network]
  if (chainId === undefined) throw new Error(`unsupported network ${network}`)
  const validBefore = Math.floor(Date.now() / 1000) + first.maxTimeoutSeconds
  const nonce = `0x${randomBytes(32).toString('hex')}` as const
  const times = { validAfter: 0, validBefore }
  const authorization = { from: wallet.address, to: payTo, value: maxAmountRequired, ...times, nonce }
  const signature = await wallet.signTypedData({
    domain: { ...extra, chainId, verifyingContract: asset },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(maxAmountRequired),
      validAfter: 0n,
      validBefore: BigInt(validBefore),
    },
  })
  return { x402Version: 1, scheme, network, payload: { signature, authorization } }
}

it('buys with v1 objects alone, and pays once', async () => {
  const asked: (string | null)[] = []
  const activating: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('X-A2A-Extensions', V01)
    const response = await fetch(input, { ...init, headers })
    asked.push(response.headers.get('x-a2a-extensions'))
    return response
  }
  const transports = [new JsonRpcTransportFactory({ fetchImpl: activating })]
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports })
  const client = await new ClientFactory(options).createFromUrl(gw.baseUrl)
  const data = { skill: 'web-fetch', input: { url: gw.url('/page'), testnet: true } }
  const task = await client.sendMessage({
    message: { kind: 'message', messageId: 'one', role: 'user', parts: [{ kind: 'data', data }] },
  })
  if (task.kind !== 'task') throw new Error('no task')
  expect(task.status.state).toBe('input-required')
  const required = task.status.message!.metadata!['x402.payment.required'] as { accepts: Requirement[] }
  expect(required).toMatchObject({ x402Version: 1, accepts: [{ network: 'base-sepolia' }] })

  const wallet = chain.payers[0]!
  const before = await chain.usdcOf(wallet.address)
  const paid = await client.sendMessage({
    message: {
      kind: 'message',
      messageId: 'two',
      role: 'user',
      taskId: task.id,
      contextId: task.contextId,
      parts: [{ kind: 'text', text: 'Payment authorization provided' }],
      metadata: {
        'x402.payment.status': 'payment-submitted',
        'x402.payment.payload': await pay(required, wallet),
      },
    },
  })
  if (paid.kind !== 'task') throw new Error('no task')
  expect(paid.status, JSON.stringify(paid.status)).toMatchObject({ state: 'completed' })
  expect(paid.status.message!.metadata!['x402.payment.receipts']).toEqual([
    {
      success: true,
      network: 'base-sepolia',
      payer: wallet.address.toLowerCase(),
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    },
  ])
  expect(paid.artifacts).toHaveLength(1)
  expect(await chain.usdcOf(wallet.address)).toBe(before - 1000n)
  expect(asked).toEqual([V01, V01])
})

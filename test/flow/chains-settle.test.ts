// The in-process facilitator against a real node: what it says of a settlement is what happened on the chain.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noFault } from '../../src/fault.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import type { Chain, Payment, Upstream } from '../../src/payments/ports.ts'
import { Secret } from '../../src/secret.ts'
import {
  type ExactPayload,
  requirementsOf,
  signPayment,
  type SignOptions,
  startTestChain,
  type TestChain,
} from '../support/chain.ts'
import { startRpcProxy, type RpcProxy } from '../support/rpc-proxy.ts'

let chain: TestChain
let port: Chain
let proxy: RpcProxy
beforeAll(async () => {
  chain = await startTestChain(84532)
  proxy = await startRpcProxy(chain.rpcUrl)
  port = createChain({ network: chain.network, rpcUrl: async () => chain.rpcUrl, now: Date.now })
})
afterAll(async () => {
  await port.close()
  await proxy.close()
  await chain.close()
})

const opened: Upstream[] = []
afterEach(async () => {
  proxy.reset()
  await Promise.all(opened.splice(0).map((upstream) => upstream.close()))
})

function open(options: { keys?: number; fault?: typeof noFault; rpcUrl?: string; now?: () => number } = {}) {
  const upstream = createLocalUpstream({
    chains: [{ network: chain.network, rpcUrl: async () => options.rpcUrl ?? proxy.url }],
    settlerKeys: async () =>
      chain.settlerKeys.slice(0, options.keys ?? 1).map((key) => new Secret<string>(key)),
    fault: options.fault ?? noFault,
    now: options.now ?? Date.now,
  })
  opened.push(upstream)
  return upstream
}

async function pay(payer: number, overrides: SignOptions['overrides'] = {}) {
  const account = chain.payers[payer]!
  const requirements = requirementsOf(chain)
  const payload = await signPayment({ account, requirements, overrides })
  const { authorization: a, signature } = payload.payload as unknown as ExactPayload
  const authorization = {
    from: a.from.toLowerCase(),
    to: a.to.toLowerCase(),
    value: BigInt(a.value),
    validAfter: BigInt(a.validAfter),
    validBefore: BigInt(a.validBefore),
    nonce: a.nonce,
  }
  const payment: Payment = {
    x402Version: 2,
    scheme: 'exact',
    network: chain.network.network,
    accepted: payload.accepted,
    resourceUrl: null,
    extensions: {},
    kind: { type: 'eip3009', authorization, signature: new Secret<string>(signature) },
    payer: authorization.from,
    nonce: authorization.nonce,
    validBefore: Number(authorization.validBefore) * 1000,
    wire: new Secret(payload),
  }
  const { from, to, value, nonce } = authorization
  return {
    account,
    payload,
    request: { payment, requirements, deadlineMs: 10_000 },
    question: { from, to, value, nonce, since: Date.now() },
  }
}

const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/)

describe('supported', () => {
  it('offers both versions on a chain that answers, with its accounts', async () => {
    const supported = await open({ keys: 2 }).supported(3000)
    expect(supported.kinds).toEqual([
      { x402Version: 2, scheme: 'exact', network: 'eip155:84532' },
      { x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
    ])
    expect(supported.signers['eip155:*']).toHaveLength(2)
  })

  it('offers nothing where nobody answers, or the wrong chain does', async () => {
    proxy.on('eth_chainId', () => ({ result: '0x2105' }))
    await expect(open().supported(3000)).rejects.toThrow('no chain answers')
    await expect(open({ rpcUrl: 'http://127.0.0.1:1' }).supported(3000)).rejects.toThrow('no chain answers')
  })
})

describe('settle', () => {
  it('moves the money once and names the transaction', async () => {
    const { request, question } = await pay(0)
    const before = await chain.usdcOf(chain.payTo)
    const settled = await open().settle(request)
    expect(settled).toEqual({ state: 'settled', transaction: hash })
    expect((await chain.usdcOf(chain.payTo)) - before).toBe(1000n)
    expect(await port.fateOf(question)).toMatchObject({
      state: 'used',
      transferred: true,
      transaction: (settled as { transaction: string }).transaction,
    })
  })

  it('settles 20 distinct payments at once from one account', async () => {
    const payments = await Promise.all(Array.from({ length: 20 }, (_, i) => pay(i % 5)))
    const before = await chain.transfersTo(chain.payTo)
    const upstream = open()
    const settled = await Promise.all(payments.map(({ request }) => upstream.settle(request)))
    expect(settled.map(({ state }) => state)).toEqual(payments.map(() => 'settled'))
    expect(new Set(settled.map((entry) => 'transaction' in entry && entry.transaction)).size).toBe(20)
    expect(await chain.transfersTo(chain.payTo)).toBe(before + 20)
  })

  it('spreads settlements over its accounts', async () => {
    const payments = await Promise.all(Array.from({ length: 9 }, () => pay(1)))
    const upstream = open({ keys: 3 })
    await Promise.all(payments.map(({ request }) => upstream.settle(request)))
    const fates = await Promise.all(payments.map(({ question }) => port.fateOf(question)))
    const senders = fates.map((fate) => fate.state === 'used' && fate.submittedBy)
    expect(new Set(senders).size).toBe(3)
  })
})

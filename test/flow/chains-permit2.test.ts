// Permit2 payments through the reference implementation, over our connection. The contract that moves the money is a
// stand-in at the canonical address: it takes the arguments of `settle` and transfers what the payer allowed it.
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { PaymentPayloadV2 } from '../../schemas/x402.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import type { Payment, Permit2Authorization, Upstream } from '../../src/payments/ports.ts'
import { Secret } from '../../src/lib/secret.ts'
import { requirementsOf, startTestChain, type TestChain } from '../support/chain.ts'
import { type ChainProxy, startChainProxy } from '../support/chain-proxy.ts'

const PROXY = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
// mstore(0, transferFrom); mstore(4, owner); mstore(36, to); mstore(68, amount); call(token) or revert
const MOVES =
  '0x6323b872dd60e01b60005260843560045260a435602452602435604452602060006064600060006004355af160345760006000fd5b00'
const MOVES_NOTHING = '0x00'

let chain: TestChain
let node: ChainProxy
let upstream: Upstream
beforeAll(async () => {
  chain = await startTestChain(84532)
  node = await startChainProxy(chain.rpcUrl)
  await chain.rpc('anvil_setCode', [PERMIT2, '0x00'])
  upstream = createLocalUpstream({
    chains: [{ network: chain.network, rpcUrl: async () => node.url }],
    settlerKeys: async () => [new Secret<string>(chain.settlerKeys[0]!)],
    fault: noFault,
    now: Date.now,
  })
})
afterEach(() => node.reset())
afterAll(async () => {
  await upstream.close()
  await node.close()
  await chain.close()
})

async function pay(payer: number, change: (payload: Record<string, unknown>) => void = () => {}) {
  const account = chain.payers[payer]!
  const requirements = requirementsOf(chain)
  requirements.extra = { ...requirements.extra, assetTransferMethod: 'permit2' }
  const { payload } = await new ExactEvmScheme(account).createPaymentPayload(2, requirements as never)
  change(payload)
  const wire: PaymentPayloadV2 = { x402Version: 2, accepted: requirements, payload }
  const payment: Payment = {
    x402Version: 2,
    scheme: 'exact',
    network: chain.network.network,
    accepted: requirements,
    resourceUrl: null,
    extensions: {},
    kind: { type: 'permit2', permit2: readPermit2(payload) },
    payer: account.address.toLowerCase(),
    nonce: '1',
    validBefore: null,
    presented: new Secret(wire),
    wire: new Secret(wire),
  }
  return { account, request: { payment, requirements, deadlineMs: 10_000 } }
}

function readPermit2(payload: Record<string, unknown>): Permit2Authorization {
  const { permit2Authorization: p } = payload as unknown as {
    permit2Authorization: {
      from: string
      spender: string
      nonce: string
      deadline: string
      permitted: { token: string; amount: string }
      witness: { to: string; validAfter: string }
    }
  }
  return {
    from: p.from.toLowerCase(),
    spender: p.spender.toLowerCase(),
    nonce: BigInt(p.nonce),
    deadline: BigInt(p.deadline),
    token: p.permitted.token.toLowerCase(),
    amount: BigInt(p.permitted.amount),
    to: p.witness.to.toLowerCase(),
    validAfter: BigInt(p.witness.validAfter),
  }
}

/** The payer allows somebody to take its money. */
const approve = (payer: string, spender: string) =>
  chain.submitAs(payer, {
    to: chain.network.asset.address,
    data: `0x095ea7b3${spender.slice(2).toLowerCase().padStart(64, '0')}${'f'.repeat(64)}`,
  })

const sent = () => node.seen.filter((method) => method === 'eth_sendRawTransaction').length

describe('a Permit2 payment', () => {
  it('is verified, sent once and settled', async () => {
    await chain.rpc('anvil_setCode', [PROXY, MOVES])
    const { account, request } = await pay(0)
    await approve(account.address, PROXY)
    expect(await upstream.verify(request)).toEqual({ ok: true, payer: account.address })
    const before = await chain.usdcOf(chain.payTo)
    expect(await upstream.settle(request)).toMatchObject({ state: 'settled' })
    expect((await chain.usdcOf(chain.payTo)) - before).toBe(1000n)
    expect(sent()).toBe(1)
  })

  it('is not settled by a transaction that moves nothing', async () => {
    await chain.rpc('anvil_setCode', [PROXY, MOVES_NOTHING])
    const { request } = await pay(1)
    expect(await upstream.settle(request)).toEqual({
      state: 'failed',
      reason: 'invalid_exact_evm_transfer_event_mismatch',
    })
  })

  it('with another signature is refused before anything is sent', async () => {
    await chain.rpc('anvil_setCode', [PROXY, MOVES])
    const other = await pay(3)
    const signature = other.request.payment.wire.use(
      (wire) => (wire.payload as { signature: string }).signature,
    )
    const { request } = await pay(2, (payload) => void (payload['signature'] = signature))
    expect(await upstream.verify(request)).toMatchObject({
      ok: false,
      check: 'signature',
      reason: 'invalid_permit2_signature',
      isRetryable: false,
    })
    expect(await upstream.settle(request)).toEqual({ state: 'refused', reason: 'invalid_permit2_signature' })
    expect(sent()).toBe(0)
  })

  it('is not called invalid while the node is silent', async () => {
    const { request } = await pay(0)
    for (const method of ['eth_call', 'eth_getCode']) node.on(method, () => ({ drop: 'before' }))
    expect(await upstream.verify(request)).toMatchObject({ ok: false, isRetryable: true })
  })

  it('whose answer was lost is looked up, not sent again', async () => {
    await chain.rpc('anvil_setCode', [PROXY, MOVES])
    const { request } = await pay(0)
    node.on('eth_sendRawTransaction', () => ({ drop: 'after' }))
    expect(await upstream.settle(request)).toMatchObject({ state: 'settled' })
    expect(sent()).toBe(1)
  })
})

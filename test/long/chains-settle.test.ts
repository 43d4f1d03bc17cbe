// The in-process facilitator against a real node: what it says of a settlement is what happened on the chain.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noFault, parseFault } from '../../src/lib/fault-points.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import type { Chain } from '../../src/payments/chain-ports.ts'
import type { Payment, Upstream } from '../../src/payments/ports.ts'
import { Secret } from '../../src/lib/secret.ts'
import {
  type ExactPayload,
  requirementsOf,
  signPayment,
  type SignOptions,
  startTestChain,
  type TestChain,
} from '../support/chain.ts'
import { type ChainProxy, type Interception, startChainProxy } from '../support/chain-proxy.ts'
import { cites } from '../requirements.ts'

let chain: TestChain
let port: Chain
let proxy: ChainProxy
beforeAll(async () => {
  chain = await startTestChain(84532)
  proxy = await startChainProxy(chain.rpcUrl)
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
  await chain.setAutomine(true)
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
    presented: new Secret(payload),
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

/** How a node answers a transfer that it says would succeed. */
const SUCCEEDS = () => ({ result: '0x' })
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

  it('offers nothing where gas costs more than the operator pays', async () => {
    proxy.on('eth_getBlockByNumber', () => ({ result: { baseFeePerGas: '0x174876e800' } }))
    await expect(open().supported(3000)).rejects.toThrow('no chain answers')
  })
})

describe('settle', () => {
  it('moves the money once and names the transaction', async () => {
    const { request, question } = await pay(0)
    const before = await chain.usdcOf(chain.payTo)
    const settled = await open().settle(request)
    const block = { number: expect.any(BigInt), hash }
    expect(settled).toEqual({ state: 'settled', transaction: hash, isWitnessed: true, block })
    expect((await chain.usdcOf(chain.payTo)) - before).toBe(1000n)
    expect(await port.authorizationStatus(question)).toMatchObject({
      state: 'used',
      transferred: true,
      transaction: (settled as { transaction: string }).transaction,
    })
  })

  it.each<[string, Interception]>([
    ['is of another chain', { result: '0x2105' }],
    ['does not say which chain it is of', { error: { code: -32000, message: 'no' } }],
  ])('bears no witness when the node that shows the receipt %s', async (_, answer) => {
    const { request } = await pay(0)
    const upstream = open()
    proxy.on('eth_sendRawTransaction', () => void proxy.on('eth_chainId', () => answer))
    expect(await upstream.settle(request)).toEqual({ state: 'settled', transaction: hash })
  })

  it('bears no witness when the node shows the receipt of another transaction than it was asked about', async () => {
    const { request } = await pay(0)
    const settled = await open({ rpcUrl: chain.rpcUrl }).settle(request)
    const { transaction } = settled as { transaction: string }
    const receipt = await chain.rpc('eth_getTransactionReceipt', [transaction])
    proxy.on('eth_call', SUCCEEDS)
    proxy.on('eth_sendRawTransaction', () => ({ result: transaction }))
    proxy.on('eth_getTransactionReceipt', () => ({ result: receipt }))
    expect(await open({ keys: 1 }).settle(request)).toEqual({ state: 'settled', transaction })
  })

  it('does not refuse because a question was lost that it asked while it got ready', async () => {
    const { request } = await pay(0)
    const upstream = open()
    let lost = 0
    proxy.on('eth_getBlockByNumber', () => (lost++ === 0 ? { drop: 'before' } : undefined))
    upstream.prepare!(request.payment)
    expect(await upstream.settle(request)).toMatchObject({ state: 'settled' })
    expect(lost).toBe(2)
  })

  it('asks what it will need when it is told to get ready, sends nothing then, and does not ask again', async () => {
    const { request, question } = await pay(0)
    // What was asked is kept for two seconds: on this clock no time goes by.
    const at = Date.now()
    const upstream = open({ now: () => at })
    upstream.prepare!(request.payment)
    await expect.poll(() => proxy.seen).toContain('eth_getBlockByNumber')
    expect(proxy.seen).not.toContain('eth_sendRawTransaction')
    expect(await port.authorizationStatus(question)).toEqual({ state: 'unused' })
    expect(await upstream.settle(request)).toMatchObject({ state: 'settled' })
    expect(proxy.seen.filter((method) => method === 'eth_getBlockByNumber')).toHaveLength(1)
  })

  it('settles all the same when getting ready failed, and says nothing of it', async () => {
    const { request } = await pay(0)
    const upstream = open()
    let asked = 0
    proxy.on('eth_getBlockByNumber', () => (asked++ === 0 ? { drop: 'before' } : undefined))
    upstream.prepare!(request.payment)
    upstream.prepare!({ ...request.payment, network: 'eip155:1' })
    await expect.poll(() => asked).toBe(1)
    await expect.poll(async () => (await upstream.settle(request)).state).toBe('settled')
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
    const statuses = await Promise.all(payments.map(({ question }) => port.authorizationStatus(question)))
    const senders = statuses.map((status) => status.state === 'used' && status.submittedBy)
    expect(new Set(senders).size).toBe(3)
  })

  it('is pending while no block comes, and names the transaction that will be mined', async () => {
    const { request, question } = await pay(2)
    await chain.setAutomine(false)
    const pending = await open().settle({ ...request, deadlineMs: 300 })
    await chain.setAutomine(true)
    await chain.mine()
    expect(pending).toEqual({ state: 'pending', transaction: hash })
    expect(await port.authorizationStatus(question)).toMatchObject({ state: 'used', ...pick(pending) })
  })

  it('costs nothing when somebody else was first, and the chain says that the money came', async () => {
    const { request, question, payload } = await pay(2)
    await chain.preempt(payload)
    expect(await open().settle(request)).toEqual({
      state: 'refused',
      reason: 'invalid_exact_evm_transaction_simulation_failed',
    })
    expect(proxy.seen).not.toContain('eth_sendRawTransaction')
    expect(await port.authorizationStatus(question)).toMatchObject({ state: 'used', transferred: true })
  })

  it(
    cites(
      'x402:settle:gas',
      'costs nothing when the payer took it back or has nothing left since it was verified, and nothing moves',
    ),
    async () => {
      const upstream = open()
      const [canceled, drained] = [await pay(6), await pay(7)]
      for (const { request } of [canceled, drained])
        expect(await upstream.verify(request)).toMatchObject({ ok: true })
      await chain.cancelAuthorization(canceled.account, canceled.question.nonce)
      await chain.drain(drained.account)
      const before = await chain.transfersTo(chain.payTo)
      expect(await upstream.settle(canceled.request)).toEqual({
        state: 'refused',
        reason: 'invalid_exact_evm_transaction_simulation_failed',
      })
      expect(await upstream.settle(drained.request)).toEqual({
        state: 'refused',
        reason: 'invalid_exact_evm_insufficient_balance',
      })
      expect(proxy.seen).not.toContain('eth_sendRawTransaction')
      expect(await chain.transfersTo(chain.payTo)).toBe(before)
      expect(await port.authorizationStatus(canceled.question)).toMatchObject({ state: 'canceled' })
      expect(await port.authorizationStatus(drained.question)).toEqual({ state: 'unused' })
    },
  )

  it('fails where the node did not see it coming, and where it does not say', async () => {
    const upstream = open()
    for (const answer of [SUCCEEDS, () => ({ error: { code: -32000, message: 'no state' } })]) {
      const { request, payload } = await pay(2)
      await chain.preempt(payload)
      proxy.on('eth_call', answer)
      expect(await upstream.settle(request)).toEqual({
        state: 'failed',
        reason: 'invalid_exact_evm_transaction_failed',
      })
    }
  })

  it('pays for no more gas than a transfer needs, whatever the wallet of the payer does', async () => {
    const { request, account } = await pay(8)
    // JUMPDEST PUSH1 0 JUMP: asked whether the signature is its own, the wallet never ends.
    await chain.rpc('anvil_setCode', [account.address, '0x5b600056'])
    // It may know whether it is asked in earnest.
    proxy.on('eth_call', SUCCEEDS)
    expect(await open().settle(request)).toMatchObject({ state: 'failed' })
    const block = (await chain.rpc('eth_getBlockByNumber', ['latest', true])) as {
      transactions: { gas: string }[]
      gasUsed: string
    }
    expect(block.transactions.map(({ gas }) => Number(gas))).toEqual([120_000])
    expect(Number(block.gasUsed)).toBeLessThanOrEqual(120_000)
    await chain.rpc('anvil_setCode', [account.address, '0x'])
  })

  it('asks for another facilitator when nothing has left', async () => {
    const { request, question } = await pay(2)
    expect(await open({ rpcUrl: 'http://127.0.0.1:1' }).settle(request)).toEqual({
      state: 'refused',
      reason: 'chain_unreachable',
    })
    proxy.on('eth_chainId', () => ({ result: '0x1' }))
    expect(await open().settle(request)).toEqual({ state: 'refused', reason: 'chain_unreachable' })
    proxy.reset()
    proxy.on('eth_getBlockByNumber', () => ({ result: { baseFeePerGas: '0x174876e800' } }))
    expect(await open().settle(request)).toEqual({ state: 'refused', reason: 'gas_price_above_cap' })
    expect(proxy.seen).not.toContain('eth_sendRawTransaction')
    expect(await open({ keys: 0 }).settle(request)).toEqual({ state: 'refused', reason: 'settlers_stuck' })
    expect(await port.authorizationStatus(question)).toEqual({ state: 'unused' })
  })
})

/** Of the proxy: how many transactions left us. */
const sent = () => proxy.seen.filter((method) => method === 'eth_sendRawTransaction').length

describe('a broadcast whose answer is lost or strange', () => {
  it('is settled all the same when the receipt shows, from one submission', async () => {
    const { request } = await pay(0)
    proxy.on('eth_sendRawTransaction', () => ({ drop: 'after' }))
    expect(await open().settle(request)).toMatchObject({ state: 'settled', transaction: hash })
    expect(sent()).toBe(1)
  })

  it('is unknown when no receipt shows, and the log of the chain decides', async () => {
    const { request, question } = await pay(0)
    proxy.on('eth_sendRawTransaction', () => ({ drop: 'after' }))
    proxy.on('eth_getTransactionReceipt', () => ({ drop: 'before' }))
    const unknown = await open().settle({ ...request, deadlineMs: 300 })
    expect(unknown).toEqual({ state: 'unknown', reason: 'no_reply', transaction: hash })
    expect(sent()).toBe(1)
    expect(await port.authorizationStatus(question)).toMatchObject({
      state: 'used',
      transferred: true,
      ...pick(unknown),
    })
  })

  it('is unknown when it never arrived, and is not sent again', async () => {
    const { request, question } = await pay(0)
    proxy.on('eth_sendRawTransaction', () => ({ drop: 'before' }))
    expect(await open().settle({ ...request, deadlineMs: 300 })).toMatchObject({ state: 'unknown' })
    expect(sent()).toBe(1)
    expect(await port.authorizationStatus(question)).toEqual({ state: 'unused' })
  })

  // Another nonce is tried where others use the account, twelve times at most.
  it.each([
    ['nonce too low', 'unknown', 'nonce_too_low', 12],
    ['something nobody has ever said', 'unknown', 'unclear_answer', 1],
    ['already known', 'unknown', 'already_known', 1],
    ['replacement transaction underpriced', 'refused', 'nonce_taken', 12],
    ['transaction underpriced', 'refused', 'node_refused', 1],
    ['insufficient funds for gas * price + value', 'refused', 'out_of_gas', 1],
  ])('answered with "%s" is %s', async (message, state, reason, times) => {
    const { request } = await pay(1)
    proxy.on('eth_sendRawTransaction', () => ({ error: { code: -32000, message } }))
    expect(await open().settle({ ...request, deadlineMs: 200 })).toMatchObject({ state, reason })
    expect(sent()).toBe(times)
  })

  it('leaves the account usable: the next settlement goes through', async () => {
    const upstream = open()
    const [lost, refused, next] = [await pay(0), await pay(0), await pay(0)]
    proxy.on('eth_sendRawTransaction', () => ({ drop: 'before' }))
    expect(await upstream.settle({ ...lost.request, deadlineMs: 100 })).toMatchObject({ state: 'unknown' })
    proxy.on('eth_sendRawTransaction', () => ({
      error: { code: -32000, message: 'transaction underpriced' },
    }))
    expect(await upstream.settle(refused.request)).toMatchObject({ state: 'refused' })
    proxy.reset()
    expect(await upstream.settle(next.request)).toMatchObject({ state: 'settled' })
  })

  it('costs nothing when somebody else used the account: the next nonce is taken', async () => {
    const [first, second] = [open(), open()]
    const payments = [await pay(0), await pay(0), await pay(0), await pay(0)]
    expect(await first.settle(payments[0]!.request)).toMatchObject({ state: 'settled' })
    expect(await second.settle(payments[1]!.request)).toMatchObject({ state: 'settled' })
    expect(await first.settle(payments[2]!.request)).toMatchObject({ state: 'settled' })
    expect(await second.settle(payments[3]!.request)).toMatchObject({ state: 'settled' })
  })
})

describe('an account whose transaction is not mined', () => {
  it('does not hold up the others, and is used again once it is', async () => {
    let skipped = 0
    const upstream = open({ keys: 2, now: () => Date.now() + skipped })
    const [stuck, next, third] = [await pay(3), await pay(3), await pay(3)]
    await chain.setAutomine(false)
    const pending = await upstream.settle({ ...stuck.request, deadlineMs: 100 })
    skipped = 60_000
    const settling = upstream.settle(next.request)
    await expect.poll(() => chain.rpc('txpool_status')).toMatchObject({ pending: '0x2' })
    await chain.setAutomine(true)
    await chain.mine()
    expect(await settling).toMatchObject({ state: 'settled' })
    const statuses = await Promise.all(
      [stuck, next].map(({ question }) => port.authorizationStatus(question)),
    )
    expect(pending).toMatchObject({ state: 'pending' })
    expect(new Set(statuses.map((status) => status.state === 'used' && status.submittedBy)).size).toBe(2)
    expect(await upstream.settle(third.request)).toMatchObject({ state: 'settled' })
  })

  it('refuses when there is no other, and goes on once the node has what it dropped', async () => {
    let skipped = 0
    const upstream = open({ now: () => Date.now() + skipped })
    const [dropped, refused, next] = [await pay(4), await pay(4), await pay(4)]
    await chain.setAutomine(false)
    expect(await upstream.settle({ ...dropped.request, deadlineMs: 100 })).toMatchObject({ state: 'pending' })
    skipped = 60_000
    expect(await upstream.settle(refused.request)).toEqual({ state: 'refused', reason: 'settlers_stuck' })
    await chain.rpc('anvil_dropAllTransactions')
    await chain.setAutomine(true)
    await expect.poll(async () => (await upstream.settle(next.request)).state).toBe('settled')
    expect(await port.authorizationStatus(dropped.question)).toMatchObject({
      state: 'used',
      transferred: true,
    })
  })
})

describe('a fault', () => {
  it.each([
    ['before_broadcast', { state: 'refused', reason: 'fault_injected' }, 'unused'],
    ['after_broadcast', { state: 'unknown', reason: 'fault_injected', transaction: hash }, 'used'],
    ['after_mined', { state: 'unknown', reason: 'fault_injected', transaction: hash }, 'used'],
  ])('%s is told as what it leaves behind', async (point, expected, status) => {
    const { request, question } = await pay(5)
    expect(await open({ fault: parseFault(`${point}:throw`) }).settle(request)).toEqual(expected)
    await expect.poll(async () => (await port.authorizationStatus(question)).state).toBe(status)
  })
})

describe('verify', () => {
  it('asks the token itself', async () => {
    const upstream = open()
    const good = await pay(5)
    const bad = await pay(5, { domain: { name: 'USD Coin' } })
    expect(await upstream.verify(good.request)).toEqual({ ok: true, payer: good.question.from })
    expect(await upstream.verify(bad.request)).toMatchObject({
      ok: false,
      check: 'simulation',
      message: 'The token refuses the transfer: FiatTokenV2: invalid signature.',
      isRetryable: false,
    })
    proxy.on('eth_call', () => ({ drop: 'before' }))
    expect(await upstream.verify(good.request)).toMatchObject({ ok: false, isRetryable: true })
  })
})

const pick = (settlement: object) => ({ transaction: (settlement as { transaction: string }).transaction })

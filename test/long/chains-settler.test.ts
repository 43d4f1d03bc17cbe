// A settler that never wedges, against a real node: what is dropped, outbid, overtaken or left behind by another process, or
// used by hand. Every authorization is paid once, and the next payment goes through.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createWalletClient, defineChain, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { noFault } from '../../src/lib/fault-points.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import type { Chain } from '../../src/payments/chain-ports.ts'
import type { Upstream } from '../../src/payments/ports.ts'
import { paymentOf, requirementsOf, signPayment, startTestChain, type TestChain } from '../support/chain.ts'
import { type ChainProxy, startChainProxy } from '../support/chain-proxy.ts'

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

let skipped = 0
/** The clock of the settlers stands here where it is set. */
let frozen: number | undefined
const opened: Upstream[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((upstream) => upstream.close()))
  proxy.reset()
  skipped = 0
  frozen = undefined
  await chain.rpc('anvil_dropAllTransactions')
  await chain.setAutomine(true)
})

const GWEI = 1_000_000_000n
const hex = (value: bigint | number) => `0x${value.toString(16)}`

/** @param options.keys which of the three settler keys it has */
function open(options: { keys?: readonly number[] } = {}) {
  const upstream = createLocalUpstream({
    chains: [{ network: chain.network, rpcUrl: async () => proxy.url }],
    settlerKeys: async () => (options.keys ?? [0]).map((key) => new Secret<string>(keyOf(key))),
    fault: noFault,
    now: () => (frozen ?? Date.now()) + skipped,
  })
  opened.push(upstream)
  return upstream
}
function keyOf(index: number): Hex {
  const key = chain.settlerKeys[index]
  if (key === undefined) throw new Error(`there is no settler ${index}`)
  return key
}
const addressOf = (index: number) => privateKeyToAccount(keyOf(index)).address

async function pay(payer = 0, deadlineMs = 10_000, overrides = {}) {
  const account = chain.payers[payer]
  if (!account) throw new Error(`there is no payer ${payer}`)
  const requirements = requirementsOf(chain)
  const payload = await signPayment({ account, requirements, overrides })
  const { payment, question } = paymentOf(payload, chain.network)
  return { payload, question, request: { payment, requirements, deadlineMs } }
}
type Paid = Awaited<ReturnType<typeof pay>>

/** The operator, with the settler's key in a wallet. */
function byHand(index: number, nonce: number, maxFeePerGas = 5n * GWEI) {
  const wallet = createWalletClient({
    account: privateKeyToAccount(keyOf(index)),
    chain: defineChain({
      id: chain.chainId,
      name: 'test',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [chain.rpcUrl] } },
    }),
    transport: http(chain.rpcUrl),
  })
  return wallet.sendTransaction({
    to: chain.payTo,
    value: 1n,
    nonce,
    gas: 21_000n,
    maxFeePerGas,
    maxPriorityFeePerGas: maxFeePerGas,
  })
}
const nonceOf = async (index: number, block = 'latest') =>
  Number(await chain.rpc('eth_getTransactionCount', [addressOf(index), block]))
const isPaid = async ({ question }: Paid) => {
  const status = await port.authorizationStatus(question)
  return status.state === 'used' && status.transferred
}
const waitUntilPaid = async (...payments: readonly Paid[]) => {
  for (const payment of payments)
    await expect.poll(() => isPaid(payment), { timeout: 60_000, interval: 200 }).toBe(true)
}
const mineSoon = async () => {
  await chain.setAutomine(true)
  await chain.mine()
}
const sentRaw = () => proxy.seen.filter((method) => method === 'eth_sendRawTransaction').length
const transactionOf = (settlement: object) => (settlement as { transaction: Hex }).transaction

describe('a transaction that the node took and dropped', () => {
  it('is sent again, and another one that came after it is mined too', async () => {
    const upstream = open()
    const before = await chain.transfersTo(chain.payTo)
    const [first, second] = [await pay(0, 100), await pay(1, 100)]
    await chain.setAutomine(false)
    const pending = await upstream.settle(first.request)
    expect(await chain.rpc('anvil_dropTransaction', [transactionOf(pending)])).toBe(transactionOf(pending))
    expect(await upstream.settle(second.request)).toMatchObject({ state: 'pending' })
    await chain.setBlockTime(1)
    await waitUntilPaid(first, second)
    await chain.setBlockTime(0)
    await chain.setAutomine(true)
    const third = await pay(2)
    expect(await upstream.settle(third.request)).toMatchObject({ state: 'settled' })
    expect(await chain.transfersTo(chain.payTo)).toBe(before + 3)
  })

  it('is sent again although nothing comes after it, and its own call sees it settled', async () => {
    const upstream = open()
    const payment = await pay(0)
    await chain.setAutomine(false)
    const settling = upstream.settle(payment.request)
    await expect.poll(() => chain.rpc('txpool_status')).toMatchObject({ pending: '0x1' })
    await chain.rpc('anvil_dropAllTransactions')
    await chain.setAutomine(true)
    expect(await settling).toMatchObject({ state: 'settled', isWitnessed: true })
  })

  it('is not sent again once its payer has spent the authorization otherwise; those behind it are mined', async () => {
    const upstream = open()
    const [first, second] = [await pay(0, 100), await pay(1, 100)]
    await chain.setAutomine(false)
    // Nothing is sent again before the authorization is spent.
    frozen = Date.now()
    const pending = await upstream.settle(first.request)
    await chain.rpc('anvil_dropTransaction', [transactionOf(pending)])
    await upstream.settle(second.request)
    await chain.preempt(first.payload)
    frozen = undefined
    const before = await nonceOf(0)
    await chain.setBlockTime(1)
    await waitUntilPaid(first, second)
    await chain.setBlockTime(0)
    // The nonce of the dropped one went to an empty transaction.
    expect(await nonceOf(0)).toBe(before + 2)
    expect(await port.authorizationStatus(first.question)).not.toMatchObject({
      submittedBy: addressOf(0).toLowerCase(),
    })
  })

  it('gives its nonce to the next payment when it is not needed any more', async () => {
    const upstream = open()
    const [first, next] = [await pay(0, 100), await pay(1)]
    const before = await nonceOf(0)
    await chain.setAutomine(false)
    frozen = Date.now()
    await upstream.settle(first.request)
    await chain.rpc('anvil_dropAllTransactions')
    await chain.preempt(first.payload)
    frozen = undefined
    await expect.poll(() => upstream.settlers?.()[0]?.waiting).toBe(0)
    await chain.setAutomine(true)
    expect(await upstream.settle(next.request)).toMatchObject({ state: 'settled' })
    expect(await nonceOf(0)).toBe(before + 1)
  })

  it('is sent again where the node never got it, and is paid once', async () => {
    const payment = await pay(0)
    let lost = 0
    proxy.on('eth_sendRawTransaction', () => {
      if (lost++ > 0) return undefined
      // The next look at it, a second later, finds it old enough.
      skipped = 2_000
      return { drop: 'before' }
    })
    // The call itself waits two seconds, and on a busy machine the next look may come after them.
    const { state } = await open().settle(payment.request)
    expect(['settled', 'unknown']).toContain(state)
    await waitUntilPaid(payment)
    expect(sentRaw()).toBe(2)
  })
})

describe('a transaction that offers too little once gas costs more', () => {
  const setBaseFee = async (base: bigint) => {
    await chain.rpc('anvil_setNextBlockBaseFeePerGas', [hex(base)])
    await chain.rpc('evm_mine')
  }
  afterEach(() => setBaseFee(GWEI))

  it('is replaced by one that offers enough, by the same nonce, and is paid once', async () => {
    const upstream = open()
    const payment = await pay(0, 100)
    const before = [await nonceOf(0), await chain.transfersTo(chain.payTo)] as const
    await chain.setAutomine(false)
    const pending = await upstream.settle(payment.request)
    const { maxFeePerGas } = (await chain.rpc('eth_getTransactionByHash', [transactionOf(pending)])) as {
      maxFeePerGas: Hex
    }
    await setBaseFee(BigInt(maxFeePerGas) * 2n)
    skipped = 25_000
    // Blocks make gas cheaper: after some of them the first one would be enough.
    await expect.poll(sentRaw).toBe(2)
    await chain.setBlockTime(1)
    await waitUntilPaid(payment)
    await chain.setBlockTime(0)
    expect([await nonceOf(0), await chain.transfersTo(chain.payTo)]).toEqual([before[0] + 1, before[1] + 1])
    const mined = await port.authorizationStatus(payment.question)
    expect(mined).not.toMatchObject({ transaction: transactionOf(pending) })
  })

  it('is not raised above the cap, and is mined when gas costs less again', async () => {
    const upstream = open()
    const payment = await pay(0, 100)
    await chain.setAutomine(false)
    const raws = new Set<unknown>()
    proxy.on('eth_sendRawTransaction', ({ params: [raw] }) => void raws.add(raw))
    await upstream.settle(payment.request)
    await setBaseFee(30n * GWEI)
    skipped = 25_000
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect(raws.size).toBe(1)
    expect(await isPaid(payment)).toBe(false)
    await setBaseFee(GWEI)
    await chain.setBlockTime(1)
    await waitUntilPaid(payment)
    await chain.setBlockTime(0)
    expect(raws.size).toBe(1)
  })
})

describe("the key in somebody else's hands", () => {
  it('takes a nonce that is not mined yet: the payment gets the next one', async () => {
    const upstream = open()
    const payment = await pay(0, 100)
    await chain.setAutomine(false)
    await upstream.settle(payment.request)
    // By hand, and dearer: the node forgets ours.
    await byHand(0, await nonceOf(0), 9n * GWEI)
    await chain.setBlockTime(1)
    await waitUntilPaid(payment)
    await chain.setBlockTime(0)
  })

  it('takes a nonce of the past: the next payment does not notice', async () => {
    const upstream = open()
    expect(await upstream.settle((await pay(0)).request)).toMatchObject({ state: 'settled' })
    await byHand(0, await nonceOf(0))
    await expect.poll(() => nonceOf(0)).toBe(await nonceOf(0, 'pending'))
    expect(await upstream.settle((await pay(1)).request)).toMatchObject({ state: 'settled' })
  })

  it('leaves a transaction behind that nobody mines: ours waits, then an empty one takes its place', async () => {
    const upstream = open()
    await chain.setAutomine(false)
    const left = await byHand(0, await nonceOf(0))
    const payment = await pay(0, 100)
    expect(await upstream.settle(payment.request)).toMatchObject({ state: 'pending' })
    // The first review sees the obstacle, and one after two minutes begins to outbid it.
    await new Promise((resolve) => setTimeout(resolve, 3_500))
    expect(await chain.rpc('eth_getTransactionByHash', [left])).not.toBeNull()
    // It may have been seen late: two minutes pass from whenever that was.
    const isGone = async () => {
      skipped += 5_000
      return (await chain.rpc('eth_getTransactionByHash', [left])) === null
    }
    await expect.poll(isGone, { timeout: 60_000, interval: 200 }).toBe(true)
    await chain.setBlockTime(1)
    await waitUntilPaid(payment)
    await chain.setBlockTime(0)
  })

  it('in another process: both settle all of their payments, each once', async () => {
    const [one, other] = [open(), open()]
    const payments = await Promise.all(Array.from({ length: 24 }, (_, i) => pay(i % 10, 12_000)))
    const before = await chain.transfersTo(chain.payTo)
    await chain.setBlockTime(1)
    const settled = await Promise.all(
      payments.map(({ request }, i) => (i % 2 === 0 ? one : other).settle(request)),
    )
    await waitUntilPaid(...payments)
    await chain.setBlockTime(0)
    expect(settled.filter(({ state }) => state === 'refused')).toEqual([])
    expect(await chain.transfersTo(chain.payTo)).toBe(before + payments.length)
  })
})

describe('a former process with the same key', () => {
  it('left a transaction that still waits: the new one queues behind it, and both are paid', async () => {
    const [left, next] = [await pay(0, 100), await pay(1, 100)]
    await chain.setAutomine(false)
    const former = open()
    await former.settle(left.request)
    await former.close()
    expect(await open().settle(next.request)).toMatchObject({ state: 'pending' })
    await mineSoon()
    await waitUntilPaid(left, next)
  })

  it('left a gap: it is filled, and what waits behind it is mined', async () => {
    const [left, next] = [await pay(0, 100), await pay(1, 100)]
    await chain.setAutomine(false)
    const former = open()
    const pending = await former.settle(left.request)
    await former.close()
    expect(await open().settle(next.request)).toMatchObject({ state: 'pending' })
    await chain.rpc('anvil_dropTransaction', [transactionOf(pending)])
    await chain.setBlockTime(1)
    await waitUntilPaid(next)
    await chain.setBlockTime(0)
    expect(await isPaid(left)).toBe(false)
  })
})

describe('a node that counts wrongly', () => {
  it.each([
    ['too few transactions', (real: bigint) => (real > 1n ? real - 2n : 0n)],
    ['a few too many', (real: bigint) => real + 3n],
    ['far too many', (real: bigint) => real + 1_000n],
  ])('%s: the payment is made once, and so is the next', async (_, lie) => {
    const upstream = open()
    const before = await chain.transfersTo(chain.payTo)
    expect(await upstream.settle((await pay(9)).request)).toMatchObject({ state: 'settled' })
    await upstream.close()
    const restarted = open()
    const real = BigInt(await nonceOf(0))
    proxy.on('eth_getTransactionCount', ({ params }) =>
      params[1] === 'pending' ? { result: hex(lie(real)) } : undefined,
    )
    const [first, second] = [await pay(0, 1_000), await pay(1)]
    await restarted.settle(first.request)
    proxy.reset()
    await waitUntilPaid(first)
    await expect.poll(async () => (await restarted.settle(second.request)).state).toBe('settled')
    expect(await chain.transfersTo(chain.payTo)).toBe(before + 3)
  })
})

describe('an account without gas', () => {
  const setGas = (index: number, wei: bigint) => chain.rpc('anvil_setBalance', [addressOf(index), hex(wei)])
  afterEach(() => setGas(1, 10n ** 18n))

  it('is passed over for another one', async () => {
    await setGas(1, 1n)
    const upstream = open({ keys: [1, 2] })
    const payments = await Promise.all([pay(0), pay(1), pay(2)])
    const settled = await Promise.all(payments.map(({ request }) => upstream.settle(request)))
    expect(settled.map(({ state }) => state)).toEqual(['settled', 'settled', 'settled'])
    for (const { question } of payments)
      expect(await port.authorizationStatus(question)).toMatchObject({
        submittedBy: addressOf(2).toLowerCase(),
      })
    expect(upstream.settlers?.().map(({ state }) => state)).toContain('out_of_gas')
  })

  it('alone offers nothing and takes nothing, and goes on once it is filled', async () => {
    await setGas(1, 1n)
    const upstream = open({ keys: [1] })
    await expect(upstream.supported(3_000)).rejects.toThrow('no chain answers')
    const payment = await pay(0)
    expect(await upstream.settle(payment.request)).toEqual({ state: 'refused', reason: 'out_of_gas' })
    expect(await port.authorizationStatus(payment.question)).toEqual({ state: 'unused' })
    await setGas(1, 10n ** 18n)
    skipped = 5_000
    expect((await upstream.supported(3_000)).kinds).toHaveLength(2)
    expect(await upstream.settle(payment.request)).toMatchObject({ state: 'settled' })
  })

  it('is named low before it is out', async () => {
    await setGas(1, 120_000n * 2n * GWEI * 20n)
    const upstream = open({ keys: [1] })
    await upstream.supported(3_000)
    const [state] = upstream.settlers?.() ?? []
    expect(state).toMatchObject({ address: addressOf(1), network: 'eip155:84532', state: 'low_on_gas' })
    expect(state?.settlements_left).toBeGreaterThan(0)
    expect(state?.settlements_left).toBeLessThan(100)
  })
})

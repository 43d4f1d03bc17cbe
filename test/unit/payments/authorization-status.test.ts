// Where events are looked for on a chain that is long, slow to tell, or not telling the truth.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChain } from '../../../src/payments/adapters/chain.ts'
import { AUTHORIZATION_USED, topic, TRANSFER } from '../../../src/payments/adapters/usdc-abi.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import type { Chain } from '../../../src/payments/chain-ports.ts'
import { type ChainProxy, startChainProxy } from '../../support/chain-proxy.ts'

const network = createNetworks([84532]).all[0]!
const ASSET = network.asset.address.toLowerCase()
const FROM = `0x${'aa'.repeat(20)}`
const TO = `0x${'bb'.repeat(20)}`
const NONCE = `0x${'cc'.repeat(32)}`
const BLOCK = `0x${'ee'.repeat(32)}`
const HASH = `0x${'dd'.repeat(32)}`
const BLOCK_MS = 2_000
const HEAD = 1_000_000
const NOW = 1_800_000_000_000
const timeOf = (height: number) => NOW - (HEAD - height) * BLOCK_MS
const hex = (value: number | bigint) => `0x${value.toString(16)}`
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

let node: ChainProxy
let ranges: [number, number][]
let eventAt: number
const question = { from: FROM, to: TO, value: 1000n, nonce: NONCE, since: NOW }

const log = (topics: string[], data = '0x') => ({ address: ASSET, topics, data, transactionHash: HASH })
const used = () => log([AUTHORIZATION_USED, topic(FROM), NONCE])
const other = () => log([AUTHORIZATION_USED, topic(FROM), HASH])
const transfer = (value = 1000, to = TO) => log([TRANSFER, topic(FROM), topic(to)], word(value))
const receipt = (logs: object[], more = {}) => ({
  status: '0x1',
  transactionHash: HASH,
  blockNumber: hex(eventAt),
  blockHash: BLOCK,
  from: `0x${'ee'.repeat(20)}`,
  logs,
  ...more,
})

beforeAll(async () => {
  node = await startChainProxy('http://127.0.0.1:1')
})
afterAll(() => node.close())
beforeEach(() => {
  node.reset()
  ranges = []
  eventAt = HEAD - 100
  node.on('eth_chainId', () => ({ result: hex(network.chainId) }))
  node.on('eth_blockNumber', () => ({ result: hex(HEAD) }))
  node.on('eth_call', () => ({ result: word(1) }))
  node.on('eth_getBlockByNumber', ({ params }) => {
    const height = params[0] === 'latest' ? HEAD : Number(params[0])
    return { result: { number: hex(height), timestamp: hex(Math.floor(timeOf(height) / 1000)) } }
  })
  node.on('eth_getLogs', ({ params }) => {
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
    const [first, last] = [Number(fromBlock), Number(toBlock)]
    ranges.push([first, last])
    if (last - first >= 10_000) return { error: { code: -32005, message: 'block range too large' } }
    return { result: eventAt >= first && eventAt <= last ? [used()] : [] }
  })
  node.on('eth_getTransactionReceipt', () => ({ result: receipt([used(), transfer()]) }))
})

async function ask(since = NOW) {
  const chain = createChain({ network, rpcUrl: async () => node.url, now: () => NOW })
  try {
    return await chain.authorizationStatus({ ...question, since })
  } finally {
    await chain.close()
  }
}

describe('the search', () => {
  it('looks at the last minutes for a payment of now, in one range', async () => {
    expect(await ask()).toMatchObject({
      state: 'used',
      transferred: true,
      block: { number: BigInt(eventAt), hash: BLOCK },
    })
    expect(ranges).toEqual([[HEAD - 512, HEAD]])
  })

  it('takes a long way in ranges that providers allow', async () => {
    eventAt = HEAD - 60_000
    expect(await ask(timeOf(eventAt))).toMatchObject({ state: 'used' })
    expect(ranges.length).toBeGreaterThan(1)
    expect(ranges.every(([first, last]) => last - first < 10_000 && last <= HEAD)).toBe(true)
    expect(ranges.slice(1).every(([first], i) => first === ranges[i]![1] + 1)).toBe(true)
  })

  it('looks further back when the payment was used before we heard of it', async () => {
    eventAt = HEAD - 100_000
    expect(await ask()).toMatchObject({ state: 'used' })
  })

  it('does not look for ever', async () => {
    eventAt = 5
    await expect(ask()).rejects.toMatchObject({ reason: 'malformed' })
    expect(ranges.length).toBeLessThan(25)
  })

  it('begins at the first block of a short chain', async () => {
    node.on('eth_blockNumber', () => ({ result: hex(3) }))
    eventAt = 2
    expect(await ask()).toMatchObject({ state: 'used' })
    expect(ranges).toEqual([[0, 3]])
  })

  it('takes a node without old blocks at what it has', async () => {
    node.on('eth_getBlockByNumber', () => ({ result: null }))
    expect(await ask()).toMatchObject({ state: 'used' })
  })
})

describe('an authorization', () => {
  it('is unused when the state says so, and no event is looked for', async () => {
    node.on('eth_call', () => ({ result: word(0) }))
    expect(await ask()).toEqual({ state: 'unused' })
    expect(ranges).toEqual([])
  })
})

describe('a node that became one of another chain since it was last asked', () => {
  it.each<[string, number, (chain: Chain) => Promise<unknown>]>([
    ['what it calls unused', 0, (chain) => chain.authorizationStatus(question)],
    ['what it calls used', 1, (chain) => chain.authorizationStatus(question)],
    ['its receipts', 1, (chain) => chain.authorizationStatus({ ...question, transaction: HASH })],
    ['its clock', 0, (chain) => chain.head()],
  ])('is not believed %s', async (_title, flag, decide) => {
    node.on('eth_call', () => ({ result: word(flag) }))
    const chain = createChain({ network, rpcUrl: async () => node.url, now: () => NOW })
    try {
      await expect(decide(chain)).resolves.toBeDefined()
      node.on('eth_chainId', () => ({ result: '0x1' }))
      await expect(decide(chain)).rejects.toMatchObject({ reason: 'wrong_chain' })
      expect(chain.state()).toMatchObject({ state: 'failing' })
    } finally {
      await chain.close()
    }
  })
})

describe('a node that is not believed', () => {
  it.each<[string, () => void]>([
    ['has the state and not the event', () => void (eventAt = -1)],
    [
      'answers with an event of another nonce',
      () => node.on('eth_getLogs', () => ({ result: [log([AUTHORIZATION_USED, topic(FROM), HASH])] })),
    ],
    [
      'answers with an event of another payer',
      () => node.on('eth_getLogs', () => ({ result: [log([AUTHORIZATION_USED, topic(TO), NONCE])] })),
    ],
    [
      'answers with an event of another token',
      () => node.on('eth_getLogs', () => ({ result: [{ ...used(), address: TO }] })),
    ],
    [
      'answers with an event that was taken back',
      () => node.on('eth_getLogs', () => ({ result: [{ ...used(), removed: true }] })),
    ],
    ['has no receipt for it', () => node.on('eth_getTransactionReceipt', () => ({ result: null }))],
    [
      'has a receipt without the event',
      () => node.on('eth_getTransactionReceipt', () => ({ result: receipt([transfer()]) })),
    ],
    [
      'has a receipt of a failure',
      () =>
        node.on('eth_getTransactionReceipt', () => ({
          result: receipt([used(), transfer()], { status: '0x0' }),
        })),
    ],
    [
      'has half a receipt',
      () =>
        node.on('eth_getTransactionReceipt', () => ({
          result: receipt([used(), transfer()], { from: null }),
        })),
    ],
    [
      'answers the state with a number that is no flag',
      () => node.on('eth_call', () => ({ result: word(2) })),
    ],
  ])('is one that %s', async (_title, lie) => {
    lie()
    await expect(ask()).rejects.toMatchObject({ name: 'ChainError', reason: 'malformed' })
  })

  it.each<[string, object[], boolean]>([
    ['its own transfer', [used(), transfer()], true],
    ['entries of other contracts in between', [used(), { ...transfer(1), address: TO }, transfer()], true],
    ['a transfer of less', [used(), transfer(999)], false],
    ['a transfer to somebody else', [used(), transfer(1000, FROM)], false],
    ['a transfer that came before', [transfer(), used()], false],
    ['no transfer at all', [used()], false],
    ['a wrong transfer before a right one', [used(), transfer(1), transfer()], false],
    ['the transfer of another authorization', [other(), transfer(), used(), transfer(1000, FROM)], false],
    ['its own after that of another', [other(), transfer(1000, FROM), used(), transfer()], true],
  ])('looks at %s', async (_title, logs, transferred) => {
    node.on('eth_getTransactionReceipt', () => ({ result: receipt(logs) }))
    expect(await ask()).toMatchObject({ state: 'used', transferred })
  })
})

// Whose money an account holds, as a real chain with the real token tells it.
import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { type Chain, ChainError } from '../../src/payments/chain-ports.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'

let chain: TestChain
let port: Chain
beforeAll(async () => {
  chain = await startTestChain(84532)
  port = createChain({ network: chain.network, rpcUrl: async () => chain.rpcUrl, now: Date.now })
})
afterAll(async () => {
  await port?.close()
  await chain?.close()
})

const BUYER = '0x00000000000000000000000000000000000b0b01'
const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])

it('reads the transfers to an account with their senders, and of nobody else', async () => {
  const [boss, other] = chain.payers
  if (!boss || !other) throw new Error('the chain has payers')
  const send = (from: string, to: string, value: bigint) =>
    chain.submitAs(from, {
      to: chain.network.asset.address,
      data: encodeFunctionData({ abi, functionName: 'transfer', args: [to as `0x${string}`, value] }),
    })
  const transactionHash = await send(boss.address, BUYER, 7n)
  await send(other.address, '0x00000000000000000000000000000000000b0b02', 9n)
  await chain.mine(3)
  await send(other.address, BUYER, 8n)
  const found = await port.incomingTransfers(BUYER)
  expect(found.map(({ from, amount }) => [from, amount])).toEqual([
    [other.address.toLowerCase(), 8n],
    [boss.address.toLowerCase(), 7n],
  ])
  expect(found[1]).toMatchObject({ transactionHash, block: expect.any(Number) })
  expect(await port.incomingTransfers('0x00000000000000000000000000000000000b0b03')).toEqual([])
})

it('says that it does not know where the node is gone', async () => {
  const away = createChain({
    network: chain.network,
    rpcUrl: async () => 'http://127.0.0.1:1',
    now: Date.now,
  })
  await expect(away.incomingTransfers(BUYER)).rejects.toThrow(ChainError)
  await away.close()
})

// Whose money an account holds: the token's own transfers to it, as far back as a node lets us look in a few questions.
import type { PaymentNetwork } from '../../core/networks.ts'
import type { IncomingTransfer } from '../chain-ports.ts'
import type { RpcCall, RpcReply } from './json-rpc.ts'
import { isHash, readLog, readQuantity, readWord, topic, TRANSFER } from './usdc-abi.ts'

interface Parts {
  readonly rpc: { ask(calls: readonly RpcCall[]): Promise<readonly RpcReply[]> }
  readonly network: PaymentNetwork
  /** @throws {ChainError} */
  readonly demand: <T>(reply: RpcReply | undefined, read: (result: unknown) => T | undefined) => T
}

/** Providers refuse longer ranges of eth_getLogs. */
const MAX_RANGE = 9_999n
/** About a week of blocks of two seconds: who makes up buyers funds them shortly before. */
const RANGES = 30
/** An account that gets more than so many transfers in a range is nobody's sock puppet. */
const MAX_TRANSFERS = 200

/** @returns newest first. @throws {ChainError} when the node does not answer, or answers with other events */
export async function findIncomingTransfers(
  { rpc, network, demand }: Parts,
  account: string,
): Promise<readonly IncomingTransfer[]> {
  const address = network.asset.address
  const [height] = await rpc.ask([{ method: 'eth_blockNumber', params: [] }])
  const found: IncomingTransfer[] = []
  let last = demand(height, readQuantity)
  for (let turn = 0; turn < RANGES && found.length < MAX_TRANSFERS; turn++) {
    const first = last > MAX_RANGE ? last - MAX_RANGE : 0n
    const range = {
      fromBlock: hex(first),
      toBlock: hex(last),
      address,
      topics: [TRANSFER, null, topic(account)],
    }
    const [reply] = await rpc.ask([{ method: 'eth_getLogs', params: [range] }])
    const events = demand(reply, (result) => readTransfers(result, address, account))
    found.push(...events.toReversed().slice(0, MAX_TRANSFERS))
    if (first === 0n) break
    last = first - 1n
  }
  return found.slice(0, MAX_TRANSFERS)
}

/** All of them, or nothing where one is not what was asked for: such a node is not believed. */
function readTransfers(result: unknown, asset: string, account: string): IncomingTransfer[] | undefined {
  if (!Array.isArray(result)) return undefined
  const transfers: IncomingTransfer[] = []
  for (const item of result as unknown[]) {
    const log = readLog(item)
    const { transactionHash, blockNumber, removed } = item as Record<string, unknown>
    const block = readQuantity(blockNumber)
    const [event, from, to] = log?.topics ?? []
    if (!log || !isHash(transactionHash) || block === undefined || removed === true) return undefined
    if (log.address !== asset.toLowerCase() || event !== TRANSFER || to !== topic(account)) return undefined
    if (from === undefined || !/^0x0{24}[0-9a-f]{40}$/.test(from)) return undefined
    const amount = readWord(log.data)
    if (amount === undefined) return undefined
    transfers.push({
      from: `0x${from.slice(26)}`,
      amount,
      block: Number(block),
      transactionHash: transactionHash.toLowerCase(),
    })
  }
  return transfers
}

const hex = (value: bigint) => `0x${value.toString(16)}`

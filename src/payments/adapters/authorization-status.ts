// Finds out what became of one authorization, by the token's own events. A used nonce alone says nothing: a cancellation
// uses it up too, and so does another authorization that the payer signed under the same nonce.
import { type AuthorizationStatus, ChainError } from '../chain-ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import type { RpcCall, RpcReply } from './json-rpc.ts'
import {
  AUTHORIZATION_CANCELED,
  AUTHORIZATION_USED,
  findTransfer,
  isHash,
  packAuthorizationState,
  readFlag,
  readLog,
  readQuantity,
  readReceipt,
  topic,
} from './usdc-abi.ts'

export interface StatusQuestion {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly nonce: string
  /** Milliseconds since the epoch: nothing of the payment should be on the chain before. */
  readonly since: number
  /** The transaction it may be in: read first, and believed only when the authorization is in it. */
  readonly transaction?: string | undefined
}

interface Parts {
  /** A node that says with every answer which chain it is of. */
  readonly rpc: { ask(calls: readonly RpcCall[]): Promise<readonly RpcReply[]> }
  readonly network: PaymentNetwork
  /** @throws {ChainError} */
  readonly demand: <T>(reply: RpcReply | undefined, read: (result: unknown) => T | undefined) => T
}

/** Clocks of a chain and ours need not agree. */
const CLOCK_SKEW_MS = 600_000
/** Providers refuse longer ranges of eth_getLogs. */
const MAX_RANGE = 9_999n
/** Blocks behind the head among which one is old enough: 2, 17 and 68 minutes, 9 hours, 3 and 24 days of 2 s blocks. */
const DISTANCES = [64n, 512n, 2_048n, 16_384n, 131_072n, 1_048_576n]
/** Nothing of the payment should be before `since`, so earlier ranges are searched only so far. */
const MAX_EARLIER_RANGES = 20

/**
 * Asks the node for the state of the nonce, then for the event that says why it is used.
 * @throws {ChainError} also where the node contradicts itself: its index is behind its state, or the chain was reorganised
 */
export async function findAuthorizationStatus(
  parts: Parts,
  question: StatusQuestion,
): Promise<AuthorizationStatus> {
  const { rpc, network, demand } = parts
  const { from, nonce } = question
  const asset = network.asset.address
  const named = isHash(question.transaction)
    ? await readStatus(parts, question, question.transaction)
    : undefined
  if (named?.transferred) return named

  const [state, height] = await rpc.ask([
    {
      method: 'eth_call',
      params: [{ to: asset, data: packAuthorizationState(from, nonce) }, 'latest'],
    },
    { method: 'eth_blockNumber', params: [] },
  ])
  const isUsed = demand(state, readFlag)
  const head = demand(height, readQuantity)
  if (!isUsed) return { state: 'unused' }

  const event = await findEvent(parts, question, head)
  // The state says used and no event does: the node's index is behind its state, so it is to be asked again later.
  if (event === undefined) throw new ChainError('malformed', network.network)
  if (event.topics[0] === AUTHORIZATION_CANCELED) return { state: 'canceled', transaction: event.transaction }
  const status = await readStatus(parts, question, event.transaction)
  // The event was gone when its receipt was read: the chain was reorganised between the two questions.
  if (!status) throw new ChainError('malformed', network.network)
  return status
}

/** Undefined when the authorization was not used in this transaction, or there is none. */
async function readStatus(
  { rpc, network, demand }: Parts,
  question: StatusQuestion,
  transaction: string,
): Promise<(AuthorizationStatus & { state: 'used' }) | undefined> {
  const [reply] = await rpc.ask([receiptOf(transaction)])
  const receipt = demand(reply, readReceipt)
  const found = receipt?.succeeded ? findTransfer(receipt.logs, network.asset.address, question) : undefined
  if (!receipt || !found?.used) return undefined
  return {
    state: 'used',
    transaction: receipt.transaction,
    transferred: found.transferred,
    block: receipt.block,
    submittedBy: receipt.from,
  }
}

/** The question for the receipt of a transaction. */
export const receiptOf = (transaction: string): RpcCall => ({
  method: 'eth_getTransactionReceipt',
  params: [transaction],
})

interface FoundEvent {
  readonly transaction: string
  readonly topics: readonly string[]
}

async function findEvent(
  parts: Parts,
  question: StatusQuestion,
  head: bigint,
): Promise<FoundEvent | undefined> {
  const { rpc, network, demand } = parts
  const topics = [
    [AUTHORIZATION_USED, AUTHORIZATION_CANCELED],
    topic(question.from),
    question.nonce.toLowerCase(),
  ]
  const search = async (first: bigint, last: bigint) => {
    const range = { fromBlock: hex(first), toBlock: hex(last), address: network.asset.address, topics }
    const [reply] = await rpc.ask([{ method: 'eth_getLogs', params: [range] }])
    return demand(reply, (result) => readEvents(result, range))
  }
  const first = await findStart(parts, question.since, head)
  for (let at = first; at <= head; at += MAX_RANGE + 1n) {
    const [event] = await search(at, min(at + MAX_RANGE, head))
    if (event) return event
  }
  let last = first - 1n
  for (let turn = 0; turn < MAX_EARLIER_RANGES && last >= 0n; turn++, last -= MAX_RANGE + 1n) {
    const [event] = await search(max(last - MAX_RANGE, 0n), last)
    if (event) return event
  }
  return undefined
}

/** The nearest of a few blocks that is older than `since`. */
async function findStart({ rpc, demand }: Parts, since: number, head: bigint): Promise<bigint> {
  const heights = [...DISTANCES.filter((distance) => distance < head).map((distance) => head - distance), 0n]
  const replies = await rpc.ask(
    heights.map((height) => ({ method: 'eth_getBlockByNumber', params: [hex(height), false] })),
  )
  const before = since - CLOCK_SKEW_MS
  for (const [i, height] of heights.entries()) {
    const time = demand(replies[i], readTime)
    // A node that keeps no old blocks has no old logs either.
    if (time === null || time <= before) return height
  }
  return 0n
}

const readTime = (result: unknown): number | null | undefined => {
  if (result === null) return null
  const seconds = readQuantity((result as { timestamp?: unknown }).timestamp)
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** The events, if they are all of those that were asked for: a node that answers with others is not believed. */
function readEvents(
  result: unknown,
  asked: { address: string; topics: readonly (string | readonly string[])[] },
): FoundEvent[] | undefined {
  if (!Array.isArray(result)) return undefined
  const events: FoundEvent[] = []
  for (const item of result) {
    const log = readLog(item)
    const { transactionHash, removed } = item as { transactionHash?: unknown; removed?: unknown }
    if (!log || !isHash(transactionHash) || removed === true) return undefined
    if (log.address !== asked.address.toLowerCase()) return undefined
    const isAsked = asked.topics.every((wanted, i) => {
      const found = log.topics[i]
      return found !== undefined && [wanted].flat().includes(found)
    })
    if (!isAsked) return undefined
    events.push({ transaction: transactionHash.toLowerCase(), topics: log.topics })
  }
  return events
}

const hex = (value: bigint) => `0x${value.toString(16)}`
const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)

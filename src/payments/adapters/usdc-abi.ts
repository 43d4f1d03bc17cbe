// The few calls and events of FiatTokenV2_2 that payments need, packed by hand: no ABI library on the fast path.
import type { Secret } from '../../lib/secret.ts'
import type { ChainBlock, Eip3009Authorization } from '../chain-ports.ts'
import type { RpcReply } from './json-rpc.ts'

export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
export const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
export const AUTHORIZATION_CANCELED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'

/** 32 bytes without 0x. */
export const word = (hex: string) => hex.slice(2).toLowerCase().padStart(64, '0')
const uint = (value: bigint) => value.toString(16).padStart(64, '0')
/** An address as an indexed event argument. */
export const topic = (address: string) => `0x${word(address)}`

/** Call data of `balanceOf(address)`. */
export const packBalanceOf = (account: string) => `0x70a08231${word(account)}`
/** Call data of `transfer(address,uint256)`. */
export const packPlainTransfer = (to: string, value: bigint) => `0xa9059cbb${word(to)}${uint(value)}`
/** Call data of `isBlacklisted(address)`. */
export const packIsBlacklisted = (account: string) => `0xfe575a87${word(account)}`
/** Call data of `authorizationState(address,bytes32)`. */
export const packAuthorizationState = (from: string, nonce: string) => `0xe94a0102${word(from)}${word(nonce)}`

/** Call data of ERC-1271's `isValidSignature(bytes32,bytes)`. */
export function packIsValidSignature(digest: Uint8Array, signature: Uint8Array): string {
  const hex = Buffer.from(signature).toString('hex')
  const padded = hex.padEnd(Math.ceil(signature.length / 32) * 64, '0')
  return `0x1626ba7e${Buffer.from(digest).toString('hex')}${uint(64n)}${uint(BigInt(signature.length))}${padded}`
}

/** Whether a contract answered ERC-1271's yes: its own selector, in a word of its own. */
export const isMagicValue = (result: unknown): boolean =>
  typeof result === 'string' && /^0x1626ba7e0{56}$/.test(result)

/** `transferWithAuthorization`: by v, r, s for 65 bytes, else (wallets that are contracts) by bytes. */
export function packTransfer(authorization: Eip3009Authorization, signature: Secret<string>): string {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const fields = `${word(from)}${word(to)}${uint(value)}${uint(validAfter)}${uint(validBefore)}${word(nonce)}`
  return signature.use((text) => {
    const hex = text.slice(2).toLowerCase()
    if (hex.length === 130)
      return `0xe3ee160e${fields}${hex.slice(128).padStart(64, '0')}${hex.slice(0, 64)}${hex.slice(64, 128)}`
    const bytes = hex.length / 2
    return `0xcf092995${fields}${uint(7n * 32n)}${uint(BigInt(bytes))}${hex.padEnd(Math.ceil(bytes / 32) * 64, '0')}`
  })
}

/** Result of an eth_call that answers one word; undefined when it is anything else. */
export function readWord(result: unknown): bigint | undefined {
  return typeof result === 'string' && /^0x[0-9a-fA-F]{64}$/.test(result) ? BigInt(result) : undefined
}

/** A word that is 0 or 1; undefined for anything else. */
export function readFlag(result: unknown): boolean | undefined {
  const value = readWord(result)
  return value === 0n || value === 1n ? value === 1n : undefined
}

/** A hex quantity of at most 32 bytes; undefined for anything else. */
export function readQuantity(result: unknown): bigint | undefined {
  return typeof result === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(result) ? BigInt(result) : undefined
}

/** Why the contract refused, in words; undefined when it was the node that did. */
export function readRevert(reply: Extract<RpcReply, { ok: false }>): string | undefined {
  // Parity and its heirs put a word before the data.
  const isMarked = reply.data?.startsWith('Reverted ') === true
  const data = reply.data?.replace(/^Reverted /, '') ?? ''
  if (/^0x08c379a0[0-9a-fA-F]{128,}$/.test(data)) {
    const length = Number(BigInt(`0x${data.slice(74, 138)}`))
    if (length <= 1024)
      return printable(Buffer.from(data.slice(138, 138 + length * 2), 'hex').toString('utf8'))
  }
  if (/^0x4e487b71[0-9a-fA-F]{64}$/.test(data)) return `panic ${Number(BigInt(`0x${data.slice(10)}`))}`
  if (reply.code !== 3 && !isMarked && !/revert/i.test(reply.message)) return undefined
  return printable(reply.message.replace(/^.*?reverted:?\s*/i, '')) || 'reverted without a reason'
}

const printable = (text: string) => text.replaceAll(/[^ -~]/g, '').slice(0, 120)

/** One entry of a receipt. Hex is lower-case. */
export interface ReceiptLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Receipt {
  readonly succeeded: boolean
  readonly transaction: string
  readonly block: ChainBlock
  readonly from: string
  readonly logs: readonly ReceiptLog[]
}

/** null when there is none yet; undefined when the answer is not a receipt. */
export function readReceipt(result: unknown): Receipt | null | undefined {
  if (result === null) return null
  if (typeof result !== 'object') return undefined
  const { status, transactionHash, blockNumber, blockHash, from, logs } = result as Record<string, unknown>
  const number = readQuantity(blockNumber)
  if (
    !isHash(transactionHash) ||
    !isHash(blockHash) ||
    !isAddress(from) ||
    number === undefined ||
    !Array.isArray(logs)
  )
    return undefined
  if (status !== '0x1' && status !== '0x0') return undefined
  const read = logs.map(readLog)
  if (read.includes(undefined)) return undefined
  return {
    succeeded: status === '0x1',
    transaction: transactionHash.toLowerCase(),
    block: { number, hash: blockHash.toLowerCase() },
    from: from.toLowerCase(),
    logs: read as ReceiptLog[],
  }
}

/** One log entry in lower case; undefined for anything that is none. */
export function readLog(item: unknown): ReceiptLog | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { address, topics, data } = item as Record<string, unknown>
  if (!isAddress(address) || !Array.isArray(topics) || !topics.every(isHash) || typeof data !== 'string')
    return undefined
  return {
    address: address.toLowerCase(),
    topics: topics.map((entry) => entry.toLowerCase()),
    data: data.toLowerCase(),
  }
}

/** Whether a value is 32 bytes in hex. */
export const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)
const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

/**
 * Whether this receipt holds the use of the authorization, and whether the money went where it was asked to. The token
 * writes both events in one go, so the Transfer of an authorization is the token's next entry after its use: a third
 * party may submit many authorizations in one transaction, and each must count once.
 */
export function findTransfer(
  logs: readonly ReceiptLog[],
  asset: string,
  { from, to, value, nonce }: Pick<Eip3009Authorization, 'from' | 'to' | 'value' | 'nonce'>,
): { used: boolean; transferred: boolean } {
  const ofToken = logs.filter(({ address }) => address === asset.toLowerCase())
  const at = ofToken.findIndex(
    ({ topics }) =>
      topics[0] === AUTHORIZATION_USED && topics[1] === topic(from) && topics[2] === nonce.toLowerCase(),
  )
  if (at < 0) return { used: false, transferred: false }
  const next = ofToken[at + 1]
  const transferred = next !== undefined && isTransfer(next, from, to, value)
  return { used: true, transferred }
}

const isTransfer = ({ topics, data }: ReceiptLog, from: string, to: string, value: bigint) =>
  topics[0] === TRANSFER && topics[1] === topic(from) && topics[2] === topic(to) && readWord(data) === value

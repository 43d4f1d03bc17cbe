// Submits transactions of one account on one chain. They leave one after the other, each with the next nonce; what happens
// to them afterwards holds nobody up.
import type { Hex } from 'ox/Hex'
import type { Secret } from '../../lib/secret.ts'
import { ChainError } from '../ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import { loadSecp256k1 } from '../secp256k1.ts'
import type { ChainRpc } from './chain-rpc.ts'
import type { Fees } from './fees.ts'
import type { RpcReply } from './json-rpc.ts'
import { readQuantity } from './usdc-abi.ts'

/** The state of a transaction after one attempt to put it out. Its hash is known before it leaves. */
export type Broadcast =
  | { readonly state: 'sent'; readonly transaction: string }
  /** The node may have it, or somebody behind the node. */
  | { readonly state: 'doubtful'; readonly transaction: string; readonly reason: string }
  /** Nothing left, or the node said clearly that it did not take it. */
  | { readonly state: 'refused'; readonly reason: string }

export interface Outgoing {
  readonly to: string
  readonly data: string
  /** The most gas that it may burn. */
  readonly gas: bigint
  readonly fees: Fees
}

export interface Settler {
  /** Checksummed. */
  readonly address: string
  /** How many of its transactions have no receipt yet. */
  readonly unmined: () => number
  /** Its oldest transaction has waited too long: others would queue behind it. */
  readonly isStuck: () => boolean
  /** Never throws, never sends twice. */
  broadcast(transaction: Outgoing): Promise<Broadcast>
  /** The transaction has a receipt. */
  forget(transaction: string): void
  /** Looks at what it waits for: mined by now, or dropped by the node. @throws {ChainError} */
  review(): Promise<void>
}

const STUCK_MS = 45_000
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

/** @throws when the key is no private key */
export async function openSettler(parts: {
  key: Secret<string>
  network: PaymentNetwork
  rpc: Pick<ChainRpc, 'ask' | 'submit'>
  now: () => number
}): Promise<Settler> {
  const { key, network, rpc, now } = parts
  const [Address, Secp256k1, TxEnvelope, curve] = await Promise.all([
    import('ox/Address'),
    import('ox/Secp256k1'),
    import('ox/TxEnvelopeEip1559'),
    loadSecp256k1(),
  ])
  const address = key.use((privateKey) =>
    Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey: privateKey as Hex })),
  )
  /** The node is asked for it while this is undefined. */
  let nextNonce: bigint | undefined
  let queue: Promise<unknown> = Promise.resolve()
  const inFlight = new Map<string, { nonce: bigint; at: number }>()

  function sign(nonce: bigint, { to, data, gas, fees }: Outgoing) {
    const envelope = TxEnvelope.from({
      chainId: network.chainId,
      nonce,
      to: to as Hex,
      data: data as Hex,
      gas,
      ...fees,
    })
    const hashOf = (serialized: Hex) => curve.keccak256(bytesOf(serialized))
    const digest = hashOf(TxEnvelope.serialize(envelope))
    const signed = Buffer.from(
      key.use((privateKey) => {
        const secret = bytesOf(privateKey)
        try {
          return curve.sign(digest, secret)
        } finally {
          // Node cuts short buffers from a slab that others see.
          secret.fill(0)
        }
      }),
    )
    const signature = {
      r: hexOf(signed.subarray(0, 32)),
      s: hexOf(signed.subarray(32, 64)),
      yParity: signed.readUInt8(64) - 27,
    }
    const raw = TxEnvelope.serialize(envelope, { signature })
    return { raw, transaction: hexOf(hashOf(raw)) }
  }

  /** @throws {ChainError} */
  async function readNonce(): Promise<bigint> {
    const [reply] = await rpc.ask([{ method: 'eth_getTransactionCount', params: [address, 'pending'] }])
    const counted = reply?.ok ? readQuantity(reply.result) : undefined
    if (counted === undefined) throw new ChainError('refused', network.network)
    // A node may not count yet what another one took a moment ago.
    return [...inFlight.values()].reduce((next, { nonce }) => (nonce >= next ? nonce + 1n : next), counted)
  }

  async function send(request: Outgoing): Promise<Broadcast> {
    let signed: ReturnType<typeof sign>
    let nonce: bigint
    try {
      nonce = nextNonce ??= await readNonce()
      signed = sign(nonce, request)
    } catch {
      return { state: 'refused', reason: 'not_signed' }
    }
    const { raw, transaction } = signed
    const submission = await rpc
      .submit('eth_sendRawTransaction', [raw])
      .catch(() => ({ state: 'not_sent' as const }))
    if (submission.state === 'not_sent') return { state: 'refused', reason: 'chain_unreachable' }
    const judged: Judgement =
      submission.state === 'no_reply' ? { state: 'doubtful', reason: 'no_reply' } : judge(submission.reply)
    if (judged.state === 'sent' || judged.reason === 'already_known') {
      inFlight.set(transaction, { nonce, at: now() })
      nextNonce = nonce + 1n
    } else {
      nextNonce = undefined
    }
    return judged.state === 'refused' ? judged : { ...judged, transaction }
  }

  return {
    address: Address.checksum(address),
    unmined: () => inFlight.size,
    isStuck: () => [...inFlight.values()].some(({ at }) => now() - at > STUCK_MS),
    broadcast(request) {
      const result = queue.then(() => send(request))
      queue = result
      return result
    },
    forget: (transaction) => void inFlight.delete(transaction),
    async review() {
      const waiting = [...inFlight]
      const [count, ...known] = await rpc.ask([
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        ...waiting.map(([hash]) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
      ])
      const mined = count?.ok ? readQuantity(count.result) : undefined
      for (const [i, [transaction, { nonce }]] of waiting.entries()) {
        const reply = known[i]
        const isDropped = reply?.ok === true && reply.result === null
        if ((mined !== undefined && nonce < mined) || isDropped) inFlight.delete(transaction)
      }
      nextNonce = undefined
    },
  }
}

/** Messages of geth, reth, erigon and nethermind that say clearly that the transaction was not taken. */
const REFUSALS =
  /insufficient funds|intrinsic gas|underpriced|less than block base fee|fee cap|gas limit|txpool is full|pool is full|invalid sender|chain ?id|not supported|rate limit|too many requests/i

type Judgement =
  | { readonly state: 'sent' }
  | { readonly state: 'doubtful'; readonly reason: string }
  | { readonly state: 'refused'; readonly reason: string }

function judge(reply: RpcReply): Judgement {
  if (reply.ok) return { state: 'sent' }
  const { message } = reply
  // The node has taken it before: a relay on the way asked twice, for we did not.
  if (/already known|known transaction|already imported|alreadyknown/i.test(message))
    return { state: 'doubtful', reason: 'already_known' }
  // Either somebody else uses the account, or a relay asked twice and the first was mined.
  if (/nonce.{0,10}too low|nonce.{0,20}lower|oldnonce/i.test(message))
    return { state: 'doubtful', reason: 'nonce_too_low' }
  if (REFUSALS.test(message)) return { state: 'refused', reason: 'node_refused' }
  return { state: 'doubtful', reason: 'unclear_answer' }
}

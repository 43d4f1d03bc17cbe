// Decides what became of a payment from the events of its chain, the only witness that is believed. It sends nothing; how a
// chain is asked is the adapters' business.
import type { Logger } from '../lib/log.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { Millis } from '../store/model.ts'
import type { PaymentClaim } from '../store/ports.ts'
import {
  type AuthorizationStatus,
  BEHIND_MS,
  type Chain,
  type ChainBlock,
  type ChainProbe,
  type Eip3009Authorization,
} from './chain-ports.ts'
import type { Payment } from './ports.ts'

/** What is looked for on a chain: an authorization, and since when. A claim is one. */
export type Transfer = Pick<
  PaymentClaim,
  'network' | 'asset' | 'payer' | 'payTo' | 'amount' | 'nonce' | 'validBefore' | 'createdAt'
> & {
  /** When it was found in a block: a node that has no later block cannot say that it is gone. */
  readonly settledAt?: Millis | null
}

export type Evidence =
  /** The money moved, whoever submitted it. */
  | { readonly state: 'paid'; readonly transaction: string; readonly block?: ChainBlock | undefined }
  /** The authorization is spent and the money did not move, nor can it any more. */
  | {
      readonly state: 'void'
      readonly reason: 'authorization_canceled' | 'authorization_used_otherwise' | 'authorization_expired'
    }
  /** The money moved in a block that is not as deep yet as the operator wants it. */
  | { readonly state: 'shallow'; readonly transaction: string }
  /** It is not used, and the token refuses this very transfer as things stand. Said of a payment that was declined. */
  | {
      readonly state: 'barred'
      readonly reason:
        'insufficient_funds' | 'authorization_expired' | 'invalid_exact_evm_transaction_simulation_failed'
    }
  /** It could still be used. */
  | { readonly state: 'unused' }
  /** The chain did not answer, or its node is behind: what it does not show may be in blocks that it has not read yet. */
  | { readonly state: 'unanswered'; readonly isBehind?: true }
  /** No chain of ours, or nothing on it tells this payment from another. */
  | { readonly state: 'unprovable' }

/** Blocks of the last minute may be replaced by others; a payment that has expired for so long is in none of them. */
const REORG_MARGIN_MS = 60_000
/** A chain that mines on demand stands still while nobody pays. Everywhere else the chain's own time says what has expired. */
const IDLE_CHAIN_MS = 6 * 3600_000
/** Clocks of chains differ from ours, and a stranger may have submitted the payment before it was shown to us. */
const LOOK_BACK_MS = 10 * 60_000

const BEHIND: Evidence = { state: 'unanswered', isBehind: true }

/** The newest block of a node. */
interface Head {
  readonly time: Millis
  readonly isBehind: boolean
}

export interface EvidenceReader {
  /**
   * Asks the chain of the claim; never throws.
   * @param transaction where somebody says the payment is: one question instead of five when that is true
   */
  read(claim: Transfer, transaction?: string): Promise<Evidence>
  /**
   * The same about a payment that an upstream declined: where it is not used, the token is asked whether it would take the
   * transfer now. Needs the signature, so that only who has the payment at hand can ask.
   */
  readDeclined(claim: PaymentClaim, payment: Payment): Promise<Evidence>
  /** Whether a chain can say anything about the claim at all. */
  canRead(claim: Transfer): boolean
  /** Whether a transfer counts as soon as it is in a block, so that who saw its receipt needs to ask nobody. */
  countsAtOnce(claim: Transfer): boolean
}

/** @param parts.chains by CAIP-2 id */
export function createEvidenceReader(parts: {
  chains: ReadonlyMap<string, Chain>
  /** Blocks that a transfer must be deep before it counts, by chain id; 1 elsewhere. */
  confirmations?: Readonly<Record<number, number>> | undefined
  now: () => number
  log?: Pick<Logger, 'warn' | 'info'> | undefined
}): EvidenceReader {
  const { chains, confirmations = {}, now, log } = parts
  /** Networks whose node was behind when it was last asked. */
  const behind = new Set<string>()
  const depthFor = ({ network }: Chain) => confirmations[network.chainId] ?? 1

  function chainOf({ network, asset, nonce }: Transfer): Chain | undefined {
    const chain = chains.get(network)
    const isPinned = chain?.network.asset.address.toLowerCase() === asset
    return isPinned && /^0x[0-9a-f]{64}$/.test(nonce) ? chain : undefined
  }

  /** A transfer counts once its block is as deep as the operator wants it. @throws {ChainError} */
  async function atDepth(found: Evidence, chain: Chain): Promise<Evidence> {
    if (found.state !== 'paid' || found.block === undefined || depthFor(chain) <= 1) return found
    const { number } = await chain.head()
    const depth = number - found.block.number + 1n
    return depth >= depthFor(chain) ? found : { state: 'shallow', transaction: found.transaction }
  }

  /** What it means that a transfer is in no block that its node has. */
  function whereUnused({ validBefore, settledAt }: Transfer, chain: Chain, head: Head): Evidence {
    const { time, isBehind } = head
    // Its block may be one that this node, of an old copy perhaps, has not read yet.
    if (typeof settledAt === 'number' && time <= settledAt) return BEHIND
    if (validBefore !== null) {
      const isOver = time > validBefore + REORG_MARGIN_MS
      const isLongOver = chain.minesOnDemand && now() > validBefore + IDLE_CHAIN_MS
      if (isOver || isLongOver) return { state: 'void', reason: 'authorization_expired' }
    }
    return isBehind ? BEHIND : { state: 'unused' }
  }

  /** Says once when a node falls behind, and once when it has caught up. @throws {ChainError} */
  async function headOf(chain: Chain): Promise<Head> {
    const { network } = chain.network
    const { number, time } = await chain.head()
    const isBehind = !chain.minesOnDemand && now() > time + BEHIND_MS
    if (isBehind && !behind.has(network)) {
      behind.add(network)
      log?.warn(
        { network, block: String(number), time: toTimestamp(time) },
        'a node is behind its chain: payments that it does not show wait until it has caught up',
      )
    }
    if (!isBehind && behind.delete(network)) log?.info({ network }, 'a node has caught up with its chain')
    return { time, isBehind }
  }

  /** @throws {ChainError} */
  async function readToken(chain: Chain, { kind }: Payment): Promise<Evidence> {
    // Nothing but the transfer itself says whether the token takes it, and only EIP-3009 transfers are ours to simulate.
    if (kind.type !== 'eip3009') return { state: 'unused' }
    const probe = await chain.probe(kind.authorization, kind.signature, { isDecisive: true })
    // It was used since the chain was asked, or the node contradicts itself.
    if (probe.nonceUsed) return { state: 'unanswered' }
    if (probe.revert === null) return { state: 'unused' }
    const { time } = await chain.head()
    const reason = whyBarred(kind.authorization, probe, time)
    return reason === undefined ? { state: 'unused' } : { state: 'barred', reason }
  }

  const reader: EvidenceReader = {
    canRead: (claim) => chainOf(claim) !== undefined,
    countsAtOnce(claim) {
      const chain = chainOf(claim)
      return chain !== undefined && depthFor(chain) <= 1
    },

    async read(claim, transaction) {
      const chain = chainOf(claim)
      if (!chain) return { state: 'unprovable' }
      const question = {
        from: claim.payer,
        to: claim.payTo,
        value: BigInt(claim.amount),
        nonce: claim.nonce,
        since: claim.createdAt - LOOK_BACK_MS,
      }
      try {
        // Right after a settlement it only matters whether the payment is there, not whether it could still come.
        if (transaction !== undefined) {
          const named = toEvidence(await chain.authorizationStatus({ ...question, transaction }))
          if (named.state === 'paid') return await atDepth(named, chain)
        }
        // The time is asked first: a payment that is unused after its last block can never be used.
        const head = await headOf(chain)
        const found = toEvidence(await chain.authorizationStatus(question))
        return found.state === 'unused' ? whereUnused(claim, chain, head) : await atDepth(found, chain)
      } catch {
        // Any failure means the same: the chain has not answered.
        return { state: 'unanswered' }
      }
    },

    async readDeclined(claim, payment) {
      const found = await reader.read(claim)
      const chain = chainOf(claim)
      if (found.state !== 'unused' || !chain) return found
      const asked = await readToken(chain, payment).catch((): Evidence => ({ state: 'unanswered' }))
      // A transfer that happened between the two questions is read like any other.
      return asked.state === 'unanswered' ? afterwards(await reader.read(claim)) : asked
    },
  }
  return reader
}

/** The chain has shown before that it cannot say whether the token would take it. */
const afterwards = (found: Evidence): Evidence => (found.state === 'unused' ? { state: 'unanswered' } : found)

/** @returns why the token refuses it now; undefined where it only waits for its time */
function whyBarred(
  { value, validAfter, validBefore }: Eip3009Authorization,
  { balance }: ChainProbe,
  time: number,
): Extract<Evidence, { state: 'barred' }>['reason'] | undefined {
  const seconds = BigInt(Math.floor(time / 1000))
  if (seconds <= validAfter) return undefined
  if (seconds >= validBefore) return 'authorization_expired'
  return balance !== null && balance < value
    ? 'insufficient_funds'
    : 'invalid_exact_evm_transaction_simulation_failed'
}

function toEvidence(status: AuthorizationStatus): Evidence {
  switch (status.state) {
    case 'unused':
      return { state: 'unused' }
    case 'canceled':
      return { state: 'void', reason: 'authorization_canceled' }
    case 'used':
      return status.transferred
        ? { state: 'paid', transaction: status.transaction, block: status.block }
        : { state: 'void', reason: 'authorization_used_otherwise' }
  }
}

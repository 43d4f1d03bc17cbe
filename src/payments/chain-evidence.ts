// What became of a payment according to its chain: the only witness that is believed. Sends nothing.
import type { PaymentClaim } from '../store/ports.ts'
import type { AuthorizationFate, Chain } from './ports.ts'

export type Proof =
  /** The money moved, whoever submitted it. */
  | { readonly state: 'paid'; readonly transaction: string }
  /** The authorization is spent and the money did not move, nor can it any more. */
  | {
      readonly state: 'void'
      readonly reason: 'authorization_canceled' | 'authorization_used_otherwise' | 'authorization_expired'
    }
  /** It could still be used. */
  | { readonly state: 'unused' }
  | { readonly state: 'unanswered' }
  /** No chain of ours, or nothing on it tells this payment from another. */
  | { readonly state: 'unprovable' }

/** Blocks of the last minute may be replaced by others; a payment that has expired for so long is in none of them. */
const REORG_MARGIN_MS = 60_000
/** Chains that mine on demand stand still while nobody pays: their latest block says nothing about the time. */
const IDLE_CHAIN_MS = 6 * 3600_000
/** Clocks of chains differ from ours, and a stranger may have submitted the payment before it was shown to us. */
const LOOK_BACK_MS = 10 * 60_000

export interface Prover {
  /** @param transaction where somebody says it is: one question instead of five when that is true */
  prove(claim: PaymentClaim, transaction?: string): Promise<Proof>
  /** Whether a chain can say anything about it. */
  isProvable(claim: PaymentClaim): boolean
}

export function createProver(parts: { chains: ReadonlyMap<string, Chain>; now: () => number }): Prover {
  const { chains, now } = parts

  function chainOf({ network, asset, nonce }: PaymentClaim): Chain | undefined {
    const chain = chains.get(network)
    const isPinned = chain?.network.asset.address.toLowerCase() === asset
    return isPinned && /^0x[0-9a-f]{64}$/.test(nonce) ? chain : undefined
  }

  return {
    isProvable: (claim) => chainOf(claim) !== undefined,

    async prove(claim, transaction) {
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
        // Fresh from its settlement: what matters is whether it is there, not whether it could still come.
        if (transaction !== undefined) {
          const proof = judge(await chain.fateOf({ ...question, transaction }))
          if (proof.state === 'paid') return proof
        }
        // The time first: a payment that is unused after its last block can never be used.
        const isOver = await hasExpired(claim, chain)
        const fate = await chain.fateOf(question)
        const proof = judge(fate)
        return proof.state === 'unused' && isOver ? { state: 'void', reason: 'authorization_expired' } : proof
      } catch {
        // Whatever it was, the chain has not answered.
        return { state: 'unanswered' }
      }
    },
  }

  async function hasExpired({ validBefore }: PaymentClaim, chain: Chain): Promise<boolean> {
    if (validBefore === null) return false
    const { time } = await chain.head()
    return time > validBefore + REORG_MARGIN_MS || now() > validBefore + IDLE_CHAIN_MS
  }
}

function judge(fate: AuthorizationFate): Proof {
  switch (fate.state) {
    case 'unused':
      return { state: 'unused' }
    case 'canceled':
      return { state: 'void', reason: 'authorization_canceled' }
    case 'used':
      return fate.transferred
        ? { state: 'paid', transaction: fate.transaction }
        : { state: 'void', reason: 'authorization_used_otherwise' }
  }
}

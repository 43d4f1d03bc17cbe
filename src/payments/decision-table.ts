// The one table that decides a settlement: what an upstream answered, against what the chain shows. It only looks up; who
// asks and who writes are settlements.ts and claim-store.ts.
//
//              money moved  spent     mined, but  token says  could still  chain      no chain
//              for good     for good  too shallow no for now  be used      is silent  can tell
//   settled    settled      failed    shallow     unproven    unproven     unproven   trusted
//   pending    settled      failed    shallow     pending     pending      pending    pending
//   refused    settled      failed    shallow     failed      failed       unsent     failed
//   declined   settled      failed    shallow     watched     again        unknown    failed
//   reverted   settled      failed    shallow     watched     unknown      unknown    failed
//   used       settled      failed    shallow     unknown     unknown      unknown    failed
//   unknown    settled      failed    shallow     unknown     unknown      unknown    unknown
import type { Evidence } from './chain-evidence.ts'
import type { UpstreamSettlement } from './ports.ts'

/** An upstream's answer, as far as it matters to the ending. */
export type AnswerKind =
  | 'settled'
  | 'pending'
  /** Nothing left: nobody has the payment. */
  | 'refused'
  /** A clear no from an upstream that has the payment. */
  | 'declined'
  /** The same, and a transaction that reverted was paid for: sending it once more would cost as much again. */
  | 'reverted'
  /** The same because the authorization was used before: the chain has to show by whom, or else its node is behind. */
  | 'used'
  /** No answer that can be read, or none yet. */
  | 'unknown'

/** What is written about the claim, and so what its buyer is told. */
export type Ending =
  /** Claim `settled`; the result is released. */
  | 'settled'
  /** Claim `settled` by the upstream's word alone, once for a transaction. */
  | 'trusted'
  /** Claim `failed` for good; 402 with `Payment-Response`, and the buyer may pay again. */
  | 'failed'
  /**
   * Claim `failed` for now; the same answer. Who has the authorization can use it until it expires, should the payer come to
   * money: the claim keeps its result, and settles late when the chain shows the transfer.
   */
  | 'watched'
  /** Claim `pending`, its transaction named; 503, and the buyer must not pay again. */
  | 'pending'
  | 'shallow'
  /** Claim `unknown`; 503, and the buyer must not pay again. */
  | 'unknown'
  /** Claim `unknown`: an upstream says settled and the chain does not. */
  | 'unproven'
  /** Claim `unknown`, and `failed` as soon as the chain says that it is unused. */
  | 'unsent'
  /** Nothing is written: the payment goes out once more, to nobody who has not had it. The second time it is `unknown`. */
  | 'again'

export const DECISIONS: Readonly<Record<AnswerKind, Readonly<Record<Evidence['state'], Ending>>>> = {
  settled: {
    paid: 'settled',
    void: 'failed',
    shallow: 'shallow',
    barred: 'unproven',
    unused: 'unproven',
    unanswered: 'unproven',
    unprovable: 'trusted',
  },
  pending: {
    paid: 'settled',
    void: 'failed',
    shallow: 'shallow',
    barred: 'pending',
    unused: 'pending',
    unanswered: 'pending',
    unprovable: 'pending',
  },
  refused: {
    paid: 'settled',
    void: 'failed',
    shallow: 'shallow',
    barred: 'failed',
    unused: 'failed',
    unanswered: 'unsent',
    unprovable: 'failed',
  },
  declined: {
    paid: 'settled',
    void: 'failed',
    shallow: 'shallow',
    // Its own no is no evidence, the chain's is: the token refuses this very transfer now.
    barred: 'watched',
    // The chain would take it, so it may be settled at any moment: the buyer must not pay again.
    unused: 'again',
    unanswered: 'unknown',
    unprovable: 'failed',
  },
  reverted: {
    paid: 'settled',
    void: 'failed',
    shallow: 'shallow',
    barred: 'watched',
    // A wallet that is a contract can say yes to every question and no to the transaction, as often as it is sent.
    unused: 'unknown',
    unanswered: 'unknown',
    unprovable: 'failed',
  },
  used: {
    paid: 'settled',
    void: 'failed',
    shallow: 'shallow',
    barred: 'unknown',
    unused: 'unknown',
    unanswered: 'unknown',
    unprovable: 'failed',
  },
  unknown: {
    paid: 'settled',
    void: 'failed',
    shallow: 'shallow',
    // Nobody said no: it may be on its way, and go through when the payer comes to money.
    barred: 'unknown',
    unused: 'unknown',
    unanswered: 'unknown',
    unprovable: 'unknown',
  },
}

/** Reasons of x402 facilitators that say that the authorization was seen before. */
const USED = /nonce_already_used|duplicate_settlement|already_settled|authorization_used/

/** Id of the upstream in this process, whose gas is the operator's. */
export const LOCAL = 'local'
/** The reason of x402 facilitators for a transaction that is in a block and reverted. */
export const REVERTED = 'invalid_exact_evm_transaction_failed'

/** @param wasSent the upstream has had the payment before: then a refusal does not mean that nothing left */
export function kindOf(answer: UpstreamSettlement, wasSent = false): AnswerKind {
  switch (answer.state) {
    case 'refused':
      return wasSent ? 'declined' : 'refused'
    case 'failed':
      if (answer.reason === REVERTED) return 'reverted'
      return USED.test(answer.reason) ? 'used' : 'declined'
    default:
      return answer.state
  }
}

/** The ending of a payment that went out once. */
export const decide = (answer: UpstreamSettlement, found: Evidence): Ending =>
  DECISIONS[kindOf(answer)][found.state]

/** The ending of a payment that went out twice, or that there was no time to send again. */
export function decideFinally(answer: UpstreamSettlement, found: Evidence): Exclude<Ending, 'again'> {
  const ending = DECISIONS[kindOf(answer, true)][found.state]
  return ending === 'again' ? 'unknown' : ending
}

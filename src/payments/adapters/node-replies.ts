// Reads what a node says of a transaction that it was handed. Every client words it in its own way, and only words that say
// clearly that nothing was taken are believed to say so.
import type { Submission } from './json-rpc.ts'

export type Judgement =
  /** The node has it. */
  | { readonly state: 'taken'; readonly wasKnown: boolean }
  /** The node may have it, or somebody behind the node. */
  | { readonly state: 'doubtful'; readonly reason: 'no_reply' | 'unclear_answer' }
  /** A transaction with this nonce is in a block: another one, or this one where a relay on the way asked twice. */
  | { readonly state: 'nonce_used' }
  /** Another transaction with this nonce waits at the node, and offers as much. This one was not taken. */
  | { readonly state: 'nonce_taken' }
  /** This one was not taken, for another reason. */
  | { readonly state: 'refused'; readonly reason: 'chain_unreachable' | 'out_of_gas' | 'node_refused' }

const KNOWN = /already known|known transaction|already imported|alreadyknown/i
const NONCE_USED = /nonce.{0,10}too low|nonce.{0,20}lower|oldnonce/i
const NONCE_TAKEN = /replacement.{0,30}(underpriced|not ?allowed)|replacement fee too low/i
const OUT_OF_GAS = /insufficient (funds|balance)/i
/** Messages of geth, reth, erigon, nethermind and besu that say clearly that the transaction was not taken. */
const REFUSALS =
  /intrinsic gas|underpriced|less than block base fee|fee cap|gas limit|txpool is full|pool is full|invalid sender|chain ?id|not supported|rate limit|too many requests|nonce.{0,10}too (high|distant|far)/i

/** @param submission what came of handing a signed transaction to a node */
export function judgeSubmission(submission: Submission): Judgement {
  if (submission.state === 'not_sent') return { state: 'refused', reason: 'chain_unreachable' }
  if (submission.state === 'no_reply') return { state: 'doubtful', reason: 'no_reply' }
  const { reply } = submission
  if (reply.ok) return { state: 'taken', wasKnown: false }
  const { message } = reply
  if (KNOWN.test(message)) return { state: 'taken', wasKnown: true }
  if (NONCE_USED.test(message)) return { state: 'nonce_used' }
  if (NONCE_TAKEN.test(message)) return { state: 'nonce_taken' }
  if (OUT_OF_GAS.test(message)) return { state: 'refused', reason: 'out_of_gas' }
  if (REFUSALS.test(message)) return { state: 'refused', reason: 'node_refused' }
  return { state: 'doubtful', reason: 'unclear_answer' }
}

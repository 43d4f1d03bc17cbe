// Decides what happens next to a transaction that has left and is not in a block yet. Pure: time and the node's answers are
// arguments; settler.ts asks and acts.
import type { Fees } from './fees.ts'
import type { Call, SignedTransaction } from './transaction-signer.ts'

/** One signed form of a transaction. All forms of one entry do the same, and an authorization is spent once. */
export interface Version extends SignedTransaction {
  readonly nonce: bigint
  readonly fees: Fees
}

/** What the settler keeps of a transaction until it is in a block or nobody needs it any more. */
export interface Entry {
  call: Call
  /** Fillers do nothing but use up a nonce that others wait behind. */
  isFiller: boolean
  /** Whether it would still do what it is for. @throws {ChainError} */
  readonly isWanted: () => Promise<boolean>
  /** The newest first; any of them may be mined. */
  versions: [Version, ...Version[]]
  /** Milliseconds: when it began to wait under this nonce, and when it was put out last. */
  since: number
  sentAt: number
  /** The node never said that it has it. */
  isDoubtful: boolean
  /** The node has not answered yet what it was handed first: it is left alone until then. */
  isAwaited: boolean
  /** The node said that somebody else's transaction waits under its nonce. */
  isOccupied: boolean
  /** How often it got another nonce because somebody else had used its own. */
  moves: number
  /** Once its nonce was used and none of its versions was found: one answer alone may be of a node that lags behind. */
  isMissed: boolean
}

/** How many transactions of the account are in blocks, and how many with those that wait without a gap. */
export interface Counts {
  readonly mined: bigint
  readonly pending: bigint
}

/** The nonce under which it stands now. */
export const nonceOf = ({ versions: [{ nonce }] }: Entry): bigint => nonce

export type Step = 'wait' | 'look_for_receipt' | 'send_again' | 'raise_fees'

/** A node may not show for so long what another node behind the same address has taken. */
const SETTLES_IN_MS = 2_000
/** Less than there is between two looks (settler.ts): a timer may ring a moment early, and the look after it is too late for the call. */
const DOUBT_MS = 750
/** A transaction that waits for so long needs more fees, where the market asks for more; and in any case after three times. */
export const RAISE_AFTER_MS = 20_000

/** Whether it is time to ask the node about the entry at all. */
export const isRipe = ({ sentAt, isDoubtful, isAwaited }: Entry, now: number): boolean =>
  !isAwaited && now - sentAt >= (isDoubtful ? DOUBT_MS : SETTLES_IN_MS)

/** @param isKnown whether the node has a version of the entry; undefined where it did not say */
export function decideStep(entry: Entry, { mined }: Counts, isKnown: boolean | undefined, now: number): Step {
  if (nonceOf(entry) < mined) return 'look_for_receipt'
  if (isKnown === false) return 'send_again'
  // Those behind the first one wait for it, whatever they offer.
  return isKnown === true && nonceOf(entry) === mined && now - entry.sentAt >= RAISE_AFTER_MS
    ? 'raise_fees'
    : 'wait'
}

/** Nonces in front of all of ours that nothing of ours will use. */
export type Obstacle =
  /** The node has nothing there, so nothing behind it is ever mined. */
  | { readonly state: 'gap'; readonly first: bigint; readonly last: bigint }
  /** A transaction of a former process, or one that was sent by hand, waits there. */
  | { readonly state: 'occupied'; readonly first: bigint }

/** @param nonces that our transactions have; @returns undefined where one of ours is the next in line */
export function findObstacle(nonces: readonly bigint[], { mined, pending }: Counts): Obstacle | undefined {
  const [first, ...others] = nonces
  if (first === undefined) return undefined
  const lowest = others.reduce((least, nonce) => (nonce < least ? nonce : least), first)
  if (lowest <= mined) return undefined
  if (pending >= lowest) return { state: 'occupied', first: mined }
  return { state: 'gap', first: pending > mined ? pending : mined, last: lowest - 1n }
}

/**
 * Fees with which a transaction takes the place of an older one: nodes ask for a tenth more on both, some for an eighth.
 * @param market what the next blocks ask; undefined where that is above the cap
 * @returns undefined when the cap does not allow it
 */
export function raiseFees(old: Fees, market: Fees | undefined, cap: bigint): Fees | undefined {
  const least = { max: eighthMore(old.maxFeePerGas), tip: eighthMore(old.maxPriorityFeePerGas) }
  if (!market || least.max > cap) return undefined
  const maxFeePerGas = max(least.max, market.maxFeePerGas)
  const tip = max(least.tip, market.maxPriorityFeePerGas)
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas }
}

const eighthMore = (fee: bigint) => (fee * 9n) / 8n + 1n
const max = (a: bigint, b: bigint) => (a > b ? a : b)

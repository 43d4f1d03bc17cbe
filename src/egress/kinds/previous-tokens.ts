// Tokens that were minted before the one in use: an upstream shows in its logs what it was sent, and a token lives on when another took its
// place. So answers are searched for all that live, and a token that is refused is replaced only while there is room for one more of them.
import type { Secret } from '../../lib/secret.ts'
import { SOUGHT_BYTES_HERE } from '../leak/inspection.ts'
import { countBytes } from '../leak/search.ts'
import { isMinted, type KeptTokens, type MintedTokens, type PreviousToken } from './token-seal.ts'

/**
 * A token that an upstream refuses sooner is not worn out: asking anew at each refusal would be a way to flood the provider. It is twice as
 * long for each earlier token that still lives, or refusals would push those out of what answers are searched for.
 */
const TRUSTED_MS = 60_000
/** For a token of which nobody says when it ends. */
export const LONGEST_LIFETIME_MS = 30 * 24 * 3600_000
/** More than refusals bring about while one of them lives, which is a year at most (`TRUSTED_MS`). Each is a search of its own. */
const MOST_PREVIOUS = 20
/** Where nobody says when they end there is another one every quarter of an hour: the oldest go first. */
const MOST_PREVIOUS_UNTOLD = 4
/** So many are there whatever their size. */
const PREVIOUS_OF_ANY_SIZE = 4

/** A token that an upstream refused. */
export interface RefusedToken {
  readonly accessToken: Secret<string>
  /** Tokens before it that may still live. */
  readonly previous: readonly PreviousToken[]
  /** Of all that its answer was searched for: itself, the tokens before it, the secret. */
  readonly soughtBytes: number
}

/** @returns for how many milliseconds from its minting it is not believed to be worn out; undefined: until one before it ends */
export function trustedFor(refused: RefusedToken, at: number): number | undefined {
  const living = stillLiving(refused.previous, at).length
  if (living >= PREVIOUS_OF_ANY_SIZE && !hasRoom(refused)) return undefined
  return TRUSTED_MS * 2 ** living
}

/**
 * What the next row has of the tokens before it, the newest first.
 * @param endIsTold whether the provider says when tokens end
 */
export function previousTo(
  held: KeptTokens | undefined,
  at: number,
  { endIsTold }: { readonly endIsTold: boolean },
): PreviousToken[] {
  if (!held) return []
  const all = isMinted(held) ? previousOf(held, at) : held.previous
  return stillLiving(all, at).slice(0, endIsTold ? MOST_PREVIOUS : MOST_PREVIOUS_UNTOLD)
}

function previousOf({ accessToken, expiresAt, previous }: MintedTokens, at: number): PreviousToken[] {
  const last = { token: accessToken, expiresAt: expiresAt ?? at + LONGEST_LIFETIME_MS }
  return [last, ...previous]
}

export const stillLiving = (previous: readonly PreviousToken[], at: number): PreviousToken[] =>
  previous.filter(({ expiresAt }) => expiresAt > at)

/**
 * Whether another token of its size can be searched for without a thread, which makes each search anew and finds no secret that comes in
 * parts over the pieces of a stream.
 */
const hasRoom = ({ soughtBytes, accessToken }: RefusedToken): boolean =>
  soughtBytes + countBytes([accessToken]) <= SOUGHT_BYTES_HERE

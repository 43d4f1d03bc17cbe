// Which open mandates a closed one of 0.2 was made under.
import { nameHash } from '../decode/sd-jwt.ts'
import { member, pickText } from '../decode/value.ts'
import type { Found } from '../ports.ts'
import { familyOf, isClosed, isOpen, type Ap2Sights, type Chain, type ChainToken } from './detect.ts'

/** A closed mandate, and the open ones that bound it. */
export interface Grant {
  readonly chain: Chain
  readonly closed: ChainToken
  /** In the order of the chain; none where a person signed the closed mandate, or nothing of it came along. */
  readonly opens: readonly ChainToken[]
}

/** Every closed mandate of a message, the nearest to the money first. */
export const listGrants = (sights: Ap2Sights): Grant[] =>
  sights.chains.flatMap((chain) =>
    chain.tokens
      .filter(isClosed)
      .map((closed) => ({ chain, closed, opens: findOpens(sights, chain, closed) })),
  )

/** Those before it in its chain; without any, the first open one of the same family elsewhere in the message. */
export function findOpens(
  { chains }: Ap2Sights,
  { tokens }: Chain,
  closed: ChainToken | undefined,
): readonly ChainToken[] {
  if (closed === undefined) return []
  const before = tokens.slice(0, tokens.indexOf(closed)).filter(isOpen)
  const claim = readHashClaim(closed)
  if (before.length > 0 || claim === null) return before
  const candidates = chains
    .flatMap((other) => other.tokens)
    .filter((one) => isOpen(one) && familyOf(one) === familyOf(closed))
  const bound = candidates.find((one) => isHashOf(claim, one, closed))
  return [bound ?? candidates[0]].filter((one) => one !== undefined)
}

/** What a token says that it was made under. */
export interface HashClaim extends Found<string> {
  /** `issuer_jwt_hash` leaves the disclosures out, so that they may be fewer later. */
  readonly name: 'sd_hash' | 'issuer_jwt_hash'
}

/** Null where a token is bound to none before it. */
export function readHashClaim({ token }: ChainToken): HashClaim | null {
  const from = token.keyBinding ?? token.payload
  for (const name of ['sd_hash', 'issuer_jwt_hash'] as const) {
    const found = pickText(from, name)
    if (found !== null) return { ...found, name }
  }
  return null
}

/** Whether a claim is the hash of a token, by the algorithm of that token or of the one that claims it. */
export function isHashOf(claim: HashClaim, one: ChainToken, claiming: ChainToken): boolean {
  const algorithms = new Set(
    [one, claiming].map(({ token }) => nameHash(member(token.payload.value, '_sd_alg'))),
  )
  return [...algorithms].some(
    (algorithm) =>
      (claim.name === 'sd_hash' ? one.digest(algorithm) : one.issuerDigest(algorithm)) === claim.value,
  )
}

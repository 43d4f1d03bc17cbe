// AP2 0.2: hashes recomputed with no key (transaction_id, sd_hash, disclosures), and every closed mandate held against the open ones
// that it was made under, and against the checkout that it is for.
import { bind, compareHosts, toUrl } from '../compare.ts'
import { nameHash } from '../decode/sd-jwt.ts'
import { member, pickList, pickText, pointer } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Binding, Message } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import { bindV01 } from './bind-v01.ts'
import { type Closed, comparePaid, judgeConstraint, judgePresets, readConstraint } from './constraints.ts'
import {
  type Ap2Sights,
  type Chain,
  type ChainToken,
  type CheckoutJwt,
  digestText,
  familyOf,
  isOpen,
  readCheckout,
} from './detect.ts'
import type { Ap2Constraint, Ap2Facts } from './facts.ts'
import { type Grant, isHashOf, listGrants, readHashClaim } from './grants.ts'
import { readTimes } from './read.ts'
import { bindSignatures } from './verify.ts'

/** Mandates of 0.1 sign nothing that could be recomputed but the hash of a cart. */
export function bindAp2({ facts, reading: { message } }: Stated<Ap2Facts>): Binding[] {
  const { sights } = facts
  if (facts.version !== '0.2') return bindV01(sights)
  const grants = listGrants(sights)
  const { checkouts } = sights
  return [
    ...grants.flatMap((grant) => bindTransaction(grant, checkouts)),
    ...sights.chains.flatMap((chain) => bindHashes(chain, grants)),
    ...bindSignatures(sights, grants),
    ...bindDisclosures(sights),
    ...grants.flatMap((grant) => bindGrant(grant, sights, checkouts)),
    ...sights.chains.flatMap(bindWindows),
    ...bindAudience(facts, message),
    ...bindCheckout(sights, message),
    ...bindV01(sights),
  ]
}

const algorithmOf = ({ token }: ChainToken): string => nameHash(member(token.payload.value, '_sd_alg'))

/** `transaction_id` of a payment mandate, `checkout_hash` of a checkout mandate. */
const readIdentity = ({ mandate }: ChainToken) =>
  pickText(mandate, 'transaction_id') ?? pickText(mandate, 'checkout_hash')

/** Checkouts that a closed mandate may be for: its own, and all of them for a payment. */
const checkoutsOf = ({ closed }: Grant, checkouts: readonly CheckoutJwt[]): readonly CheckoutJwt[] =>
  familyOf(closed) === 'checkout' ? checkouts.filter(({ carrier }) => carrier === closed) : checkouts

function findCheckoutOf(grant: Grant, checkouts: readonly CheckoutJwt[]): CheckoutJwt | undefined {
  const identity = readIdentity(grant.closed)
  return checkoutsOf(grant, checkouts).find((one) =>
    [algorithmOf(grant.closed), algorithmOf(one.carrier)].some(
      (algorithm) => one.digest(algorithm) === identity?.value,
    ),
  )
}

/** The identity of a mandate is the digest of the merchant's checkout_jwt, whose amount and merchant are those that are paid. */
function bindTransaction(grant: Grant, checkouts: readonly CheckoutJwt[]): Binding[] {
  const identity = readIdentity(grant.closed)
  if (identity === null) return []
  const [first] = checkoutsOf(grant, checkouts)
  const result = (verdict: Binding['verdict'], other: string, text: string) =>
    bind('hash', verdict, identity.at, other, text)
  if (first === undefined)
    return [result('unverifiable', identity.at, 'The checkout that the mandate is for did not come along.')]
  const found = findCheckoutOf(grant, checkouts)
  if (found === undefined)
    return [result('mismatch', first.at, 'The mandate is for another checkout than the one beside it.')]
  const payload = readCheckout(found)
  return [
    result('match', found.at, 'The mandate is for this checkout.'),
    ...(payload === null || familyOf(grant.closed) !== 'payment'
      ? []
      : comparePaid(grant.closed.mandate, payload).map(({ kind, at, with: other, judged: [verdict, text] }) =>
          bind(kind, verdict, at, other, text),
        )),
  ]
}

/** Every token behind the first names the one before it by `sd_hash` or `issuer_jwt_hash`; a key binding JWT its own token. */
function bindHashes(chain: Chain, grants: readonly Grant[]): Binding[] {
  const tokens = chain.tokens.filter(({ token }, index, all) => all[index - 1]?.token !== token)
  return tokens.flatMap((one, index) => {
    const claim = readHashClaim(one)
    if (claim === null) return []
    const result = (verdict: Binding['verdict'], other: string, text: string) => [
      bind('hash', verdict, claim.at, other, text),
    ]
    const before = tokens[index - 1]
    const elsewhere = grants.find(({ closed }) => closed.token === one.token)?.opens[0]
    const target = one.token.keyBinding === null ? (before ?? elsewhere) : one
    if (target === undefined)
      return result('unverifiable', claim.at, 'The open mandate it was made under did not come along.')
    const prefix = tokens
      .slice(0, index)
      .map(({ token }) => token.presented)
      .join('~')
    const isSame =
      isHashOf(claim, target, one) ||
      (index > 1 && claim.name === 'sd_hash' && digestText(algorithmOf(one), prefix) === claim.value)
    return result(
      isSame ? 'match' : 'mismatch',
      target.token.at,
      isSame
        ? `${claim.name} is that of the open mandate.`
        : `${claim.name} is not that of the open mandate beside it.`,
    )
  })
}

/** A disclosure that no digest stands for was not signed by anybody. */
function bindDisclosures({ chains }: Ap2Sights): Binding[] {
  const tokens = chains.flatMap((chain) =>
    chain.tokens.filter(({ token }, index, all) => all[index - 1]?.token !== token),
  )
  return tokens.flatMap(({ token, unmatched, irregular }) => {
    if (token.disclosures.length + token.unreadableDisclosures + irregular === 0) return []
    const isWhole = token.unreadableDisclosures + unmatched + irregular === 0
    return [
      bind(
        'hash',
        isWhole ? 'match' : 'mismatch',
        pointer(token.at, 'disclosures'),
        token.at,
        isWhole
          ? 'Every disclosure belongs to the token.'
          : irregular > 0
            ? 'A disclosure is there twice, or takes the place of something that was signed.'
            : 'A disclosure belongs to nothing that was signed.',
      ),
    ]
  })
}

/** A closed mandate against all that the open ones before it say. */
function bindGrant(grant: Grant, sights: Ap2Sights, checkouts: readonly CheckoutJwt[]): Binding[] {
  const { closed, opens } = grant
  const family = familyOf(closed) ?? ''
  const own = checkouts.find(({ carrier }) => carrier === closed)
  const claims: Closed = {
    mandate: closed.mandate,
    issuedAt: readTimes(closed).issuedAt,
    checkout: readCheckout(own),
  }
  const place = closed.mandate?.at ?? closed.token.at
  return opens.flatMap((open) => {
    if (open.mandate === null) return []
    if (familyOf(open) !== family)
      return [
        bind(
          'constraint',
          'mismatch',
          open.mandate.at,
          place,
          'The open mandate is not for what the closed one does.',
        ),
      ]
    const constraints = pickList(open.mandate, 'constraints').map(readConstraint)
    const listed = member(open.mandate.value, 'constraints')
    return [
      ...constraints.map((constraint) =>
        constraint.type?.value === 'payment.reference' && family === 'payment'
          ? bindReference(constraint, grant, sights)
          : bind('constraint', ...swap(judgeConstraint(constraint, family, claims), constraint.at, place)),
      ),
      ...(Array.isArray(listed) && listed.length > constraints.length
        ? [
            bind(
              'constraint',
              'unverifiable',
              pointer(open.mandate.at, 'constraints'),
              place,
              'The open mandate has more constraints than are read.',
            ),
          ]
        : []),
      ...judgePresets(open.mandate, claims).map(({ found, judged }) =>
        bind('constraint', ...swap(judged, found.at, place)),
      ),
    ]
  })
}

const swap = (
  [verdict, text]: readonly [Binding['verdict'], string],
  at: string,
  other: string,
): [Binding['verdict'], string, string, string] => [verdict, at, other, text]

/**
 * The checkout that a payment is conditional on: the open mandate in the chain of the checkout that was approved, or any where none
 * of those beside it is.
 */
function bindReference(constraint: Ap2Constraint, { closed }: Grant, { chains }: Ap2Sights): Binding {
  const wanted = constraint.conditionalTransactionId
  const identity = pickText(closed.mandate, 'transaction_id')?.value
  const approved = chains.filter(({ tokens }) =>
    tokens.some(
      ({ mandate }) => identity !== undefined && member(mandate?.value, 'checkout_hash') === identity,
    ),
  )
  const opens = (approved.length > 0 ? approved : chains)
    .flatMap(({ tokens }) => tokens)
    .filter((one) => isOpen(one) && familyOf(one) === 'checkout')
  const [first] = opens
  if (wanted === null || first === undefined)
    return bind(
      'constraint',
      'unverifiable',
      constraint.at,
      closed.token.at,
      'payment.reference: the checkout mandate it refers to did not come along.',
    )
  const isSame = opens.some((one) => one.digest(algorithmOf(one)) === wanted.value)
  return bind(
    'constraint',
    isSame ? 'match' : 'mismatch',
    wanted.at,
    first.token.at,
    isSame
      ? 'The payment is for the checkout mandate beside it.'
      : 'The payment is for another checkout mandate than the one beside it.',
  )
}

/** Clocks of two machines differ by this much: a person and an agent sign on two. The reference implementation allows as much. */
const SKEW_SECONDS = 300

/** Whether each token can be valid at all, and was made while the open mandates before it were. */
function bindWindows({ tokens }: Chain): Binding[] {
  const read = tokens.map((one) => ({ ...readTimes(one), isOpen: isOpen(one), at: one.token.at }))
  return read.flatMap((one, index) => {
    const { issuedAt, expiresAt } = one
    if (issuedAt === null) return []
    const never = expiresAt !== null && expiresAt.value <= issuedAt.value
    const outside = read
      .slice(0, index)
      .find(
        (open) =>
          open.isOpen &&
          ((open.expiresAt !== null && issuedAt.value > open.expiresAt.value + SKEW_SECONDS) ||
            (open.issuedAt !== null && issuedAt.value < open.issuedAt.value - SKEW_SECONDS)),
      )
    return [
      ...(never
        ? [bind('constraint', 'mismatch', expiresAt.at, issuedAt.at, 'A mandate ends before it begins.')]
        : []),
      ...(outside === undefined
        ? []
        : [
            bind(
              'constraint',
              'mismatch',
              issuedAt.at,
              outside.expiresAt?.at ?? outside.at,
              'A mandate was made outside the window of the open one that it was made under.',
            ),
          ]),
    ]
  })
}

/** `aud` is often a role; where it is a URL, it is where the mandate may go. */
function bindAudience({ closed }: Ap2Facts, message: Message): Binding[] {
  const target = message.target.url
  const aud = closed?.aud ?? null
  const url = aud !== null && /^https?:\/\//i.test(aud.value) ? toUrl(aud.value) : undefined
  if (aud === null || url === undefined || target === undefined) return []
  const verdict = compareHosts(target, url.host)
  return [
    bind(
      'host',
      verdict,
      aud.at,
      '/target',
      verdict === 'mismatch'
        ? 'The mandate was made for another audience than the target.'
        : 'The mandate was made for the host of the target.',
    ),
  ]
}

/** The checkout that the merchant signed is the one that the request completes. */
function bindCheckout(sights: Ap2Sights, message: Message): Binding[] {
  const id = pickText(readCheckout(sights.checkouts[0]), 'id')
  const segments = message.target.url?.pathname.split('/') ?? []
  const index = segments.indexOf('checkout-sessions')
  const named = index < 0 ? undefined : segments[index + 1]
  const inArguments = pickText(jsonBody(message), 'params', 'arguments', 'id')
  const other = named !== undefined && named !== '' ? { value: named, at: '/target' } : inArguments
  if (id === null || other === null) return []
  const isSame = id.value === other.value
  return [
    bind(
      'resource',
      isSame ? 'match' : 'mismatch',
      id.at,
      other.at,
      isSame
        ? 'The signed checkout is the one of the request.'
        : 'The signed checkout is another one than that of the request.',
    ),
  ]
}

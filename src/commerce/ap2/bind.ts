// AP2 0.2: three hashes recomputed with no key (transaction_id, sd_hash, disclosures), and the closed mandate held against the
// constraints of the open one.
import { nameHash } from '../decode/sd-jwt.ts'
import { member, pickText, pointer } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import { bind, compareHosts, compareIntegers, toUrl } from '../compare.ts'
import type { Binding, Message } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import { isSamePayee } from './read.ts'
import { type Ap2Sights, digestText, findCheckoutJwt, isOpenVct, leading, type ChainToken } from './detect.ts'
import { readJws } from '../decode/jws.ts'
import type { Ap2Constraint, Ap2Facts } from './facts.ts'

/** Mandates of 0.1 have none, because what they sign cannot be recomputed. */
export function bindAp2({ facts, reading: { message } }: Stated<Ap2Facts>): Binding[] {
  if (facts.version !== '0.2') return []
  const { sights } = facts
  return [
    ...bindTransaction(facts),
    ...bindOpen(sights),
    ...bindDisclosures(sights),
    ...facts.constraints.flatMap((constraint) => bindConstraint(constraint, facts)),
    ...bindAudience(facts, message),
    ...bindCheckout(sights, message),
  ]
}

/** `transaction_id` and `checkout_hash` are the digest of the merchant's checkout_jwt. */
function bindTransaction({ transactionId, sights }: Ap2Facts): Binding[] {
  if (transactionId === null) return []
  const checkout = findCheckoutJwt(sights)
  if (checkout === undefined)
    return [
      bind(
        'hash',
        'unverifiable',
        transactionId.at,
        transactionId.at,
        'The checkout that the mandate is for did not come along.',
      ),
    ]
  const algorithm = nameHash(member(checkout.token.payload.value, '_sd_alg'))
  const isSame = digestText(algorithm, checkout.value) === transactionId.value
  return [
    bind(
      'hash',
      isSame ? 'match' : 'mismatch',
      transactionId.at,
      checkout.at,
      isSame
        ? 'The mandate is for this checkout.'
        : 'The mandate is for another checkout than the one beside it.',
    ),
  ]
}

/** Every closed mandate names the open one it was made under by `sd_hash`. */
function bindOpen({ chains }: Ap2Sights): Binding[] {
  const everywhere = chains.flatMap(({ tokens }) => tokens)
  return chains.flatMap((chain) => {
    const closed = leading(chain)
    if (closed === undefined || closed.vct === null || isOpenVct(closed.vct.value)) return []
    const { token } = closed
    const sdHash = pickText(token.keyBinding ?? token.payload, 'sd_hash')
    if (sdHash === null) return []
    const algorithm = nameHash(member(token.payload.value, '_sd_alg'))
    const result = (verdict: Binding['verdict'], other: string, text: string) =>
      bind('hash', verdict, sdHash.at, other, text)
    const candidates =
      token.keyBinding !== null ? [closed] : findOpens(chain.tokens, closed, closed.vct.value, everywhere)
    const [first] = candidates
    if (first === undefined)
      return [result('unverifiable', sdHash.at, 'The open mandate it was made under did not come along.')]
    const before = chain.tokens
      .slice(0, chain.tokens.indexOf(closed))
      .map((one) => one.token.presented)
      .join('~')
    const isSame =
      candidates.some((one) => one.digest(algorithm) === sdHash.value) ||
      (before !== '' && digestText(algorithm, before) === sdHash.value)
    return [
      result(
        isSame ? 'match' : 'mismatch',
        first.token.at,
        isSame
          ? 'sd_hash is that of the open mandate.'
          : 'sd_hash is not that of the open mandate beside it.',
      ),
    ]
  })
}

/** Those before it in its chain; without any, open ones of the same family elsewhere in the message. */
function findOpens(
  chain: readonly ChainToken[],
  closed: ChainToken,
  closedVct: string,
  everywhere: readonly ChainToken[],
): ChainToken[] {
  const before = chain.slice(0, chain.indexOf(closed))
  if (before.length > 0) return before
  const family = closedVct.split('.')[1]
  return everywhere.filter(
    ({ vct }) => vct !== null && isOpenVct(vct.value) && vct.value.split('.')[1] === family,
  )
}

/** A disclosure that no digest stands for was not signed by anybody. */
function bindDisclosures({ chains }: Ap2Sights): Binding[] {
  const tokens = chains.flatMap((chain) => chain.tokens)
  return tokens.flatMap(({ token, unmatched }) => {
    if (token.disclosures.length + token.unreadableDisclosures === 0) return []
    const isWhole = token.unreadableDisclosures === 0 && unmatched === 0
    return [
      bind(
        'hash',
        isWhole ? 'match' : 'mismatch',
        pointer(token.at, 'disclosures'),
        token.at,
        isWhole
          ? 'Every disclosure belongs to the token.'
          : 'A disclosure belongs to nothing that was signed.',
      ),
    ]
  })
}

function bindConstraint(constraint: Ap2Constraint, facts: Ap2Facts): Binding[] {
  const { closed } = facts
  const type = constraint.type?.value
  if (closed === null || type === undefined) return []
  const result = (verdict: Binding['verdict'], text: string, other = closed.mandate?.at ?? closed.at) => [
    bind('constraint', verdict, constraint.at, other, text),
  ]
  switch (type) {
    case 'payment.amount_range':
      return result(...judgeRange(constraint, facts))
    case 'payment.allowed_payees':
    case 'checkout.allowed_merchants': {
      const { payee } = facts
      if (payee === null)
        return result('unverifiable', 'The mandate names nobody to compare with those allowed.')
      const isAllowed = constraint.allowed.some((one) => isSamePayee(one, payee))
      return isAllowed
        ? result('match', 'Who is paid is among those allowed.')
        : result('mismatch', 'Who is paid is not among those allowed.')
    }
    case 'payment.allowed_payment_instruments': {
      const instrument = member(closed.mandate?.value, 'payment_instrument')
      const id = member(instrument, 'id')
      if (typeof id !== 'string') return result('unverifiable', 'The mandate names no instrument.')
      return constraint.allowed.some((one) => member(one.value, 'id') === id)
        ? result('match', 'The instrument is among those allowed.')
        : result('mismatch', 'The instrument is not among those allowed.')
    }
    case 'payment.reference':
      return bindReference(constraint, facts.sights, closed.at)
    default:
      return result('unverifiable', 'This constraint takes more than one mandate to be checked.')
  }
}

function judgeRange(
  { min, max, currency }: Ap2Constraint,
  { amount, currency: paid }: Ap2Facts,
): [Binding['verdict'], string] {
  if (amount === null) return ['unverifiable', 'The mandate names no amount.']
  if (currency !== null && paid !== null && currency.value.toUpperCase() !== paid.value.toUpperCase())
    return ['mismatch', 'The mandate pays in another currency than the range allows.']
  if (min === null && max === null) return ['unverifiable', 'The range has no bounds.']
  const [low, high] = [min && compareIntegers(amount, min), max && compareIntegers(amount, max)]
  if (low === undefined || high === undefined)
    return ['mismatch', 'An amount is no integer of the smallest unit.']
  return low === -1 || high === 1
    ? ['mismatch', 'The amount is outside the range.']
    : ['match', 'The amount is inside the range.']
}

/** The checkout that a payment is conditional on: its open mandate, where it came along. */
function bindReference(constraint: Ap2Constraint, { chains }: Ap2Sights, closedAt: string): Binding[] {
  const wanted = constraint.conditionalTransactionId
  const opens = chains
    .flatMap(({ tokens }) => tokens)
    .filter(({ vct }) => vct?.value.startsWith('mandate.checkout.open.') === true)
  const [first] = opens
  if (wanted === null || first === undefined)
    return [
      bind(
        'constraint',
        'unverifiable',
        constraint.at,
        closedAt,
        'The checkout mandate it refers to did not come along.',
      ),
    ]
  const isSame = opens.some(
    ({ token, digest }) => digest(nameHash(member(token.payload.value, '_sd_alg'))) === wanted.value,
  )
  return [
    bind(
      'constraint',
      isSame ? 'match' : 'mismatch',
      wanted.at,
      first.token.at,
      isSame
        ? 'The payment is for the checkout mandate beside it.'
        : 'The payment is for another checkout mandate than the one beside it.',
    ),
  ]
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
  const checkout = findCheckoutJwt(sights)
  const payload = checkout && readJws(checkout.value, checkout.at)?.payload
  const id = pickText(payload ?? null, 'id')
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

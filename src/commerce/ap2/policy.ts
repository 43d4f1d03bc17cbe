// AP2: what the policy has to know of it.
import { isInstant } from '../decode/jwt-forms.ts'
import { pick, pickText } from '../decode/value.ts'
import type { Place } from '../ports.ts'
import { reason, type Reason } from '../policy/reasons.ts'
import type { ProtocolPolicy, SpendIdentity, Stated } from '../protocol.ts'
import type { Ap2Facts } from './facts.ts'
import { familyOf, RANKS } from './detect.ts'
import { listGrants, readHashClaim } from './grants.ts'
import { isUnsigned } from './read.ts'
import { listV01Expiries } from './read-v01.ts'

export const policy: ProtocolPolicy<Ap2Facts> = {
  pricedStages: new Set(['payment', 'checkout', 'cart']),
  /** A checkout mandate tells the merchant what is bought; the payment mandate beside it pays. */
  spendStages: new Set(['payment']),
  describeSpend,
  judge,
  listHosts: ({ facts }) => [facts.closed?.aud ?? null],
  /** Open mandates expire too, and a closed one is worth nothing after that. */
  listExpiries: ({ facts: { chain, sights } }) => [
    ...chain.map(({ expiresAt }) => expiresAt),
    ...sights.mandates.flatMap(listV01Expiries),
  ],
  needsWindow: () => true,
  /** A mandate that comes along in a checkout is often for the payment provider behind the shop. */
  isArguable: ({ kind, at }, { facts }, isPrimary) =>
    !isPrimary && kind === 'host' && facts.closed?.aud?.at === at,
}

/** Shown to several parties, each with a nonce of its own; the open mandate that it is made under is known by what was signed. */
function describeSpend({ facts: { transactionId, open, sights } }: Stated<Ap2Facts>): SpendIdentity {
  const signed = sights.chains.flatMap(({ tokens }) => tokens).find(({ token }) => token.at === open?.at)
  const mandate = open?.jti?.value ?? (signed && JSON.stringify(signed.token.payload.value))
  return {
    ...(transactionId !== null && { name: ['ap2', transactionId.value], isToldToSeveral: true }),
    ...(mandate !== undefined && { mandate: `ap2 ${mandate}` }),
  }
}

/** Mandates that nobody signed, or that set no bounds. */
function judge({ layer, facts }: Stated<Ap2Facts>): Reason[] {
  const found: Reason[] = []
  const at = layer.document?.at ?? layer.evidence[0]?.at ?? ''
  if (isUnsigned(facts)) found.push(reason('UNSIGNED_MANDATE', at))
  for (const token of facts.chain)
    if (token.alg === null || token.alg.value.toLowerCase() === 'none')
      found.push(
        reason('UNSIGNED_MANDATE', token.alg?.at ?? token.at, {
          severity: 'deny',
          message: 'The token says that it is not signed.',
        }),
      )
  found.push(...judgeInstants(facts), ...judgeUnseen(facts))
  const unbounded = facts.version === '0.1' ? isIntentUnbounded(facts) : isOpenUnbounded(facts)
  if (unbounded !== undefined)
    found.push(reason('OPEN_MANDATE_UNBOUNDED', facts.open?.at ?? at, { message: unbounded }))
  return found
}

const INSTANTS = ['iat', 'nbf', 'exp'] as const

/** A time that is none ends for one reader, and never for another (RFC 7519, 2: NumericDate). What is null is left out. */
const judgeInstants = ({ sights }: Ap2Facts): Reason[] =>
  sights.chains
    .flatMap(({ tokens }) => tokens)
    .flatMap(({ token, mandate }) => [token.payload, token.keyBinding, mandate])
    .flatMap((from) => INSTANTS.flatMap((name) => pick(from, name) ?? []))
    .filter(({ value }) => value !== null && !isInstant(value))
    .map(({ at }) =>
      reason('SIGNED_MEMBER_MALFORMED', at, {
        message: 'A time of a mandate is a number: seconds since the epoch.',
      }),
    )

/** What whoever takes a mandate has to verify, and what the message leaves out: somebody has to look. */
function judgeUnseen({ sights }: Ap2Facts): Reason[] {
  const unseen = (
    code: 'BINDING_HASH' | 'POLICY_INPUT_MISSING' | 'UNKNOWN_PROTOCOL',
    at: Place,
    message: string,
  ) => reason(code, at, { severity: 'review', message })
  return [
    ...sights.chains
      .flatMap(({ tokens }) => tokens)
      .flatMap(({ vct }) =>
        vct !== null && !KNOWN_VCTS.has(vct.value)
          ? unseen('UNKNOWN_PROTOCOL', vct.at, 'The mandate is of a type that AP2 0.2 does not define.')
          : [],
      ),
    ...listGrants(sights).flatMap((grant) => {
      const claim = readHashClaim(grant.closed)
      return [
        ...(claim !== null && grant.opens.length === 0 && grant.closed.token.keyBinding === null
          ? [
              unseen(
                'BINDING_HASH',
                claim.at,
                'The open mandate that an agent signed this one under did not come along.',
              ),
            ]
          : []),
        ...(familyOf(grant.closed) === 'checkout' && pickText(grant.closed.mandate, 'checkout_jwt') === null
          ? [
              unseen(
                'BINDING_HASH',
                grant.closed.mandate?.at ?? grant.closed.token.at,
                'The checkout that the mandate is for was not disclosed.',
              ),
            ]
          : []),
      ]
    }),
    ...sights.mandates
      .flatMap(({ authorizations }) => authorizations)
      .filter(({ jws }) => jws === undefined)
      .map(({ at }) => unseen('POLICY_INPUT_MISSING', at, 'The authorization of a mandate cannot be read.')),
  ]
}

const KNOWN_VCTS: ReadonlySet<string> = new Set(RANKS)

function isIntentUnbounded({ kind, v01 }: Ap2Facts): string | undefined {
  if (kind !== 'intent' || v01 === null) return undefined
  if (v01.confirmationRequired?.value === true) return undefined
  const hasMerchants = Array.isArray(v01.merchants?.value) && v01.merchants.value.length > 0
  return hasMerchants ? undefined : 'The intent needs no confirmation and names no merchants.'
}

function isOpenUnbounded({ open, kind, constraints }: Ap2Facts): string | undefined {
  if (open === null || open.mandate === null) return undefined
  const has = (wanted: string) => constraints.some(({ type }) => type?.value === wanted)
  if (kind === 'checkout')
    return has('checkout.allowed_merchants')
      ? undefined
      : 'The open mandate does not say which merchants are allowed.'
  const hasMax = constraints.some(({ type, max }) => type?.value === 'payment.amount_range' && max !== null)
  if (!hasMax && !has('payment.budget')) return 'The open mandate sets no largest amount.'
  return has('payment.allowed_payees') ? undefined : 'The open mandate does not say who may be paid.'
}

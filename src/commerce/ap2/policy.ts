// AP2: what the policy has to know of it.
import { reason, type Reason } from '../policy/reasons.ts'
import type { ProtocolPolicy, SpendIdentity, Stated } from '../protocol.ts'
import type { Ap2Facts } from './facts.ts'
import { isUnsigned } from './read.ts'

export const policy: ProtocolPolicy<Ap2Facts> = {
  pricedStages: new Set(['payment', 'checkout', 'cart']),
  /** A checkout mandate tells the merchant what is bought; the payment mandate beside it pays. */
  spendStages: new Set(['payment']),
  describeSpend,
  judge,
  listHosts: ({ facts }) => [facts.closed?.aud ?? null],
  /** Open mandates expire too, and a closed one is worth nothing after that. */
  listExpiries: ({ facts }) => facts.chain.map(({ expiresAt }) => expiresAt),
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
  const unbounded = facts.version === '0.1' ? isIntentUnbounded(facts) : isOpenUnbounded(facts)
  if (unbounded !== undefined)
    found.push(reason('OPEN_MANDATE_UNBOUNDED', facts.open?.at ?? at, { message: unbounded }))
  return found
}

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

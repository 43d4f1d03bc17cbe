// Amount, asset, network, scheme and recipient against the policy. Amounts are integers of the smallest unit, each held against
// the cap of its own asset on its own network.
import type { Found, Place } from '../ports.ts'
import type { Policy } from './document.ts'
import { placeOfPayment, type Rule, type Subject } from './model.ts'
import { isFault, reason, type Reason } from './reasons.ts'
import { judgePayee } from './recipients.ts'
import { termsOfFacts, type Terms } from './terms.ts'

/** Every set of terms against caps and lists. An offer passes where one way to pay passes. */
export const judgeMoney: Rule = (subject) => {
  const { detection, primary } = subject
  if (primary?.layer.isUndecodable === true) return []
  const isPriced = primary?.protocol.policy.pricedStages?.has(primary.layer.stage) === true
  const judged = readTerms(subject).map((terms) => judgeTerms(terms, subject, isPriced))
  // What was settled was judged when it was paid: what its answer leaves unsaid asks nothing of anybody.
  if (detection.stage === 'settlement') return judged.flat().filter(({ severity }) => severity === 'deny')
  // An offer with several ways to pay needs one that may be taken.
  const isChoice = detection.stage === 'challenge' && judged.some((reasons) => !hasDeny(reasons))
  return isChoice && judged.length > 1
    ? judged.flatMap((reasons) => (hasDeny(reasons) ? reasons.map(asPassedOver) : reasons))
    : judged.flat()
}

/** Another way to pay may be taken. A way that is broken for everybody is looked at all the same: buyers may take the first. */
const asPassedOver = (one: Reason): Reason => ({ ...one, severity: isFault(one) ? 'review' : 'info' })

/** A payment that was made, as the rules on money see it. Amount in the smallest unit of the asset. */
export interface Transfer {
  readonly network: string
  readonly asset: string
  readonly amount: string
  readonly payTo: string
  readonly scheme: string
}

/** What the rules on amount, asset, network, scheme and recipient say of a payment of which nothing else is known. */
export function judgeTransfer(transfer: Transfer, policy: Policy): Reason[] {
  const found = (value: string): Found<string> => ({ value, at: '' })
  const terms: Terms = {
    at: '',
    amount: found(transfer.amount),
    isInteger: true,
    currency: null,
    asset: found(transfer.asset),
    network: found(transfer.network),
    scheme: found(transfer.scheme),
    payees: [found(transfer.payTo)],
  }
  return [
    ...judgeAmount(terms, policy, true, ''),
    ...judgeAsset(terms, policy),
    ...judgeScheme(terms, policy, true, ''),
    ...judgePayees(terms, { policy, payer: null, main: null, isAsked: true, place: '' }),
  ]
}

/** The offers of the primary protocol, or what its facts say. */
function readTerms({ detection, primary }: Subject): readonly Terms[] {
  const offered = primary?.protocol.policy.listTerms?.(primary) ?? []
  return offered.length > 0 ? offered : [termsOfFacts(detection.facts)]
}

const hasDeny = (reasons: readonly Reason[]) => reasons.some(({ severity }) => severity === 'deny')

function judgeTerms(terms: Terms, subject: Subject, isPriced: boolean): Reason[] {
  const { policy, detection, primary } = subject
  const needsScheme = isPriced && primary?.protocol.policy.needsScheme === true
  const place = placeOfPayment(subject)
  return [
    ...judgeAmount(terms, policy, isPriced, place),
    ...judgeFurther(terms, policy),
    ...judgeAsset(terms, policy),
    ...judgeScheme(terms, policy, needsScheme, place),
    ...judgePayees(terms, {
      policy,
      payer: detection.facts.payer,
      main: detection.facts.payee,
      isAsked: isPriced && detection.stage !== 'checkout.complete',
      place,
    }),
  ]
}

function judgeAmount(terms: Terms, policy: Policy, isPriced: boolean, place: Place): Reason[] {
  const { amount, isInteger, asset, currency, network } = terms
  if (amount === null) return isPriced ? [reason('AMOUNT_MISSING', terms.at === '' ? place : terms.at)] : []
  if (!isInteger) return [judgeNumber(amount)]
  const at = amount.at
  if (asset === null && currency === null)
    return [
      reason('POLICY_INPUT_MISSING', at, {
        message:
          'The transaction does not say in which asset or currency it pays, so no cap can be held against it.',
      }),
    ]
  if (asset !== null && network === null)
    return [
      reason('POLICY_INPUT_MISSING', at, {
        message:
          'The transaction does not say on which network the asset is, so no cap can be held against it.',
      }),
    ]
  const cap = findCap(terms, policy)
  if (cap === undefined) return [reason('POLICY_AMOUNT_CAP_UNSET', at)]
  return BigInt(amount.value) > cap ? [reason('AMOUNT_OVER_CAP', at)] : []
}

/** Deposits and the like: without an amount of their own kind nothing is said, because `judgeAmount` says it. */
const judgeFurther = (terms: Terms, policy: Policy): Reason[] =>
  (terms.further ?? []).flatMap(({ amount, isSuggested }) => {
    if (!amount.isInteger) return isSuggested ? [] : [judgeNumber(amount)]
    const cap = findCap(terms, policy)
    if (cap === undefined || BigInt(amount.value) <= cap) return []
    return [
      isSuggested
        ? reason('AMOUNT_OVER_CAP', amount.at, {
            severity: 'review',
            message: 'The suggested deposit is over the cap for this asset and network: put in less.',
          })
        : reason('AMOUNT_OVER_CAP', amount.at),
    ]
  })

const findCap = ({ asset, network, currency }: Terms, policy: Policy): bigint | undefined =>
  asset !== null && network !== null
    ? policy.capOf(asset.value, network.value)
    : currency === null
      ? undefined
      : policy.capOfCurrency(currency.value)

function judgeNumber({ value, at }: Found<string>): Reason {
  const text = value.trim()
  if (text.length <= 100 && /^-\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return reason('AMOUNT_NEGATIVE', at)
  // Integers that arrive here are too large to be exact.
  if (text.length <= 100 && /^\d+(?:\.\d+|e[+-]?\d+|\.\d+e[+-]?\d+)$/i.test(text))
    return reason('AMOUNT_FLOAT', at)
  return /^\d{1,15}$/.test(text)
    ? reason('AMOUNT_FLOAT', at, {
        message: 'The amount is in major units: how many decimals it has is left to the reader.',
      })
    : reason('AMOUNT_UNPARSEABLE', at)
}

function judgeAsset({ asset, network, currency }: Terms, policy: Policy): Reason[] {
  const found: Reason[] = []
  if (network !== null && !policy.allowsNetwork(network.value))
    found.push(reason('NETWORK_NOT_ALLOWED', network.at))
  if (asset !== null && network !== null && !policy.allowsAsset(asset.value, network.value))
    found.push(reason('ASSET_NOT_ALLOWED', asset.at))
  if (currency !== null && !policy.allowsCurrency(currency.value))
    found.push(
      reason('ASSET_NOT_ALLOWED', currency.at, { message: 'The policy does not allow this currency.' }),
    )
  return found
}

function judgeScheme({ scheme }: Terms, policy: Policy, isAsked: boolean, place: Place): Reason[] {
  if (scheme === null)
    return isAsked
      ? [
          reason('POLICY_INPUT_MISSING', place, {
            message: 'The transaction does not say its payment scheme.',
          }),
        ]
      : []
  return policy.allowsScheme(scheme.value) ? [] : [reason('SCHEME_NOT_ALLOWED', scheme.at)]
}

interface Paying {
  readonly policy: Policy
  readonly payer: Found<string> | null
  /** Who is paid, where there are others beside. */
  readonly main: Found<string> | null
  /** Whether the transaction has to name somebody. */
  readonly isAsked: boolean
  readonly place: Place
}

function judgePayees(
  { payees, asset, network }: Terms,
  { policy, payer, main, isAsked, place }: Paying,
): Reason[] {
  if (payees.length === 0)
    // Nobody named is nobody on the list.
    return isAsked && policy.judgeRecipient('', network?.value) === 'not_listed'
      ? [
          reason('RECIPIENT_NOT_ALLOWED', place, {
            message: 'The policy names who may be paid, and the transaction does not say who is.',
          }),
        ]
      : []
  return payees.flatMap(({ value, at }) => {
    // A part of what is paid may well go back to the payer; all of it may not.
    const faults = judgePayee({ payee: { value, at }, payer: at === main?.at ? payer : null, asset, network })
    if (faults.some(({ severity }) => severity === 'deny')) return faults
    const verdict = policy.judgeRecipient(value, network?.value)
    if (verdict === 'denied') return [...faults, reason('RECIPIENT_DENIED', at)]
    return verdict === 'not_listed' ? [...faults, reason('RECIPIENT_NOT_ALLOWED', at)] : faults
  })
}

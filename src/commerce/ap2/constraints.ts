// What a person allowed in an open mandate of 0.2, held against the closed mandate that was made under it: every constraint of
// docs/ap2/payment_mandate.md and checkout_mandate.md. What is violated is a mismatch. What takes the history of the mandate, or more
// than the message holds, is unverifiable, and so is a type that nobody here knows: agent_authorization.md has it fail.
import { compareIntegers } from '../compare.ts'
import { isHidden } from '../decode/sd-jwt.ts'
import { member, pick, pickList, pickNumber, pickNumeral, pickObject, pickText } from '../decode/value.ts'
import type { Found, Json, JsonObject } from '../ports.ts'
import { readTotal } from '../checkout.ts'
import { judgeExecution } from './execution-date.ts'
import type { Ap2Constraint, Judged } from './facts.ts'
import { judgeLineItems } from './line-items.ts'
import { judgeBudget, judgeRange } from './money.ts'
import { findParty, isSameParty, type Party } from './party.ts'

/** The closed mandate, and the checkout that its merchant signed where that came along. */
export interface Closed {
  readonly mandate: Found<JsonObject> | null
  /** Seconds; when it was made. */
  readonly issuedAt: Found<number> | null
  readonly checkout: Found<JsonObject> | null
}

const JUDGES: Readonly<Record<string, (constraint: Ap2Constraint, closed: Closed) => Judged>> = {
  'payment.agent_recurrence': judgeRecurrence,
  'payment.allowed_payees': (constraint, { mandate }) =>
    judgeParty(constraint, readParty(mandate, 'payee'), 'Who is paid'),
  'payment.allowed_payment_instruments': judgeInstrument,
  'payment.allowed_pisps': judgePisp,
  'payment.amount_range': (constraint, { mandate }) => judgeRange(constraint, readPaid(mandate)),
  'payment.budget': (constraint, { mandate }) => judgeBudget(constraint, readPaid(mandate)),
  'payment.execution_date': ({ source }, { mandate, issuedAt }) => judgeExecution(source, mandate, issuedAt),
  'checkout.allowed_merchants': (constraint, { checkout }) =>
    judgeParty(constraint, findParty(checkout), 'The merchant of the checkout'),
  'checkout.line_items': ({ source }, { checkout }) => judgeLineItems(source, checkout),
}

/** Constraint types that AP2 0.2 defines; `payment.reference` is told from the other mandates of the message (bind.ts). */
export const isKnownType = (type: string): boolean =>
  type === 'payment.reference' || Object.hasOwn(JUDGES, type)

/** Dotted words of lower case, as the types of AP2 are: such a name is shown, and nothing else that stands in its place. */
const SHOWN_TYPE = /^(?=.{3,48}$)[a-z][a-z_]{0,23}(?:[.:-][a-z][a-z_]{0,23}){1,4}$/

/** A constraint against one closed mandate of its family (`payment` or `checkout`). */
export function judgeConstraint(constraint: Ap2Constraint, family: string, closed: Closed): Judged {
  if (constraint.isHidden)
    return ['unverifiable', 'A constraint was not disclosed, so that nobody can hold the mandate to it.']
  const type = constraint.type?.value
  if (type === undefined) return ['unverifiable', 'A constraint does not say of which type it is.']
  const judge = Object.hasOwn(JUDGES, type) ? JUDGES[type] : undefined
  if (judge === undefined || !type.startsWith(`${family}.`))
    return [
      'unverifiable',
      SHOWN_TYPE.test(type)
        ? `The constraint type ${type} is none that AP2 defines for such a mandate, so that it counts as not met.`
        : 'The type of a constraint is none that AP2 defines, so that it counts as not met.',
    ]
  return judge(constraint, closed)
}

/** A constraint of an open mandate, as it stands there. */
export function readConstraint(from: Found<Json>): Ap2Constraint {
  const allowed = pickList(from, 'allowed')
  return {
    at: from.at,
    source: from,
    isHidden: isHidden(from),
    type: pickText(from, 'type'),
    min: pickNumeral(from, 'min'),
    max: pickNumeral(from, 'max'),
    currency: pickText(from, 'currency'),
    allowed: allowed.flatMap((item) => (isHidden(item) ? [] : (pickObject(item) ?? []))),
    undisclosed: allowed.filter(isHidden).length,
    conditionalTransactionId: pickText(from, 'conditional_transaction_id'),
  }
}

const readParty = (mandate: Found<JsonObject> | null, name: string): Party | null => {
  const found = pickObject(mandate, name)
  return (
    found && { id: pickText(found, 'id'), name: pickText(found, 'name'), website: pickText(found, 'website') }
  )
}

const readPaid = (mandate: Found<JsonObject> | null) => ({
  amount: pickNumeral(mandate, 'payment_amount', 'amount'),
  currency: pickText(mandate, 'payment_amount', 'currency'),
})

/** The revealed entries count: a merchant that is not among them is not allowed (checkout_mandate.md, Allowed Merchants). */
function judgeParty({ source, type, allowed }: Ap2Constraint, party: Party | null, who: string): Judged {
  if (party === null)
    return ['unverifiable', `${type?.value}: the mandate names nobody to compare with those allowed.`]
  if (!Array.isArray(member(source.value, 'allowed')))
    return ['unverifiable', `${type?.value}: the constraint lists nobody.`]
  const verdicts = allowed.map((one) => isSameParty(one, party))
  if (verdicts.includes('match')) return ['match', `${who} is among those allowed.`]
  return verdicts.includes('partial')
    ? ['partial', `${who} has the id of one that is allowed under another name.`]
    : ['mismatch', `${who} is not among those allowed.`]
}

function judgeInstrument({ source, allowed }: Ap2Constraint, { mandate }: Closed): Judged {
  const type = 'payment.allowed_payment_instruments'
  const instrument = pickObject(mandate, 'payment_instrument')
  const id = pickText(instrument, 'id')
  if (id === null) return ['unverifiable', `${type}: the mandate names no instrument.`]
  if (!Array.isArray(member(source.value, 'allowed')))
    return ['unverifiable', `${type}: the constraint lists none.`]
  const same = allowed.filter((one) => pickText(one, 'id')?.value === id.value)
  if (same.length === 0) return ['mismatch', 'The instrument is not among those allowed.']
  const kind = member(instrument?.value, 'type')
  return same.some((one) => [undefined, kind].includes(member(one.value, 'type')))
    ? ['match', 'The instrument is among those allowed.']
    : ['partial', 'The instrument has the id of one that is allowed, and is of another type.']
}

const PISP_MEMBERS = ['domain_name', 'legal_name', 'brand_name'] as const

/** A provider is one of those listed where all three of its members are the same. */
function judgePisp({ source, allowed }: Ap2Constraint, { mandate }: Closed): Judged {
  if (!Array.isArray(member(source.value, 'allowed')))
    return ['unverifiable', 'payment.allowed_pisps: the constraint lists none.']
  const pisp = pickObject(mandate, 'pisp')
  if (pisp === null)
    return [
      'mismatch',
      'The mandate names no payment initiation service provider, and only some are allowed.',
    ]
  return pickText(pisp, 'domain_name') !== null &&
    allowed.some((one) => PISP_MEMBERS.every((name) => member(one.value, name) === member(pisp.value, name)))
    ? ['match', 'The payment initiation service provider is among those allowed.']
    : ['mismatch', 'The payment initiation service provider is not among those allowed.']
}

/** How often a mandate was used before is known to whoever keeps count of it. */
function judgeRecurrence({ source }: Ap2Constraint): Judged {
  const max = pickNumber(source, 'max_occurrences')
  return max !== null && max.value < 1
    ? ['mismatch', 'The mandate may not be used a single time.']
    : [
        'unverifiable',
        'payment.agent_recurrence: how often and when the mandate was used before is not known here.',
      ]
}

const REGISTERED: ReadonlySet<string> = new Set(
  'vct vct#integrity constraints cnf iss sub aud iat exp nbf jti status _sd _sd_alg'.split(' '),
)

/** Claims whose value is part of what is paid; another one, such as `risk_data`, may be about how it came about. */
const PRESET: ReadonlySet<string> = new Set([
  'payee',
  'payment_amount',
  'payment_instrument',
  'pisp',
  'execution_date',
  'transaction_id',
  'checkout_hash',
])

/** Claims that the open mandate sets itself: the closed one has to repeat them (agent_authorization.md, Verification, 2). */
export function judgePresets(
  open: Found<JsonObject>,
  { mandate }: Closed,
): { readonly found: Found<Json>; readonly judged: Judged }[] {
  return Object.keys(open.value)
    .filter((name) => !REGISTERED.has(name))
    .slice(0, MAX_PRESETS)
    .flatMap((name) => {
      const found = pick(open, name)
      return found === null ? [] : [{ found, judged: judgePreset(name, found, mandate) }]
    })
}

/** A mandate has seven members besides those of every JWT. */
const MAX_PRESETS = 32

function judgePreset(name: string, found: Found<Json>, mandate: Found<JsonObject> | null): Judged {
  const closed = pick(mandate, name)
  const preset = pickObject(found)
  const party = name === 'payee' && preset !== null ? readParty(mandate, name) : null
  const isSame =
    party !== null && preset !== null
      ? isSameParty(preset, party) === 'match'
      : closed !== null && isEqual(found.value, closed.value)
  if (isSame) return ['match', 'The closed mandate repeats what the open one sets.']
  return PRESET.has(name)
    ? ['mismatch', `The closed mandate has another ${name} than the open one sets.`]
    : ['unverifiable', 'The open mandate sets a claim that the closed one does not repeat.']
}

/** JSON values, members in any order; as deep as the parser allows. */
function isEqual(one: Json, other: Json): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => {
      const [a, b] = [(one as JsonObject)[name], (other as JsonObject)[name]]
      return a !== undefined && b !== undefined && isEqual(a, b)
    })
  )
}

/** What the payment mandate pays against what the merchant's checkout asks for: amount, currency and payee. */
export function comparePaid(
  mandate: Found<JsonObject> | null,
  checkout: Found<JsonObject>,
): {
  readonly kind: 'amount' | 'payee'
  readonly at: string
  readonly with: string
  readonly judged: Judged
}[] {
  const { amount, currency } = readPaid(mandate)
  const total = readTotal(checkout)
  const asked = pickText(checkout, 'currency')
  const payee = readParty(mandate, 'payee')
  const merchant = pickObject(checkout, 'merchant')
  const isOtherCurrency =
    currency !== null && asked !== null && currency.value.toUpperCase() !== asked.value.toUpperCase()
  const order = amount !== null && total !== null ? compareIntegers(amount, total) : undefined
  return [
    ...(amount !== null && total !== null && order !== undefined
      ? [
          {
            kind: 'amount' as const,
            at: amount.at,
            with: total.at,
            judged: (order === 0 && !isOtherCurrency
              ? ['match', 'The mandate pays what the checkout asks for.']
              : [
                  'mismatch',
                  'The mandate pays something else than the checkout that it is for asks for.',
                ]) as Judged,
          },
        ]
      : []),
    ...(payee !== null && merchant !== null
      ? [
          {
            kind: 'payee' as const,
            at: (payee.id ?? payee.name ?? payee.website)?.at ?? merchant.at,
            with: merchant.at,
            judged: (isSameParty(merchant, payee) === 'mismatch'
              ? [
                  'mismatch',
                  'The mandate pays somebody else than the merchant of the checkout that it is for.',
                ]
              : ['match', 'The mandate pays the merchant of the checkout.']) as Judged,
          },
        ]
      : []),
  ]
}

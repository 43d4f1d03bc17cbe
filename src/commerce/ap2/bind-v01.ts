// AP2 0.1: what the mandates beside each other in a message say of the same purchase, and the hash of the cart that its merchant signed.
import { hash } from 'node:crypto'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { bind } from '../compare.ts'
import { readJws } from '../decode/jws.ts'
import type { MandateKind } from '../decode/names.ts'
import {
  member,
  parseInstant,
  pick,
  pickBoolean,
  pickList,
  pickNumeral,
  pickObject,
  pickText,
} from '../decode/value.ts'
import type { Binding, Found, Json, JsonObject } from '../ports.ts'
import type { Ap2Sights } from './detect.ts'
import { readV01Total } from './read-v01.ts'

type Document = Found<JsonObject>

/** The mandates of 0.1 that a message holds, each held against the others. */
export function bindV01({ mandates }: Ap2Sights): Binding[] {
  const ofKind = (wanted: MandateKind): Document[] =>
    mandates.flatMap(({ kind, found }) => (kind === wanted ? (pickObject(found) ?? []) : []))
  const [payments, carts, intents] = [ofKind('payment'), ofKind('cart'), ofKind('intent')]
  const [intent] = intents
  return [
    ...carts.flatMap(bindCartHash),
    ...payments.flatMap((payment) => bindPayment(payment, carts)),
    ...(intent === undefined ? [] : carts.flatMap((cart) => bindIntent(intent, cart))),
    ...(intent === undefined || carts.length > 0
      ? []
      : payments.flatMap((payment) => bindUncarted(intent, payment))),
  ]
}

/**
 * The specification says "canonical JSON" and no more: RFC 8785, and what the serialisers of its first implementations write, where
 * money is a float. In base64url, base64 or hex.
 */
function bindCartHash(cart: Document): Binding[] {
  const authorization = pickText(cart, 'merchant_authorization')
  const contents = pickObject(cart, 'contents')
  const claims =
    authorization === null ? null : (readJws(authorization.value, authorization.at)?.payload ?? null)
  if (authorization === null || contents === null || claims === null) return []
  const stated = pickText(claims, 'cart_hash')
  if (stated === null)
    return [
      bind(
        'constraint',
        'unverifiable',
        authorization.at,
        contents.at,
        'What the merchant signed does not name the cart.',
      ),
    ]
  const wanted = stated.value.replace(/^sha-?256[:=]/i, '').replace(/=+$/, '')
  const isSame = spellings(contents.value).some((text) => {
    const digest = hash('sha256', text, 'buffer')
    return (
      [digest.toString('base64url'), digest.toString('base64').replace(/=+$/, '')].includes(wanted) ||
      digest.toString('hex') === wanted.toLowerCase()
    )
  })
  return [
    bind(
      'hash',
      isSame ? 'match' : 'mismatch',
      stated.at,
      contents.at,
      isSame ? 'The merchant signed this cart.' : 'The merchant signed another cart than the one beside it.',
    ),
  ]
}

function spellings(contents: JsonObject): string[] {
  const canonical = toCanonicalJson(contents)
  return [
    canonical,
    JSON.stringify(contents),
    writeLikePython(JSON.parse(canonical) as Json, ',', ':'),
    writeLikePython(JSON.parse(canonical) as Json, ', ', ': '),
  ]
}

/** Members in order, and values of money with a fraction, as a float is written there. */
function writeLikePython(value: Json, comma: string, colon: string, name = ''): string {
  if (typeof value === 'number' && name === 'value' && Number.isInteger(value)) return `${value}.0`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value))
    return `[${(value as readonly Json[]).map((item) => writeLikePython(item, comma, colon)).join(comma)}]`
  const entries = Object.entries(value as JsonObject)
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}${colon}${writeLikePython(inner, comma, colon, key)}`).join(comma)}}`
}

/** A payment is for the cart whose order it names, over its total, and before that ends. */
function bindPayment(payment: Document, carts: readonly Document[]): Binding[] {
  const order = pickText(payment, 'payment_mandate_contents', 'payment_details_id')
  const orderOf = (cart: Document) => pickText(cart, 'contents', 'payment_request', 'details', 'id')
  const named = carts.find((cart) => order !== null && orderOf(cart)?.value === order.value)
  const cart = named ?? carts[0]
  if (cart === undefined) return []
  const other = orderOf(cart)
  const [paid, asked] = [readV01Total(payment), readV01Total(cart)]
  const made = pickText(payment, 'payment_mandate_contents', 'timestamp')
  const end = pickText(cart, 'contents', 'cart_expiry')
  return [
    ...(order === null || other === null
      ? []
      : [
          bind(
            'offer',
            named === undefined ? 'mismatch' : 'match',
            order.at,
            other.at,
            named === undefined
              ? 'The payment is for another order than the cart beside it.'
              : 'The payment is for this cart.',
          ),
        ]),
    ...bindTotals(paid, asked),
    ...bindBefore(made, end, 'The payment was made after the cart had ended.'),
  ]
}

/** Money of 0.1 is a decimal in the currency itself. */
function bindTotals(paid: Found<Json> | null, asked: Found<Json> | null): Binding[] {
  const [one, other] = [pickNumeral(paid, 'value'), pickNumeral(asked, 'value')]
  if (one === null || other === null) return []
  const [ours, theirs] = [pickText(paid, 'currency'), pickText(asked, 'currency')]
  const isOther = ours !== null && theirs !== null && ours.value.toUpperCase() !== theirs.value.toUpperCase()
  const isSame = !isOther && one.value.trim() !== '' && Number(one.value) === Number(other.value)
  return [
    bind(
      'amount',
      isSame ? 'match' : 'mismatch',
      one.at,
      other.at,
      isSame
        ? 'The payment is over the total of the cart.'
        : 'The payment is over something else than the total of the cart.',
    ),
  ]
}

function bindBefore(made: Found<string> | null, end: Found<string> | null, text: string): Binding[] {
  const [one, other] = [parseInstant(made?.value), parseInstant(end?.value)]
  return made !== null && end !== null && one !== null && other !== null && one > other
    ? [bind('constraint', 'mismatch', made.at, end.at, text)]
    : []
}

const textsOf = (document: Document, name: string): ReadonlySet<string> =>
  new Set(pickList(document, name).flatMap(({ value }) => (typeof value === 'string' ? [value] : [])))

/** A cart against the intent: merchants, goods and whether they can be given back. */
function bindIntent(intent: Document, cart: Document): Binding[] {
  const merchants = textsOf(intent, 'merchants')
  const name = pickText(cart, 'contents', 'merchant_name')
  const skus = textsOf(intent, 'skus')
  const items = pickList(cart, 'contents', 'payment_request', 'details', 'display_items')
  const goods = items.map((item) => pickText(item, 'sku') ?? pickText(item, 'id'))
  const labels = items.map((item) => pickText(item, 'label')?.value ?? '')
  const at = {
    merchants: pick(intent, 'merchants')?.at ?? intent.at,
    skus: pick(intent, 'skus')?.at ?? intent.at,
  }
  const constraint = (verdict: Binding['verdict'], place: string, text: string) =>
    bind('constraint', verdict, place, name?.at ?? cart.at, text)
  const isNamed = goods.length > 0 && goods.every((one) => one !== null)
  return [
    ...(merchants.size === 0
      ? []
      : [
          name === null
            ? constraint(
                'unverifiable',
                at.merchants,
                'The cart names no merchant to compare with those of the intent.',
              )
            : merchants.has(name.value)
              ? constraint('match', at.merchants, 'The merchant is one of the intent.')
              : constraint('mismatch', at.merchants, 'The merchant is none of those of the intent.'),
        ]),
    ...(skus.size === 0
      ? []
      : [
          isNamed
            ? goods.every((one) => one !== null && skus.has(one.value))
              ? constraint('match', at.skus, 'The goods are those of the intent.')
              : constraint('mismatch', at.skus, 'Something is in the cart that the intent does not name.')
            : labels.length > 0 && labels.every((label) => skus.has(label))
              ? constraint('match', at.skus, 'The goods are those of the intent.')
              : constraint(
                  'unverifiable',
                  at.skus,
                  'The cart does not say by which number its goods are sold.',
                ),
        ]),
    ...(pickBoolean(intent, 'requires_refundability')?.value === true &&
    items.some((item) => member(item.value, 'refund_period') === 0)
      ? [
          constraint(
            'mismatch',
            intent.at,
            'The intent asks for goods that can be given back, and something in the cart cannot.',
          ),
        ]
      : []),
  ]
}

/** A payment under an intent, with no cart that would say what is bought of whom. */
function bindUncarted(intent: Document, payment: Document): Binding[] {
  const bounds = ['merchants', 'skus'].filter((name) => textsOf(intent, name).size > 0)
  const agent = pickText(payment, 'payment_mandate_contents', 'merchant_agent')
  const made = pickText(payment, 'payment_mandate_contents', 'timestamp')
  return [
    ...(bounds.length === 0 ||
    (agent !== null && bounds.join() === 'merchants' && textsOf(intent, 'merchants').has(agent.value))
      ? []
      : [
          bind(
            'constraint',
            'unverifiable',
            intent.at,
            payment.at,
            'The cart did not come along, so that nobody can hold the payment to the intent.',
          ),
        ]),
    ...bindBefore(
      made,
      pickText(intent, 'intent_expiry'),
      'The payment was made after the intent had ended.',
    ),
  ]
}

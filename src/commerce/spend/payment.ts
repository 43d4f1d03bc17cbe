// A judged message -> the payment that it makes, as spend windows count it: how much of what, to whom, under which mandate, and what
// tells it from every other payment. Pure.
import { hash } from 'node:crypto'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { isObject, member } from '../decode/value.ts'
import { toAddress, toNetwork } from '../policy/assets.ts'
import type { SpendUnit } from '../policy/document.ts'
import { isAnswer, type Subject } from '../policy/model.ts'
import type { Found, Json, Place } from '../ports.ts'
import type { SpendIdentity } from '../protocol.ts'

/** Who is paid, in one text for one party, and how much of the payment it is. */
export interface Share {
  readonly party: string
  readonly amount: bigint
}

export interface Payment {
  readonly unit: SpendUnit
  readonly amount: bigint
  /** The amount is what a stream of payments has come to. */
  readonly isRunning: boolean
  readonly amountAt: Place
  /** The one who is paid first; those who get a part of it behind. */
  readonly shares: readonly Share[]
  readonly mandate: string | undefined
  /** Two of one identity are one payment; undefined where nothing tells it from the next. */
  readonly identity: Identity | undefined
  /** Digest of what is paid, to whom and for what. */
  readonly content: string
}

export interface Identity {
  readonly name: string
  /** A server forgets an idempotency key after a day; a nonce is spent for good. */
  readonly isKey: boolean
  readonly at: Place
}

/** Why a message counts nothing. */
export type Uncounted = 'not_a_payment' | 'amount_unknown'

/** Amounts of more digits are over every cap that can be written. */
const AMOUNT = /^\d{1,78}$/

/** The most recipients of parts of one payment that are counted each by itself. */
const MAX_SHARES = 16

/** The payment that a message makes: none where it offers, answers or only prepares one. */
export function readPayment(subject: Subject): Payment | Uncounted {
  const { detection, primary } = subject
  const { spendStages, pricedStages } = primary?.protocol.policy ?? {}
  if (
    primary === undefined ||
    (spendStages ?? pricedStages)?.has(primary.layer.stage) !== true ||
    isAnswer(subject)
  )
    return 'not_a_payment'
  const { facts } = detection
  const unit = readUnit(subject)
  if (
    facts.amount === null ||
    !facts.amountIsInteger ||
    !AMOUNT.test(facts.amount.value) ||
    unit === undefined
  )
    return 'amount_unknown'
  const described = describe(subject)
  if ((described.shares?.length ?? 0) > MAX_SHARES) return 'amount_unknown'
  const amount = BigInt(facts.amount.value)
  return {
    unit,
    amount,
    isRunning: described.isRunning === true,
    amountAt: facts.amount.at,
    shares: readShares(subject, amount, described),
    mandate: described.mandate,
    identity: identify(subject, described),
    content: digest(describeContent(subject, unit, described)),
  }
}

/** What each protocol of the message says, the nearest to the money first. */
function describe({ spoken }: Subject): SpendIdentity {
  const all = spoken.map((one) => one.protocol.policy.describeSpend?.(one) ?? {})
  const named = all.find(({ name }) => name !== undefined)
  return {
    ...all[0],
    ...(named && { name: named.name, isToldToSeveral: named.isToldToSeveral === true }),
    // A mandate is wider than the checkout that it pays for.
    mandate: all.findLast(({ mandate }) => mandate !== undefined)?.mandate,
  }
}

function readUnit({ detection: { facts } }: Subject): SpendUnit | undefined {
  const { asset, network, currency } = facts
  if (asset !== null)
    return network === null ? undefined : { asset: toAddress(asset.value), network: toNetwork(network.value) }
  return currency === null ? undefined : { currency: currency.value.toUpperCase() }
}

/** The payee is counted with the whole: a part that goes on to others was paid to it first. */
function readShares(subject: Subject, amount: bigint, { shares = [] }: SpendIdentity): readonly Share[] {
  const { payee } = subject.detection.facts
  const found = new Map<string, bigint>()
  const add = (party: string, more: bigint) => found.set(party, (found.get(party) ?? 0n) + more)
  add(payee === null ? `host ${hostOf(subject)}` : toParty(payee.value), amount)
  for (const share of shares) if (AMOUNT.test(share.amount)) add(toParty(share.payee), BigInt(share.amount))
  return [...found].map(([party, part]) => ({ party, amount: part }))
}

/** An account of CAIP-10, and the DID of one, is the address at its end. */
const toParty = (payee: string): string =>
  toAddress(/^(?:did:pkh:)?eip155:\d{1,32}:(0x[\da-f]{40})$/i.exec(payee)?.[1] ?? payee.trim())

/** A host is one party on whichever port, with or without the dot at its end. */
const hostOf = ({ message }: Subject): string => (message.target.url?.hostname ?? '').replace(/\.$/, '')

function identify(subject: Subject, { name }: SpendIdentity): Identity | undefined {
  const { detection, primary } = subject
  const { nonce, idempotencyKey, payer, amount } = detection.facts
  const named = (kind: string, found: Found<string>, parts: readonly string[]): Identity => ({
    name: JSON.stringify([kind, ...parts]),
    isKey: kind === 'key',
    at: found.at,
  })
  if (name !== undefined && amount !== null) return named('name', nonce ?? amount, name)
  const host = hostOf(subject)
  // A checkout is sent again with a new signature and the same key; a payment again with the same signature.
  if (idempotencyKey !== null && (nonce === null || primary?.protocol.role === 'checkout'))
    return named('key', idempotencyKey, [host, idempotencyKey.value])
  if (nonce === null) return undefined
  return named('nonce', nonce, [primary?.protocol.name ?? '', host, payer?.value ?? '', nonce.value])
}

/** All that the same payment says again when it is sent again: not its signature, not the ids of its message. */
function describeContent(
  subject: Subject,
  unit: SpendUnit,
  { isToldToSeveral, isRunning, mandate }: SpendIdentity,
): Json {
  const { message, detection } = subject
  const { amount, payee, payer, resource } = detection.facts
  const toWhom = { ...unit, payee: payee === null ? null : toParty(payee.value) }
  if (isRunning === true) return toWhom
  const between = { ...toWhom, payer: payer === null ? null : toParty(payer.value) }
  const paid = { ...between, amount: amount?.value ?? null }
  if (isToldToSeveral === true) return paid
  const { url } = message.target
  return {
    ...paid,
    mandate: mandate ?? null,
    method: message.method,
    for:
      resource?.value ?? (url === undefined ? message.target.text : url.origin + url.pathname + url.search),
    asked: readAsked(subject),
  }
}

/** What is asked of the one who is paid: the body of the request, or the call of a tool without what names this one message. */
function readAsked({ message, primary, envelopes }: Subject): Json {
  const [envelope] = envelopes
  if (envelope !== undefined) {
    const { method, params } = envelope
    const given = member(params?.value, 'arguments')
    return envelope.isA2a || method === null
      ? null
      : { method: method.value, name: member(params?.value, 'name') ?? null, given: withoutMeta(given) }
  }
  // A payment that is the body says it all in its facts, and is passed on to whoever checks it.
  if (primary?.protocol.role === 'payment' && primary.layer.document?.at.startsWith('/body') === true)
    return null
  const { body } = message
  return body.kind === 'json' ? body.value : body.kind === 'text' ? body.raw : null
}

const withoutMeta = (given: Json | undefined): Json =>
  isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([name]) => name !== 'meta' && name !== '_meta'))
    : (given ?? null)

function digest(value: Json): string {
  return hash('sha256', toText(value), 'base64url')
}

/** Texts that are no Unicode have no canonical form: as they are written, then. */
function toText(value: Json): string {
  try {
    return toCanonicalJson(value)
  } catch {
    return JSON.stringify(value)
  }
}

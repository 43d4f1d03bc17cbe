// A protocol is one value that finds itself in a message, reads it, compares its statements, scores it and says what the
// policy has to know of it. Each folder exports one such value, and protocols.ts lists them.
import type { Binding, Conflict, Found, Layer, Place, TransactionFacts } from './ports.ts'
import type { Policy } from './policy/document.ts'
import type { Reason } from './policy/reasons.ts'
import type { Terms } from './policy/terms.ts'
import type { Reading } from './reading.ts'
import type { Rubric } from './rubric/model.ts'
import type { SignedStatement } from './signed-members.ts'

/** A protocol shows itself in a message. */
export interface Sighting<Sights> {
  readonly layer: Layer
  readonly conflicts: readonly Conflict[]
  /** Findings on the way, for `read`. */
  readonly sights: Sights
}

/** A protocol that a message speaks, with what it says there. */
export interface Stated<Facts> {
  readonly layer: Layer
  readonly facts: Facts
  readonly reading: Reading
}

/** The nearer to the money, the earlier; the first of several protocols in a message is the primary one. */
export const ROLES = ['payment', 'checkout', 'mandate', 'transport'] as const

/**
 * A `payment` pays by itself, so that two of them in one message contradict each other, as do two of `checkout`. A `mandate`
 * says what the primary protocol leaves unsaid. A `transport` carries the others.
 */
export type Role = (typeof ROLES)[number]

/** @typeParam Facts what the protocol says, field by field. @typeParam Sights what detection hands on to reading. */
export interface Protocol<Facts = unknown, Sights = unknown> {
  readonly name: string
  readonly role: Role
  /** Versions, transports and stages that detection tells apart, for GET /v1/test/schema. */
  readonly covers: {
    readonly versions: readonly string[]
    readonly transports: readonly string[]
    readonly stages: readonly string[]
  }
  /** @returns undefined where the message does not speak it */
  detect(reading: Reading): Sighting<Sights> | undefined
  read(sighting: Sighting<Sights>, reading: Reading): Facts
  /** The same in words that every protocol shares. */
  summarise(stated: Stated<Facts>): TransactionFacts
  /** Statements of the message that have to agree, each compared once. */
  bind(stated: Stated<Facts>): readonly Binding[]
  /** What somebody agreed to pay or allow in the message, each with its kind in signed-members.ts. None in offers and answers. */
  listSigned?(stated: Stated<Facts>): readonly SignedStatement[]
  readonly score: {
    /** All of them, for GET /v1/test/schema. */
    readonly rubrics: readonly Rubric<Facts>[]
    /** @returns the one that a message is held against */
    choose(stated: Stated<Facts>): Rubric<Facts>
  }
  readonly policy: ProtocolPolicy<Facts>
}

/** A payment as spend windows tell it from others. */
export interface SpendIdentity {
  /** Two of one name are one payment, whoever is told of it; left out: the nonce names it, else the idempotency key. */
  readonly name?: readonly string[] | undefined
  /** One payment is told to several in messages that say different things: amount, unit and payee alone have to be the same. */
  readonly isToldToSeveral?: boolean
  /** The amount is what a stream of payments has come to so far. */
  readonly isRunning?: boolean
  /** Mandate, session or checkout that it is made under. */
  readonly mandate?: string | undefined
  /** Recipients of a part of the amount, besides the payee. */
  readonly shares?: readonly { readonly payee: string; readonly amount: string }[]
}

/** The rules of the policy ask a protocol these questions; one that is left out does not arise in it. */
export interface ProtocolPolicy<Facts> {
  /** Stages in which somebody pays, or says what is to be paid. */
  readonly pricedStages?: ReadonlySet<string>
  /** Those of `pricedStages` in which money is committed, where not all do that are no offer. */
  readonly spendStages?: ReadonlySet<string>
  /** Whether such a message has to name its payment scheme. */
  readonly needsScheme?: boolean
  /** Name of its credentials where they are redacted; `payment_credential` unless it says otherwise. */
  readonly credentialKind?: string
  /** Rules of its own. */
  judge?(stated: Stated<Facts>): readonly Reason[]
  /** The offers of a challenge, which are more than `summarise` says. Empty: that holds. */
  listTerms?(stated: Stated<Facts>): readonly Terms[]
  /** Hosts that it names. */
  listHosts?(stated: Stated<Facts>): readonly (Found<string> | null)[]
  /** Addresses that a server will open because they are named. */
  listAddresses?(stated: Stated<Facts>): readonly (Found<string> | null)[]
  /** Places where it puts a proof or token, besides the credentials of `summarise`. */
  listExpected?(stated: Stated<Facts>): readonly (Place | null)[]
  /** Place where it carries the data of a card because that is the purpose of the message. */
  findCard?(stated: Stated<Facts>): Place | undefined
  /** Ends of windows besides that of `summarise`. Seconds since the epoch. */
  listExpiries?(stated: Stated<Facts>): readonly (Found<number> | null)[]
  /** Whether what does not say when it ends needs to. */
  needsWindow?(stated: Stated<Facts>): boolean
  /** The widest window, in seconds; `maxMandateSeconds` of the policy unless it says otherwise. */
  limitWindow?(stated: Stated<Facts>, policy: Policy): number
  /** Whether a mismatch may be by design, so that somebody has to look. `isPrimary`: of the message. */
  isArguable?(binding: Binding, stated: Stated<Facts>, isPrimary: boolean): boolean
  /** Whether the message changes something when it is sent again; told by method and stage unless it says. */
  isRisky?(stated: Stated<Facts>): boolean | undefined
  /** What tells a payment apart on spend windows, beyond its nonce and key in `summarise`, and what it is made under. */
  describeSpend?(stated: Stated<Facts>): SpendIdentity
  /** @returns why the protocol itself demands an idempotency key here, as a sentence */
  demandsKey?(stated: Stated<Facts>): string | undefined
}

/** @returns the conflict as a value */
export const conflict = (code: Conflict['code'], at: Place, message: string): Conflict => ({
  code,
  at,
  message,
})

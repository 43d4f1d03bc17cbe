// The one registry of reasons: stable codes with their usual severity and what they mean. GET /v1/test/schema lists it.
import type { Place } from '../ports.ts'

/** Changes whenever a rule, code or default of the policy changes. */
export const POLICY_RULESET_VERSION = 'gateway-inspect/2026-11-23'

export type Severity = 'deny' | 'review' | 'info'

interface ReasonText {
  readonly severity: Severity
  readonly message: string
}

const deny = (message: string) => ({ severity: 'deny', message }) as const
const review = (message: string) => ({ severity: 'review', message }) as const

export const REASONS = {
  HALTED: deny('The policy of this account stops every transaction.'),

  AMOUNT_OVER_CAP: deny('The amount is over the cap for this asset and network.'),
  AMOUNT_UNPARSEABLE: deny('The amount is no number.'),
  AMOUNT_NEGATIVE: deny('The amount is negative.'),
  AMOUNT_FLOAT: review('The amount is a fraction: two programs may round it differently.'),
  AMOUNT_MISSING: review('The transaction does not say how much is paid.'),
  POLICY_AMOUNT_CAP_UNSET: review('The policy has no cap for this asset and network: somebody has to look.'),
  POLICY_INPUT_MISSING: review('The transaction does not say something that the policy decides by.'),

  SPEND_OVER_CAP: deny(
    'With this payment, those of the hour or the day come to more than the policy allows.',
  ),
  SPEND_NOT_COUNTED: review('What this pays is not known, so no spend window can be held against it.'),
  REPLAYED_NONCE: deny(
    'This nonce or key was counted for another payment: one of the two is not what it says.',
  ),

  ASSET_NOT_ALLOWED: deny('The policy does not allow this asset on this network.'),
  NETWORK_NOT_ALLOWED: deny('The policy does not allow this network.'),
  SCHEME_NOT_ALLOWED: deny('The policy does not allow this payment scheme.'),

  RECIPIENT_DENIED: deny('The policy denies this recipient.'),
  RECIPIENT_NOT_ALLOWED: deny('The policy names who may be paid, and this recipient is not among them.'),
  RECIPIENT_ZERO: deny('What is paid to this address is lost: nobody holds its key.'),
  RECIPIENT_MALFORMED: deny('The recipient is no address of its network.'),
  RECIPIENT_TOKEN: deny(
    'The recipient is the contract of a token, or one that moves tokens: what is paid to it is lost.',
  ),
  RECIPIENT_PAYER: review('The recipient is the payer: nobody is paid.'),
  RECIPIENT_CHECKSUM: review(
    'The capitals of the recipient are not its checksum: a character may be mistyped.',
  ),
  REQUIREMENT_INCOMPLETE: deny('A requirement does not say who is paid how much of what.'),

  BINDING_PAYEE: deny('Two statements about who is paid contradict each other.'),
  BINDING_AMOUNT: deny('Two statements about the amount contradict each other.'),
  BINDING_RESOURCE: deny('What is paid for is not what is asked for.'),
  BINDING_HOST: deny('The transaction was made for another host.'),
  BINDING_DIGEST: deny('A digest is not that of the body.'),
  BINDING_HASH: deny('A hash inside a mandate is not that of what it is for.'),
  SIGNATURE_INVALID: deny('A signature is not by the key that the message names for it.'),
  BINDING_OFFER: deny('The offer or requirement that is paid has other terms than the transaction.'),
  BINDING_CONSTRAINT: deny('The transaction is outside of what was authorised.'),

  WINDOW_TOO_WIDE: review('The transaction stays valid for longer than the policy or the seller asks.'),
  WINDOW_EXPIRED: deny('The transaction has expired.'),
  WINDOW_MISSING: review('Nothing says when the transaction expires.'),
  NOT_YET_VALID: review('The transaction is not valid yet.'),

  DOMAIN_MISMATCH: deny('The transaction names a host of another domain than the target.'),
  LOOKALIKE_HOST: deny('A host looks like another one that it is not.'),
  INSECURE_SCHEME: deny('Not https: what is sent can be read and changed on the way.'),
  PRIVATE_TARGET: deny('The address leads into a private network or to this machine.'),

  SECRET_IN_BODY: deny('A credential stands in the body.'),
  SECRET_IN_HEADER: review('A credential stands in a header that is not made for it.'),
  SECRET_IN_URL: deny('A credential stands in the URL: logs and proxies keep it.'),
  CARD_DATA: deny('Card data stands where no protocol expects it.'),
  PROMPT_INJECTION_MARKER: review('Text that may be meant as an instruction to the agent that reads it.'),

  UNSAFE_WITHOUT_IDEMPOTENCY: review(
    'No idempotency key: sent again after a lost answer, it may happen twice.',
  ),

  HEADER_CONFLICT: deny('A header is there more than once, or contradicts another.'),
  HEADER_BODY_MISMATCH: deny('A header says something else than the body.'),
  DUPLICATE_PAYMENT: deny('More than one payment in one message.'),
  VERSION_CONFLICT: deny('Two statements about the version contradict each other.'),
  'DETECT-CONFLICT': deny('The message is of two protocols at once.'),

  SIGNED_MEMBER_MISSING: deny('What is signed lacks a member without which nobody can be held to it.'),
  SIGNED_MEMBER_MALFORMED: deny('A member of what is signed cannot be what it says it is.'),
  UNSIGNED_MANDATE: review('Nobody signed this mandate.'),
  OPEN_MANDATE_UNBOUNDED: review('The mandate sets no limit to the amount, or to who may be paid.'),

  UNKNOWN_PROTOCOL: review('None of the protocols of agent commerce was recognised.'),
  OVERSIZE: deny('Larger than any protocol needs: it was not read.'),
  MALFORMED: deny('It says what it is and cannot be read as that.'),
} as const satisfies Record<string, ReasonText>

export type ReasonCode = keyof typeof REASONS

export interface Reason {
  readonly code: ReasonCode
  readonly severity: Severity
  readonly path: Place
  readonly message: string
  /** Told by a name and by chance alone: it may well be what belongs there. */
  readonly isGuess?: true
}

/** What an account may decide otherwise, and what another moment would: neither is a fault of the transaction. */
const OF_POLICY_OR_CLOCK: ReadonlySet<ReasonCode> = new Set([
  'HALTED',
  'AMOUNT_OVER_CAP',
  'ASSET_NOT_ALLOWED',
  'NETWORK_NOT_ALLOWED',
  'SCHEME_NOT_ALLOWED',
  'RECIPIENT_DENIED',
  'RECIPIENT_NOT_ALLOWED',
  'WINDOW_EXPIRED',
])

/** Whether a transaction is denied for what it is, under every policy and at every time. */
export const isFault = ({ code, severity }: Pick<Reason, 'code' | 'severity'>): boolean =>
  severity === 'deny' && !OF_POLICY_OR_CLOCK.has(code)

/** Reviews of whom it pays, where it goes and what it is at all: nobody would call such a transaction ready. */
const DOUBTS: ReadonlySet<ReasonCode> = new Set([
  'LOOKALIKE_HOST',
  'RECIPIENT_PAYER',
  'RECIPIENT_CHECKSUM',
  // Of one way to pay among several.
  'RECIPIENT_ZERO',
  'RECIPIENT_MALFORMED',
  'RECIPIENT_TOKEN',
  'REQUIREMENT_INCOMPLETE',
  // A version or type that nobody defines means what its reader makes of it.
  'UNKNOWN_PROTOCOL',
])

/** Whether a transaction may well pay somebody else, or mean something else, than it is meant to. */
export const isDoubt = ({ code, severity }: Pick<Reason, 'code' | 'severity'>): boolean =>
  severity === 'review' && DOUBTS.has(code)

/** A reason with the usual severity and words of its code, unless `more` says otherwise. */
export function reason(
  code: ReasonCode,
  path: Place,
  more: { readonly severity?: Severity; readonly message?: string; readonly isGuess?: true } = {},
): Reason {
  const { severity, message } = REASONS[code]
  return { code, severity, path, message, ...more }
}

/** The schema of the test lists them. */
export const listReasons = (): { code: string; severity: Severity; message: string }[] =>
  Object.entries(REASONS).map(([code, text]) => ({ code, ...text }))

// The reasons of /v1/inspect that hold at the edge, code by code. The edge asks the same policy with the same severities; nobody can
// answer a review on the wire, so only what is denied blocks, and a merchant's ordinary traffic must pass where nobody wrote a
// policy. Where the operator wrote one for the account or for everybody, it holds in full.
import type { ReasonCode } from '../commerce/policy/reasons.ts'

export type Hold =
  /** A denial blocks; a review is noted. */
  | 'always'
  /** Blocks where the operator wrote a policy; noted where nobody did. */
  | 'written'
  /** Holds as `written` for a request that has a key, as `always` for one that has none. */
  | 'unless_keyed'
  /** Nothing of the address itself, which the engine judges; what is paid for is noted; as `always` of what a server will open. */
  | 'if_opened'
  /** Holds as `always` where something is paid; offers and answers inside a request are data about payments elsewhere. */
  | 'if_paying'
  /** Nothing is said without a protocol; as `always` with one. */
  | 'with_protocol'
  /** Holds only where the policy demands a key. */
  | 'if_demanded'

export const HOLDS: Readonly<Record<ReasonCode, Hold>> = {
  // Caps and lists are the operator's. What the built-in ones leave out (a coin of next month, the scheme `upto`) is a matter
  // between buyer and merchant until somebody says otherwise.
  HALTED: 'written',
  AMOUNT_OVER_CAP: 'written',
  // Windows are of whoever pays, and the edge is the seller's: it counts nothing.
  SPEND_OVER_CAP: 'written',
  SPEND_NOT_COUNTED: 'written',
  REPLAYED_NONCE: 'written',
  POLICY_AMOUNT_CAP_UNSET: 'written',
  ASSET_NOT_ALLOWED: 'written',
  NETWORK_NOT_ALLOWED: 'written',
  SCHEME_NOT_ALLOWED: 'written',
  RECIPIENT_DENIED: 'written',
  RECIPIENT_NOT_ALLOWED: 'written',

  // Every way out is TLS, so what is insecure can only be a name: merchants behind a proxy that ends TLS call their own resource
  // `http:` in the offer, and the buyer repeats that.
  INSECURE_SCHEME: 'written',

  // An expired payment moves no money, and the merchant may still have the answer to it: a repeat under the same key asks for that,
  // and blocking it would make the buyer pay twice.
  WINDOW_EXPIRED: 'unless_keyed',

  // The address is vetted where it is dialled, and the operator may have opened private ones. A server behind a proxy names its
  // resource by the name that it has there, and nobody opens that.
  PRIVATE_TARGET: 'if_opened',
  LOOKALIKE_HOST: 'if_opened',
  // Much of what a merchant is sent is no commerce at all.
  UNKNOWN_PROTOCOL: 'with_protocol',
  // The edge adds a key where there is none.
  UNSAFE_WITHOUT_IDEMPOTENCY: 'if_demanded',

  // This is about a neighbour; whoever is no neighbour is DOMAIN_MISMATCH. Origins behind a CDN call themselves by another name of theirs.
  BINDING_HOST: 'written',

  AMOUNT_UNPARSEABLE: 'if_paying',
  AMOUNT_NEGATIVE: 'if_paying',
  AMOUNT_FLOAT: 'always',
  AMOUNT_MISSING: 'always',
  POLICY_INPUT_MISSING: 'always',
  RECIPIENT_ZERO: 'if_paying',
  RECIPIENT_MALFORMED: 'if_paying',
  RECIPIENT_TOKEN: 'if_paying',
  RECIPIENT_PAYER: 'if_paying',
  RECIPIENT_CHECKSUM: 'if_paying',
  REQUIREMENT_INCOMPLETE: 'if_paying',

  BINDING_PAYEE: 'if_paying',
  BINDING_AMOUNT: 'if_paying',
  BINDING_RESOURCE: 'if_paying',
  BINDING_DIGEST: 'always',
  BINDING_HASH: 'always',
  SIGNATURE_INVALID: 'always',
  BINDING_OFFER: 'if_paying',
  BINDING_CONSTRAINT: 'always',
  DOMAIN_MISMATCH: 'if_paying',

  WINDOW_TOO_WIDE: 'always',
  WINDOW_MISSING: 'always',
  NOT_YET_VALID: 'always',

  SECRET_IN_BODY: 'always',
  SECRET_IN_HEADER: 'always',
  SECRET_IN_URL: 'always',
  CARD_DATA: 'always',
  PROMPT_INJECTION_MARKER: 'always',

  HEADER_CONFLICT: 'always',
  HEADER_BODY_MISMATCH: 'always',
  DUPLICATE_PAYMENT: 'always',
  VERSION_CONFLICT: 'always',
  'DETECT-CONFLICT': 'always',

  SIGNED_MEMBER_MISSING: 'if_paying',
  SIGNED_MEMBER_MALFORMED: 'if_paying',
  UNSIGNED_MANDATE: 'always',
  OPEN_MANDATE_UNBOUNDED: 'always',

  OVERSIZE: 'always',
  MALFORMED: 'always',
}

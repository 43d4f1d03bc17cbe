// The kinds of signed documents by their `typ` header. Nothing is imported here: the pages that verify in a browser load this table, too.

export const JWS_TYPES = {
  receipt: 'gw-receipt+jws',
  permit: 'gw-permit+jws',
  quote: 'gw-quote+jws',
  offer: 'gw-offer+jws',
  evidence: 'gw-evidence+jws',
  /** SignedReceipt of the x402 extension `offer-receipt`: who paid for which resource, nothing else. */
  x402Receipt: 'gw-x402-receipt+jws',
  topUp: 'gw-top-up+jws',
  mcpSession: 'gw-mcp-session+jws',
  /** Goes along with a market call to the seller's host: who asks, for which claim. */
  call: 'agw-call+jws',
  /** A push notification of A2A: the body is the payload, and the header says for whom it is. */
  push: 'gw-push+jws',
  /** The newest place of a chain of the audit log. */
  auditHead: 'gw-audit-head+jws',
  /** What a pasted sample scored: the address of a badge. */
  testReport: 'gw-test-report+jws',
} as const
export type JwsType = (typeof JWS_TYPES)[keyof typeof JWS_TYPES]

/** Documents that others are handed: each says in `environment` whether it was made in a sandbox. */
export const ATTESTATIONS: ReadonlySet<string> = new Set<JwsType>([
  JWS_TYPES.receipt,
  JWS_TYPES.permit,
  JWS_TYPES.quote,
  JWS_TYPES.offer,
  JWS_TYPES.evidence,
  JWS_TYPES.x402Receipt,
  JWS_TYPES.auditHead,
  JWS_TYPES.call,
  JWS_TYPES.testReport,
])

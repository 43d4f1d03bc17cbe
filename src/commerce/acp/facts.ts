// The facts of ACP, field by field. A null is a field that is not there or has the wrong type.
import type { Found, Place } from '../ports.ts'
import type { Numeral } from '../decode/value.ts'
import type { Credential } from '../decode/jws.ts'
import type { About } from './detect.ts'

export interface AcpFacts extends Pick<About, 'resource' | 'operation' | 'answer'> {
  readonly apiVersion: Found<string> | null
  readonly idempotencyKey: Found<string> | null
  readonly requestId: Found<string> | null
  readonly timestamp: Found<string> | null
  readonly timestampMs: number | null
  readonly signature: Credential | null
  /** It stands in the path, the arguments or the allowance. */
  readonly sessionId: Found<string> | null
  readonly handlerId: Found<string> | null
  readonly currency: Found<string> | null
  /** Of a payment that the cardholder authenticates. */
  readonly authenticated: {
    readonly amount: Numeral | null
    readonly currency: Found<string> | null
    readonly merchantId: Found<string> | null
    /** A bank will send the cardholder there. */
    readonly notificationUrl: Found<string> | null
  } | null
  readonly allowance: {
    readonly at: Place
    readonly reason: Found<string> | null
    readonly maxAmount: Numeral | null
    readonly currency: Found<string> | null
    readonly sessionId: Found<string> | null
    readonly merchantId: Found<string> | null
    readonly expiresAt: Found<string> | null
    readonly expiresAtMs: number | null
  } | null
  readonly merchantSignature: {
    readonly at: Place
    readonly timestamp: Found<number> | null
    readonly isWellFormed: boolean
  } | null
  readonly credentials: readonly Place[]
  readonly authorization: Found<string> | null
}

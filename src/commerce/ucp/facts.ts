// The facts of UCP, field by field. A null is a field that is not there or has the wrong type.
import type { Found, Json, Place } from '../ports.ts'
import type { Numeral } from '../decode/value.ts'
import type { HttpSignature } from '../wire/http.ts'

export interface UcpFacts {
  readonly operation: 'create' | 'get' | 'update' | 'complete' | 'cancel' | null
  readonly profile: Found<string> | null
  readonly idempotencyKey: Found<string> | null
  readonly requestId: Found<string> | null
  readonly checkoutId: Found<string> | null
  readonly version: Found<string> | null
  readonly signature: HttpSignature | null
  readonly currency: Found<string> | null
  /** Entry of `totals` with type total; minor units. */
  readonly total: Numeral | null
  readonly handlerId: Found<string> | null
  readonly expiresAt: Found<string> | null
  readonly instruments: readonly Found<Json>[]
  readonly credentials: readonly Place[]
  readonly hasAp2: boolean
  readonly webhookId: Found<string> | null
  /** An embedded page asks its host to open it. */
  readonly openedUrl: Found<string> | null
}

// Several protocols look at the same parts of a message: they are read once.
import type { Message } from './ports.ts'
import type { BodyDigests } from './wire/digests.ts'
import type { Envelope } from './wire/envelopes.ts'
import type { HttpFacts } from './wire/http.ts'

/** A message with all that several protocols look at in it, each read once. */
export interface Reading {
  readonly message: Message
  readonly http: HttpFacts
  /** JSON-RPC and A2A messages of the body. */
  readonly envelopes: readonly Envelope[]
  readonly digests: BodyDigests
}

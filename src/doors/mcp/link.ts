// What a connection brings along with each of its messages.
import type { PresentedTokens } from '../../core/authenticate.ts'
import type { SeenLimits } from '../http/reply.ts'
import type { Selection } from './selection.ts'
import type { Session } from './session-ids.ts'

/** A connection brings this along with its messages. */
export interface Link {
  readonly tokens: PresentedTokens
  readonly address: string
  readonly requestId: string
  readonly traceparent: string | undefined
  /** The header `Idempotency-Key` of this message; not judged yet. */
  readonly idempotencyKey?: string | undefined
  /** Value of `?names=`. */
  readonly query: string | undefined
  /** The part of the list that the address asks for. */
  readonly selection?: Selection | undefined
  readonly userAgent: string | undefined
  /** Settled by an earlier `initialize`. */
  readonly session: Session | undefined
  /** The client's name in the message on hand. */
  readonly clientName?: string | undefined
  /** Filled with what the message on hand told of limits; nobody asks for it over stdio. */
  readonly seen?: SeenLimits | undefined
  /** Of the message on hand, where it is large. */
  readonly bytes?: number | undefined
}

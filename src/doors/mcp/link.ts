// What a connection brings along with each of its messages.
import type { PresentedTokens } from '../../core/authenticate.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { RpcError } from './wire.ts'
import type { SeenLimits } from '../http/reply.ts'
import type { Selection } from './selection.ts'
import type { Session } from './session-ids.ts'

/** A refusal, and what was wrong with a token that was sent and is not of the kind that was asked for. */
export interface Refusal {
  readonly error: GatewayError
  readonly invalid?: string
}

/** The refusal that is answered in HTTP, where there is HTTP; elsewhere the result of the call says it. */
export interface SignInChallenge {
  readonly refusal: Refusal
  readonly error: RpcError
}

/** A connection brings this along with its messages. */
export interface Link {
  /** The address of the connection; stdio has none. */
  readonly path?: '/mcp' | '/mcp/connect' | undefined
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
  /** Filled with the refusal that the client answers by signing in, by the call on hand; stdio has no place for it. */
  readonly challenged?: { told?: SignInChallenge | undefined } | undefined
  /** Of the message on hand, where it is large. */
  readonly bytes?: number | undefined
}

// What a connection brings along with each of its messages.
import type { PresentedTokens } from '../../core/authenticate.ts'
import type { Spelling } from './names.ts'

/** A connection brings this along with its messages. */
export interface Link {
  readonly tokens: PresentedTokens
  readonly address: string
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly query: string | undefined
  readonly userAgent: string | undefined
  readonly session: Spelling | undefined
  /** The client's name in the message on hand. */
  readonly clientName?: string | undefined
}

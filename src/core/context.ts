// The context of one call, the same for every handler. The services that it may reach besides come from whoever registers the
// tools.
import type { Caller } from './caller.ts'
import type { IdPrefix } from '../lib/ids.ts'
import type { PresentedPayment, PresentedSignIn } from './charging.ts'
import type { HttpExchange, HttpMessage } from './message.ts'
import type { Progress } from './progress.ts'
import type { QuotaState } from './rate-limit.ts'

export type DoorName = 'rest' | 'mcp' | 'a2a'
/** A call may also come from a page on which a person decides. */
export type CallDoor = DoorName | 'console'

/** @typeParam C who calls, as the tool's `caller` says: authenticated once, by the call path */
export interface CallContext<C extends Caller = Caller> {
  readonly caller: C
  /**
   * Aborts when the caller goes away: stop work that nobody will read. Never where x402 or the call's own debit pays for it: what
   * is begun is paid. Made by asking for it: few calls need one.
   */
  readonly signal: () => AbortSignal
  /** The door that the call came through: at MCP and A2A a model reads the answer. */
  readonly door: CallDoor
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** A fresh id of this moment, e.g. `rcp_…`: sortable by time, with 128 random bits. */
  readonly newId: (prefix: IdPrefix) => string
  /** The payment as the door found it, unjudged: for reading the claim it made, never for paying. */
  readonly payment?: PresentedPayment | undefined
  /** Proof of who the payer is, as the door found it, unjudged. */
  readonly signIn?: PresentedSignIn | undefined
  /** The claim that pays for this call; undefined where nothing was paid with x402. */
  readonly claimId?: string | undefined
  /** The message itself, for a tool that passes HTTP messages on. */
  readonly message?: HttpMessage | undefined
  /** The request and the way its answer goes back, for a tool that answers while it works. */
  readonly exchange?: HttpExchange | undefined
  /** Says what the caller has left of a longer quota, for the answer's head; also where it refuses. */
  readonly quota: (state: QuotaState) => void
  /** Long work reports with it; it is a no-op where the door or the client has no use for it. */
  readonly progress: Progress
}

// An attempt between its debit and its end, as its steps hand it on.
import type { SealedCredential, StoredReceipt } from '../store/ports.ts'
import type { Approval } from './ports.ts'
import type { Attempt } from '../store/model.ts'
import type { HeaderPairs } from './headers.ts'
import type { KeyedCall } from './idempotency/keyed-call.ts'
import type { FindWithdrawal, OutboundResponse } from './ports.ts'
import type { RelayEnd } from './relay/ports.ts'
import type { PreparedRequest } from './request.ts'

/** An attempt that is paid for, and what is needed to end it. */
export interface Paid {
  readonly attempt: Attempt
  readonly request: PreparedRequest
  /** Its secret goes with the request; without one nothing is injected and nothing has to be looked for in the answer. */
  readonly credential: SealedCredential | undefined
  readonly balance: number
  /** Who approved the permit that it goes out on, where people had to. */
  readonly approvals?: readonly Approval[] | undefined
  /** The call that it was made for, where its caller gave a key: its answer is kept. */
  readonly keyed?: KeyedCall | undefined
  /** Vetted addresses, when nobody had to be asked for them: then the attempt is `sending` already. */
  readonly addresses: readonly string[] | undefined
  /** Asks whether what it stands on still does; left out where nothing can be withdrawn. */
  readonly findWithdrawal?: FindWithdrawal
  /** Picks what the caller gets of the upstream's headers. */
  readonly pickHeaders: (received: OutboundResponse['headers']) => Record<string, string>
  /** Picks what of them is kept for a repeat, where its caller gets repeated ones apart. */
  readonly pickKept?: (received: OutboundResponse['headers']) => HeaderPairs
  /** An answer with a Content-Encoding is passed on as it came: only where nothing has to be looked for in it. */
  readonly acceptsEncoded?: boolean
}

/** What a receipt says of an answer that was passed on while it arrived. */
export interface StreamFacts {
  readonly kind: 'sse' | 'bytes' | 'websocket'
  /** Of the request body and of what was released of the answer's. */
  readonly bytes_in: number
  readonly bytes_out: number
  /** Of server-sent events; of a WebSocket the messages that went to the program. */
  readonly events: number | undefined
  /** From the moment that the attempt was made. */
  readonly first_byte_ms: number
  readonly duration_ms: number
  readonly end: RelayEnd
  /** Of the bytes that were released, in RFC 9530 form. */
  readonly digest: string
  /** Of a request body that was sent while it arrived, which the digest of the request does not cover. */
  readonly request_digest: string | undefined
}

/** An answer that may be released: it is settled and its receipt is stored. */
export interface Completed {
  readonly response: OutboundResponse
  /** Those that may be passed on. */
  readonly headers: Readonly<Record<string, string>>
  readonly receipt: StoredReceipt
  readonly balance: number
  /** Whether a repeat under the caller's key gets the answer again; false without a key. */
  readonly isAnswerKept: boolean
  readonly responseDigest: string
  /** Digest of the body alone, in RFC 9530 form. */
  readonly contentDigest: string
  /** The addresses of the host, one of which the answer came from. */
  readonly addresses: readonly string[]
}

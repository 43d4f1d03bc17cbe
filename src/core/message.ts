// An HTTP message as it came in, for a tool whose input and output are the message itself.
import type { Duplex, Readable } from 'node:stream'

/** One HTTP message for a merchant, as it came in. */
export interface HttpMessage {
  /** First segment behind `/edge/`, raw. */
  readonly host: string
  /** The rest of the path with its leading slash, raw. */
  readonly path: string
  /** The text behind `?`, raw; undefined where there is no `?`. */
  readonly query: string | undefined
  readonly method: string
  /** Headers as received, in order, repeated ones apart. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Client address after trusted proxies. */
  readonly address: string
  readonly requestId: string
}

/**
 * One decrypted HTTP request of a program that knows nothing of the gateway, and the way its answer goes back. Neither body is held
 * whole: the request's is read while it is sent, the answer is written while it arrives.
 */
export interface HttpExchange {
  /** Where the program means it to go. */
  readonly target: ExchangeTarget
  /** As received: `POST`, in upper case. */
  readonly method: string
  /** As received, in order, repeated ones apart; the engine drops what is of the connection, and every token of this gateway. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body as it arrives, chunks taken off; undefined where the head announces none. An error of it is a program that went away. */
  readonly body: Readable | undefined
  /** Bytes that `content-length` announces; undefined for a body in chunks. */
  readonly bodyBytes: number | undefined
  readonly answer: AnswerSink
  /** Where the program asks for a WebSocket: its connection, for when there is one. */
  readonly upgrade?: ProgramUpgrade | undefined
  /** Aborts when the program goes away; what was sent until then stays charged. */
  readonly signal: AbortSignal
}

export type ExchangeTarget =
  /** Absolute `https:` URL whose path and query are in the program's own spelling: a proxy knows the host. */
  | { readonly url: string }
  /** A base URL names a credential instead, by label or id; `path` is what stood behind it, with its slash and query, raw. */
  | {
      readonly credential: string
      readonly path: string
      /** The base URL's own path, raw: `/via/tools`. Undefined for a program that believes to be at the upstream itself. */
      readonly base?: string | undefined
    }

/** The connection of a program that asked for a WebSocket. Refusals go the way of every other answer. */
export interface ProgramUpgrade {
  /**
   * Answers 101, once, and hands the connection over: frames come and go on it from here on, and whoever has it ends it.
   * @param headers lower-case names; those of the handshake itself are added
   * @returns undefined where the program is gone
   */
  accept(headers: readonly (readonly [name: string, value: string])[]): Duplex | undefined
}

/** The answer to one request, written a piece at a time. */
export interface AnswerSink {
  /** Whether anybody is left to read it. */
  readonly isGone: boolean
  /**
   * Sends the head, once, before anything else.
   * @param headers lower-case names, repeated ones apart; without `content-length` the body goes out in chunks
   * @param asked URL at the upstream that answers, where the program knows the base URL alone
   */
  begin(status: number, headers: readonly (readonly [name: string, value: string])[], asked?: string): void
  /** Sends bytes. What it returns is awaited before the next piece: it resolves when the program takes more, or is gone. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** Ends it well. Trailers go out where the body is in chunks. */
  end(trailers?: Readonly<Record<string, string>>): void
  /**
   * Breaks the connection off, so that nobody takes what was sent for the whole.
   * @param last sent before, if the program still reads
   */
  abort(last?: Uint8Array): void
}

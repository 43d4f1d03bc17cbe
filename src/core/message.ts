// An HTTP message as it came in, for a tool whose input and output are the message itself.

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

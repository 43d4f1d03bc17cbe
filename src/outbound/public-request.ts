// One request for a public page, without a credential, and what its answer says in its head: the same for everything that
// reads the web for a caller.
import type { OutboundResponse, Sender, SendResult } from '../egress/ports.ts'
import { Secret } from '../lib/secret.ts'
import { ACCEPT_ENCODING, codingsOf, type DecodedBody, decodeBody } from './encoding.ts'

export interface PublicRequest {
  readonly method: string
  readonly url: URL
  /** Vetted: the only ones that are dialled. */
  readonly addresses: readonly string[]
  readonly accept: string
  readonly userAgent: string
  /** Further headers, such as validators. Nothing secret. */
  readonly headers?: readonly (readonly [string, string])[]
  /** Name of whoever these connections belong to: no credential ever travels on one. */
  readonly partition: string
  readonly timeoutMs: number
  /** Bounds the body as sent and as decoded; a longer one is cut there. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

/** Never throws. */
export const sendPublic = (sender: Pick<Sender, 'send'>, request: PublicRequest): Promise<SendResult> =>
  sender.send({
    method: request.method,
    url: request.url,
    addresses: request.addresses,
    headers: new Secret<readonly (readonly [string, string])[]>([
      ['accept', request.accept],
      ['accept-encoding', ACCEPT_ENCODING],
      ['user-agent', request.userAgent],
      ...(request.headers ?? []),
    ]),
    body: undefined,
    partition: request.partition,
    timeoutMs: request.timeoutMs,
    maxResponseBytes: request.maxBytes,
    overflow: 'cut',
    acceptsEncoded: true,
    signal: request.signal,
  })

/** The first header of that name; a trailer is none. */
export const headerOf = ({ headers }: Pick<OutboundResponse, 'headers'>, name: string): string | undefined =>
  headers.find((entry) => entry.name === name && !entry.trailer)?.value

/** Every header of that name as one value, as HTTP says that lists are read. */
export const listOf = ({ headers }: Pick<OutboundResponse, 'headers'>, name: string): string =>
  headers
    .filter((entry) => entry.name === name && !entry.trailer)
    .map(({ value }) => value)
    .join(', ')

/** The body without its codings, at most `maxBytes` of it. */
export async function decodeResponse(
  response: OutboundResponse,
  maxBytes: number,
): Promise<{ readonly codings: readonly string[]; readonly decoded: DecodedBody }> {
  const codings = codingsOf(listOf(response, 'content-encoding'))
  const isCut = response.isCut === true
  return { codings, decoded: await decodeBody(response.body, codings, { isCut, maxBytes }) }
}

/** @returns the address that a `Location` leads to; undefined where it is no web address at all */
export function resolveLocation(location: string, base: string): URL | undefined {
  const target = URL.canParse(location, base) ? new URL(location, base) : undefined
  return target && /^https?:$/.test(target.protocol) ? target : undefined
}

// The gateway's vetted way out in the words of `fetch`, for libraries that ask in those: one request, no redirect, an answer of bounded
// length. The address is looked at anew each time.
import type { AddressPolicy } from '../egress/address.ts'
import type { Sender } from '../egress/ports.ts'
import { parseTarget, type TargetOptions } from '../egress/target.ts'
import { Secret } from '../lib/secret.ts'
import { ACCEPT_ENCODING } from './encoding.ts'
import { decodeResponse } from './public-request.ts'
import type { Targets } from './targets.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024
/** Statuses whose answer has no body, as `Response` wants it. */
const EMPTY: readonly number[] = [204, 205, 304]

export interface FetchRequest {
  readonly method?: string | undefined
  readonly headers?: HeadersInit | undefined
  readonly body?: unknown
}
/** @throws {Error} with a word for why there was no answer */
export type VettedFetch = (url: string, request?: FetchRequest) => Promise<Response>

/** @param parts.partition whoever these connections belong to */
export function createVettedFetch(parts: {
  readonly sender: Pick<Sender, 'send'>
  readonly targets: Pick<Targets, 'inspect'>
  readonly target: TargetOptions
  /** The addresses that may be dialled. */
  readonly reach: AddressPolicy
  readonly partition: string
}): VettedFetch {
  const { sender, targets, target, reach, partition } = parts
  return async (asked, { method = 'GET', headers, body } = {}) => {
    const verdict = parseTarget(asked, target)
    if (!verdict.ok) throw new Error(verdict.reason)
    const resolution = await targets.inspect({ host: verdict.host, blocked: undefined }, TIMEOUT_MS)
    if (!resolution.ok) throw new Error(resolution.reason)
    const given = [...new Headers(headers)].filter(([name]) => name !== 'accept-encoding')
    const sent = await sender.send({
      method,
      url: verdict.url,
      addresses: resolution.addresses,
      reach,
      headers: new Secret<readonly (readonly [string, string])[]>([
        ...given,
        ['accept-encoding', ACCEPT_ENCODING],
      ]),
      body: bytesOf(body),
      partition,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
      acceptsEncoded: true,
    })
    if (!sent.ok) throw new Error(sent.reason)
    const { status, headers: answered } = sent.response
    const { decoded } = await decodeResponse(sent.response, MAX_BYTES)
    if (!decoded.ok) throw new Error(decoded.reason)
    if (decoded.isCut) throw new Error('too_large')
    const kept = new Headers()
    for (const { name, value, trailer } of answered)
      if (!trailer && !/^(?:content-encoding|content-length|transfer-encoding)$/.test(name))
        kept.append(name, value)
    return new Response(EMPTY.includes(status) ? null : new Uint8Array(decoded.body), {
      status,
      headers: kept,
    })
  }
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof URLSearchParams) return Buffer.from(body.toString())
  if (body instanceof Uint8Array) return Buffer.from(body)
  throw new TypeError('a body of this kind is not sent')
}

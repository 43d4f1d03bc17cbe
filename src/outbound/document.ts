// Reads a small document of a stranger's: the address is vetted as every other one is, redirects are not followed, and what is longer
// than its limit is no document.
import type { Sender } from '../egress/ports.ts'
import { parseTarget, type TargetOptions } from '../egress/target.ts'
import { decodeResponse, sendPublic } from './public-request.ts'
import type { Targets } from './targets.ts'

export interface ReadDocument {
  readonly status: number
  readonly text: string
  /** Lower-case names; those that say how long it may be kept. */
  readonly headers: Readonly<Record<string, string>>
}

/** Never throws. @returns a word for why there is none */
export type DocumentReader = (request: {
  readonly url: string
  readonly accept: string
  readonly maxBytes: number
  readonly timeoutMs: number
}) => Promise<
  { readonly ok: true; readonly document: ReadDocument } | { readonly ok: false; readonly reason: string }
>

const KEPT_HEADERS = ['cache-control', 'expires', 'content-type']

/** @param parts.userAgent how the gateway calls itself */
export function createDocumentReader(parts: {
  readonly sender: Pick<Sender, 'send'>
  readonly targets: Pick<Targets, 'inspect'>
  readonly target: TargetOptions
  readonly userAgent: string
}): DocumentReader {
  const { sender, targets, target, userAgent } = parts
  return async ({ url, accept, maxBytes, timeoutMs }) => {
    const verdict = parseTarget(url, target)
    if (!verdict.ok) return { ok: false, reason: verdict.reason }
    const resolution = await targets.inspect({ host: verdict.host, blocked: undefined }, timeoutMs)
    if (!resolution.ok) return { ok: false, reason: resolution.reason }
    const sent = await sendPublic(sender, {
      method: 'GET',
      url: verdict.url,
      addresses: resolution.addresses,
      accept,
      userAgent,
      partition: 'client documents',
      timeoutMs,
      maxBytes,
    })
    if (!sent.ok) return { ok: false, reason: sent.reason }
    const { decoded } = await decodeResponse(sent.response, maxBytes)
    if (!decoded.ok) return { ok: false, reason: decoded.reason }
    if (decoded.isCut) return { ok: false, reason: 'too_large' }
    const headers = Object.fromEntries(
      sent.response.headers
        .filter(({ name, trailer }) => !trailer && KEPT_HEADERS.includes(name))
        .map(({ name, value }) => [name, value]),
    )
    return {
      ok: true,
      document: { status: sent.response.status, text: decoded.body.toString('utf8'), headers },
    }
  }
}

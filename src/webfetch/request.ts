// Turns a request in any shape into the one that is quoted, paid for and carried out: canonical URL, defaults filled in.
import type { NormalisedFetch } from '../../schemas/web-fetch.ts'
import { parseTarget, type TargetOptions } from '../egress/target.ts'
import { GatewayError } from '../core/errors.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import { readShape } from './shapes.ts'

export interface PreparedFetch {
  readonly request: NormalisedFetch
  /** base64url SHA-256 over the RFC 8785 form of `request`. */
  readonly digest: string
  readonly url: URL
  readonly host: string
  /** Why it may not be reached, as far as the URL itself tells. */
  readonly blocked: { readonly reason: string; readonly detail: string } | undefined
}

/**
 * A place that stays closed is a fact about a readable request, not a misspelling: `blocked` says so.
 * @throws {GatewayError} input_*, target_invalid
 */
export function prepareFetch(input: unknown, rules: TargetOptions): PreparedFetch {
  const reading = readShape(input as Readonly<Record<string, unknown>>)
  if (!reading.ok)
    throw new GatewayError(reading.code, reading.detail, { extras: { fields: reading.fields } })
  const { wanted } = reading
  const verdict = parseTarget(wanted.url, rules)
  if (!verdict.ok && verdict.code === 'target_invalid')
    throw new GatewayError('target_invalid', `${wanted.urlPointer}: ${verdict.detail}`, {
      reason: verdict.reason,
      extras: { fields: [{ pointer: wanted.urlPointer, message: verdict.detail }] },
    })
  const url = verdict.ok ? verdict.url : new URL(wanted.url)
  const request: NormalisedFetch = {
    max_bytes: wanted.maxBytes,
    method: wanted.method,
    mode: wanted.mode,
    network: wanted.network,
    timeout_ms: wanted.timeoutMs,
    url: url.href,
  }
  return {
    request,
    digest: digestOf(request),
    url,
    host: url.hostname,
    blocked: verdict.ok ? undefined : { reason: verdict.reason, detail: verdict.detail },
  }
}

/** Lower-case hex SHA-256 of the canonical JSON (RFC 8785): what a quote and a payment are bound to. */
export const digestOf = (request: NormalisedFetch): string => digestCanonical(request)

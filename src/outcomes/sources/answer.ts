// A 2xx answer as bytes and what its head says about them, and what a later 304 changes of that.
import type { SourceReason } from '../../../schemas/sources.ts'
import type { OutboundResponse } from '../../egress/ports.ts'
import { decodeResponse, headerOf, listOf } from '../../outbound/public-request.ts'
import { digestBytes } from '../digest.ts'
import { cleanText, collapseSpaces, cutText } from '../extract/text.ts'
import type { FetchedSource, SourceFailure, UsageHeaders } from '../ports.ts'
import { MAX_SOURCE_BYTES } from './accept.ts'
import { ageOf, type CachedAnswer } from './cache.ts'
import { failure } from './failure.ts'
import { readFreshness } from './freshness.ts'

const MAX_HEADER_CHARACTERS = 300
const MAX_ROBOTS_HEADERS = 10
/** Node keeps several buffers in one piece of memory only when they are much smaller. */
const ALONE_BYTES = 128 * 1024

/** @param response of status 2xx */
export async function readAnswer(
  response: OutboundResponse,
  at: number,
): Promise<{ readonly ok: true; readonly answer: CachedAnswer } | SourceFailure> {
  const { status } = response
  const { decoded } = await decodeResponse(response, MAX_SOURCE_BYTES)
  const refuse = (reason: SourceReason, detail: string) => failure(reason, detail, { httpStatus: status })
  if (!decoded.ok)
    return decoded.reason === 'unknown_encoding'
      ? refuse(
          'encoding_unsupported',
          'The answer has a Content-Encoding that is not undone. Name another source.',
        )
      : refuse('encoding_malformed', 'The answer is not what its Content-Encoding says. Name another source.')
  if (decoded.body.length === 0)
    return refuse('empty', `The source answered with status ${status} and no content. Name another address.`)
  const answer: CachedAnswer = {
    status,
    contentType: shownHeader(headerOf(response, 'content-type')),
    contentLanguage: shownHeader(listOf(response, 'content-language')),
    etag: shownHeader(headerOf(response, 'etag')),
    lastModified: shownHeader(headerOf(response, 'last-modified')),
    ...usageOf(response),
    body: alone(decoded.body),
    isCut: decoded.isCut,
    sha256: digestBytes(decoded.body),
    retrievedAt: at,
    freshness: readFreshness(response),
  }
  return { ok: true, answer }
}

/**
 * The kept answer as the source confirmed it: a new time, the same bytes.
 * @param response of status 304
 * @returns undefined where it speaks of something else than what was kept
 */
export function freshen(
  kept: CachedAnswer,
  response: OutboundResponse,
  at: number,
): CachedAnswer | undefined {
  const etag = headerOf(response, 'etag')
  if (etag !== undefined && kept.etag !== null && opaque(etag) !== opaque(kept.etag)) return undefined
  const said = readFreshness({ status: 200, headers: response.headers })
  const saysLifetime = response.headers.some(({ name }) => name === 'cache-control' || name === 'expires')
  return {
    ...kept,
    retrievedAt: at,
    freshness: saysLifetime ? said : { ...said, lifetimeSeconds: kept.freshness.lifetimeSeconds },
  }
}

/** Compared weakly (RFC 9110, 13.1.2). */
const opaque = (etag: string) => etag.trim().replace(/^W\//, '')

/** The conditions that the source is asked under, so that it need not send again what is kept. */
export function conditionsOf(kept: CachedAnswer | undefined): (readonly [string, string])[] {
  const conditions: [string, string][] = []
  // A text that is certain to be a header value is sent, and no other.
  if (kept?.etag && /^(?:W\/)?"[ !#-~]*"$/.test(kept.etag)) conditions.push(['if-none-match', kept.etag])
  if (kept?.lastModified && /^[ -~]+$/.test(kept.lastModified))
    conditions.push(['if-modified-since', kept.lastModified])
  return conditions
}

/** Everyone who gets it has the same bytes: they are copied on their way to the process that reads them, and not before. */
export function toSource(
  url: string,
  answer: CachedAnswer,
  { cache, at }: { cache: FetchedSource['cache']; at: number },
): FetchedSource {
  const { freshness: _freshness, ...shown } = answer
  return { ...shown, url, ageSeconds: ageOf(answer, at), cache }
}

/** Nothing where nothing is said, as nearly everywhere. */
function usageOf(response: OutboundResponse): { usage?: UsageHeaders } {
  const robots = response.headers
    .filter(({ name, trailer }) => name === 'x-robots-tag' && !trailer)
    .slice(0, MAX_ROBOTS_HEADERS)
    .map(({ value }) => cutText(value, MAX_HEADER_CHARACTERS))
  const tdmReservation = shownHeader(headerOf(response, 'tdm-reservation'))
  const policy = shownHeader(headerOf(response, 'tdm-policy'))
  const tdmPolicy = policy !== null && /^https?:/i.test(policy) && URL.canParse(policy) ? policy : null
  return robots.length === 0 && tdmReservation === null
    ? {}
    : { usage: { robots, tdmReservation, tdmPolicy } }
}

const copy = (body: Buffer): Buffer => Buffer.from(new Uint8Array(body).buffer)

/** The bytes in memory that nothing else is in: a large body is not copied for what was never written behind it. */
const alone = (body: Buffer): Buffer =>
  body.length > ALONE_BYTES && body.buffer.byteLength < 2 * body.length ? body : copy(body)

function shownHeader(value: string | undefined): string | null {
  const text = collapseSpaces(cleanText(value ?? ''))
  return text === '' ? null : cutText(text, MAX_HEADER_CHARACTERS)
}

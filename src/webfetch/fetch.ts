// The story of one fetch: check, resolve, classify, send once, decode, sign. Whatever does not end in a complete HTTP
// answer throws, and so does what is not JSON where JSON was asked for; then nothing is charged.
import { createHash } from 'node:crypto'
import { formatAtomic } from '../../schemas/money.ts'
import {
  type AddressClass,
  type NormalisedFetch,
  WEB_FETCH,
  type WebFetchResult,
} from '../../schemas/web-fetch.ts'
import { GatewayError } from '../core/errors.ts'
import { noProgress } from '../core/progress.ts'
import { newId } from '../lib/ids.ts'
import { decodeResponse, headerOf, resolveLocation, sendPublic } from '../outbound/public-request.ts'
import type { Targets } from '../outbound/targets.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Signer } from '../receipts/ports.ts'
import type { OutboundResponse, Sender, SendFailure } from '../egress/ports.ts'
import { readContent } from './content.ts'
import { pinnedNetwork } from './rails.ts'
import type { PlannedFetch } from './ports.ts'
import type { PreparedFetch } from './request.ts'

export interface FetchParts {
  readonly targets: Targets
  readonly sender: Sender
  readonly signer: Signer
  readonly amountAtomic: bigint
  readonly baseUrl: string
  /** Where the page about this gateway is that the User-Agent names. */
  readonly siteUrl: string
  readonly now: () => number
}

/** Connections of fetches are shared among fetches only: no credential ever travels on one. */
const PARTITION = 'web-fetch'

const STEPS = 3

const ACCEPT: Readonly<Record<NormalisedFetch['mode'], string>> = {
  auto: 'text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8',
  text: 'text/html,text/plain;q=0.9,*/*;q=0.8',
  json: 'application/json,*/*;q=0.5',
}

/** @returns the work of a paid fetch: one request without credentials, and its content read */
export function createFetch(parts: FetchParts) {
  const { now } = parts

  return async function fetch(
    prepared: PreparedFetch,
    { requestId, progress = noProgress }: Parameters<PlannedFetch['run']>[0],
  ): Promise<WebFetchResult> {
    const { request } = prepared
    const startedAt = now()
    const left = () => Math.max(1, request.timeout_ms - (now() - startedAt))
    const { addresses, addressClass } = await parts.targets.resolve(prepared, left())
    const resolvedAt = now()
    progress({ done: 1, total: STEPS, message: 'The host is found; the page is asked for' })
    // A paid fetch is not given up when its caller goes away: the result is stored for whoever paid.
    const sent = await sendPublic(parts.sender, {
      method: request.method,
      url: prepared.url,
      addresses,
      accept: ACCEPT[request.mode],
      userAgent: `AgentGateway/5 (+${parts.siteUrl}/reader)`,
      partition: PARTITION,
      timeoutMs: left(),
      maxBytes: request.max_bytes,
    })
    if (!sent.ok) throw noAnswer(sent)
    progress({ done: 2, total: STEPS, message: 'The answer is here and is read' })
    const response = await readResponse(sent.response, prepared)
    const fault = findFault(response, request)
    if (fault !== undefined) throw notJson(fault, response, request.url)
    progress({ done: STEPS, total: STEPS, message: 'The answer is read; its evidence is signed' })
    const endedAt = now()
    const evidence = sign(parts, prepared, {
      requestId,
      addressClass,
      response,
      timings: { startedAt, resolvedAt, endedAt },
    })
    const { revenue } = pinnedNetwork(request.network)
    return {
      ok: true,
      request,
      target: { host: prepared.host, address_class: addressClass },
      response,
      redirect: readRedirect(response, request.url),
      evidence,
      cost: {
        amount_atomic: parts.amountAtomic.toString(),
        amount: formatAtomic(parts.amountAtomic),
        currency: 'USDC',
        decimals: 6,
        paid: true,
        network: request.network,
        revenue: revenue && parts.signer.environment === 'production',
      },
      receipt: null,
    }
  }
}

async function readResponse(
  received: OutboundResponse,
  { request }: PreparedFetch,
): Promise<WebFetchResult['response']> {
  const isCut = received.isCut === true
  const { codings, decoded } = await decodeResponse(received, request.max_bytes)
  const body = decoded.ok ? decoded.body : received.body
  const contentType = headerOf(received, 'content-type')
  const content = readContent({
    body,
    isCut: decoded.ok ? decoded.isCut : isCut,
    contentType,
    mode: request.mode,
    isOpaque: !decoded.ok,
  })
  return {
    status: received.status,
    headers: pickHeaders(received.headers),
    content_type: contentType ?? null,
    content_encoding: codings.length === 0 ? null : codings.join(', '),
    charset: content.charset,
    bytes: body.length,
    truncated: decoded.ok ? decoded.isCut : isCut,
    sha256: createHash('sha256').update(body).digest('base64url'),
    content_kind: content.content_kind,
    content: content.content,
    ...(content.parse_error !== undefined && { parse_error: content.parse_error }),
    untrusted: true,
  }
}

/** Headers that say something about the content or its address. Nothing that sets state, and no trailer. */
const HEADERS = new Set(
  (
    'age allow cache-control content-disposition content-encoding content-language content-length content-location ' +
    'content-type date deprecation etag expires last-modified link location retry-after sunset vary warning ' +
    'x-robots-tag'
  ).split(' '),
)

function pickHeaders(received: OutboundResponse['headers']): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const { name, value, trailer } of received) {
    if (trailer || !HEADERS.has(name)) continue
    picked[name] = name in picked ? `${picked[name]}, ${value}` : value
  }
  return picked
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

function readRedirect(
  { status, headers }: WebFetchResult['response'],
  base: string,
): WebFetchResult['redirect'] {
  const location = headers['location']
  if (!REDIRECTS.has(status) || location === undefined) return null
  const url = resolveLocation(location, base)?.href ?? null
  return { location, url, followed: false }
}

function sign(
  { signer, baseUrl }: FetchParts,
  { request, digest, host }: PreparedFetch,
  facts: {
    requestId: string
    addressClass: AddressClass
    response: WebFetchResult['response']
    timings: { startedAt: number; resolvedAt: number; endedAt: number }
  },
): WebFetchResult['evidence'] {
  const { startedAt, resolvedAt, endedAt } = facts.timings
  const { status, bytes, truncated, sha256 } = facts.response
  const id = newId('evd', startedAt)
  const jws = signer.sign(JWS_TYPES.evidence, {
    iss: baseUrl,
    jti: id,
    iat: Math.floor(endedAt / 1000),
    evidence_id: id,
    tool: WEB_FETCH,
    request_id: facts.requestId,
    request_digest: digest,
    method: request.method,
    host,
    address_class: facts.addressClass,
    upstream_status: status,
    response_digest: sha256,
    response_bytes: bytes,
    truncated,
    network: request.network,
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    timings_ms: {
      resolve: resolvedAt - startedAt,
      exchange: endedAt - resolvedAt,
      total: endedAt - startedAt,
    },
  })
  return { evidence_id: id, jws }
}

type Fault = 'empty' | NonNullable<WebFetchResult['response']['parse_error']>
const FAULTS: Readonly<Record<Fault, string>> = {
  empty: 'an answer without content',
  not_json: 'something that is not JSON',
  truncated: 'more than max_bytes, so that its JSON has no end',
  too_deep: 'JSON that is nested too deeply',
  content_encoding: 'a Content-Encoding that is not undone',
  inexact_number: 'numbers that do not fit a double',
}

/** Why a GET that wants JSON got none: then there is nothing to charge for. A HEAD is for the head. */
function findFault(
  response: WebFetchResult['response'],
  { mode, method }: NormalisedFetch,
): Fault | undefined {
  if (mode !== 'json' || method === 'HEAD' || response.content_kind === 'json') return undefined
  return response.parse_error ?? 'empty'
}

/** Says what came instead, so that the buyer knows how to ask. */
function notJson(fault: Fault, response: WebFetchResult['response'], url: string): GatewayError {
  const { status, content_type } = response
  const location = readRedirect(response, url)?.url
  const advice = location
    ? 'It redirects: fetch the address in `redirect_url` instead.'
    : fault === 'truncated'
      ? 'Ask with a larger max_bytes, or with mode `text`.'
      : 'To get the answer as it is, ask with mode `auto` or `text`.'
  return new GatewayError(
    'response_unacceptable',
    `JSON was asked for, and the source answered with status ${status} and ${FAULTS[fault]}. Nothing was charged. ${advice}`,
    {
      reason: fault,
      extras: {
        upstream_status: status,
        upstream_content_type: content_type,
        parse_error: fault,
        ...(location && { redirect_url: location }),
      },
    },
  )
}

const FREE = 'Nothing was charged; trying again is safe.'
const WORDS = {
  connect_failed: 'the connection could not be made',
  tls_failed: 'the TLS handshake failed (check the certificate of the host)',
  address_refused: 'its address may not be dialled',
  address_mismatch: 'the connection did not reach the vetted address',
  timeout: 'no complete answer came within timeout_ms',
  request_rejected: 'the request could not be put on the wire',
  reset: 'the connection was lost before an answer came',
  body_incomplete: 'the answer ended early',
} as const

function noAnswer(failure: SendFailure): GatewayError {
  const reason = `${failure.phase}_${failure.reason}`
  if (failure.phase === 'response')
    return new GatewayError(
      'response_unacceptable',
      `The source answered with status ${failure.status}, which cannot be passed on. Nothing was charged.`,
      { reason, extras: { upstream_status: failure.status } },
    )
  if (failure.reason === 'malformed')
    return new GatewayError(
      'response_unacceptable',
      'What the source answered is not valid HTTP. Nothing was charged.',
      { reason },
    )
  return new GatewayError(
    'upstream_unreachable',
    `The source was not read: ${WORDS[failure.reason]}. ${FREE}`,
    {
      reason,
    },
  )
}

// What a program sent, as the one request that may go out: canonical target, its own headers without credentials, its body without
// placeholders. The secret comes in later, by the same placement as for every other request.
import { randomUUID } from 'node:crypto'
import {
  type CredentialSettings,
  MAX_LIMITS,
  MAX_RELAY_LIMITS,
  type Placement,
} from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import type { HttpExchange } from '../../core/message.ts'
import type { SealedCredential } from '../../store/ports.ts'
import { isUnsignedChunks } from '../kinds/aws-sigv4.ts'
import { isSigning } from '../kinds/kind.ts'
import { findOtherMethods } from '../method-override.ts'
import { MAX_PLACED_BYTES } from '../placement/body-bounds.ts'
import { placementsOf } from '../placement/place.ts'
import { checkRoom } from '../placement/room.ts'
import type { StreamClocks } from '../ports.ts'
import { MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, type PreparedRequest, TIMEOUT_MS } from '../request.ts'
import { parseTarget, type TargetOptions } from '../target.ts'
import {
  pickProgramHeaders,
  refuseAccountHeaders,
  refuseOtherMethod,
  type RequestHeaderRules,
} from './headers.ts'
import { findSources } from './named-source.ts'
import { refuseOwnKey } from './own-key.ts'
import { withoutPlaceholders } from './placeholder.ts'
import { withoutPresigning } from './presigned.ts'
import { passedRanges, readRange, widenedHeaders } from './ranges.ts'
import type { ReadBody } from './request-body.ts'
import { isTelemetry } from './telemetry-headers.ts'
import { programTarget } from './target.ts'

/** Of a connection, its TLS included. */
const CONNECT_MS = 10_000
const IDLE_MS = 5 * 60_000
/** People talk in some of them, and think. */
const WEBSOCKET_IDLE_MS = 10 * 60_000

/** What the credential says of requests of programs. */
export interface RelayRules extends RequestHeaderRules {
  readonly maxRequestBytes: number
  readonly maxResponseBytes: number
  readonly clocks: StreamClocks
  /** Whether a body has to be read whole: the secret goes into it, or a signature goes over it. */
  readonly readsWhole: boolean
  /** Whether a key of the program's own is refused, where it would be replaced. */
  readonly refusesOwnKeys: boolean
}

/**
 * What an operator set below the usual bound of a request was set to protect something: it holds for programs, too. A larger one lets callers
 * ask for more, and says nothing of programs.
 */
const lowered = (limit: number | undefined, usual: number): number | undefined =>
  limit !== undefined && limit < usual ? limit : undefined

/**
 * The bounds of `settings.relay`; where it leaves one out that of `settings.limits`, if lowered; else the default. What has begun in that time may
 * last: an answer of a model, a clone and a WebSocket have no end of their own to wait for.
 * @param isWebSocket whether the program asks for one, which may be silent for longer than an answer
 */
export function rulesOf(
  credential: Pick<SealedCredential, 'header' | 'scheme' | 'settings'>,
  isWebSocket = false,
): RelayRules {
  const { settings } = credential
  const { relay = {}, limits = {}, kind } = settings
  const placements = placementsOf(credential)
  const isSigned = kind !== undefined && isSigning(kind)
  const mostInMemory = placements.some(isInBody)
    ? MAX_PLACED_BYTES
    : isSigned
      ? MAX_LIMITS.max_request_bytes
      : undefined
  const maxRequestBytes =
    relay.max_request_bytes ??
    lowered(limits.max_request_bytes, MAX_REQUEST_BYTES) ??
    MAX_RELAY_LIMITS.max_request_bytes
  const timeoutMs = lowered(limits.timeout_ms, TIMEOUT_MS)
  return {
    placements,
    isSigned,
    passesCookies: relay.cookies === true,
    maxRequestBytes: Math.min(maxRequestBytes, mostInMemory ?? maxRequestBytes),
    maxResponseBytes:
      relay.max_response_bytes ??
      lowered(limits.max_response_bytes, MAX_RESPONSE_BYTES) ??
      MAX_RELAY_LIMITS.max_response_bytes,
    clocks: {
      connectMs: CONNECT_MS,
      firstByteMs: relay.first_byte_ms ?? timeoutMs ?? MAX_RELAY_LIMITS.first_byte_ms,
      idleMs: relay.idle_ms ?? (isWebSocket ? WEBSOCKET_IDLE_MS : IDLE_MS),
      totalMs: relay.total_ms ?? MAX_RELAY_LIMITS.total_ms,
    },
    readsWhole: mostInMemory !== undefined,
    refusesOwnKeys: relay.own_keys === 'refuse',
  }
}

/** Stands for the digest of a body that is not known when the attempt is made; its receipt has that of what was sent. */
const STREAMED = 'streamed'
/** Where a program gives its request a key. */
export const KEY_HEADER = 'idempotency-key'

/**
 * What the digest of a program's request covers of its headers: all that tell one request from another, such as those that choose an account.
 * What libraries say of each try is left out, so that a repeat is known for one; and so is the program's key, which nothing that is stored
 * may let anybody guess.
 */
export const digestedPart = (request: PreparedRequest): PreparedRequest => ({
  ...request,
  headers: request.headers
    .filter(([name]) => name !== KEY_HEADER && !isTelemetry(name))
    // Two parts may be asked for in the same words, with what is around them.
    .map(([name, value]) => [name, name === request.range?.header ? request.range.value : value] as const),
})

/**
 * What two requests under one key are compared by. A body that streams is not known before it is sent, so that none is taken for the repeat
 * of another: the second is refused, and the program never gets an answer to something else.
 */
export function comparedPart(request: PreparedRequest): PreparedRequest {
  const part = digestedPart(request)
  return part.contentDigest === STREAMED ? { ...part, contentDigest: `${STREAMED} ${randomUUID()}` } : part
}

const isInBody = (placement: Placement) => placement.in === 'json' || placement.in === 'form'

/**
 * @param url absolute, in the program's spelling
 * @throws {GatewayError} target_invalid, header_forbidden, input_invalid, target_blocked
 */
export function prepareExchange(
  { url, exchange, body }: { readonly url: string; readonly exchange: HttpExchange; readonly body: ReadBody },
  rules: RelayRules,
  options: TargetOptions & {
    readonly settings: CredentialSettings
    /** Headers that choose an account at the provider. */
    readonly accountHeaders: readonly string[]
  },
): PreparedRequest {
  if (rules.refusesOwnKeys)
    refuseOwnKey({ url, headers: exchange.headers, body: body.whole }, rules.placements)
  const { settings } = options
  const asked = settings.kind?.type === 'aws_sigv4' ? withoutPresigning(url) : url
  const targetOptions = { ...options, allowEncodedSlash: settings.encoded_slash }
  const verdict = parseTarget(programTarget(asked, rules.placements), targetOptions)
  if (!verdict.ok) throw new GatewayError(verdict.code, verdict.detail, { reason: verdict.reason })
  refuseChunkSignatures(exchange)
  refuseOtherMethod(exchange)
  const { search } = verdict.url
  refuseAccountHeaders(exchange.headers, options.accountHeaders, settings.request_headers)
  const range = readRange({ ...exchange, search })
  const headers = [
    ...pickProgramHeaders(exchange.headers, rules),
    ...passedRanges({ ...exchange, search }),
    ...(range ? widenedHeaders(range, exchange.headers) : []),
  ]
  const isStreamed = body.streamed !== undefined && exchange.bodyBytes !== undefined
  const prepared: PreparedRequest = {
    target: verdict,
    method: exchange.method,
    headers: isStreamed ? [...headers, ['content-length', String(exchange.bodyBytes)]] : headers,
    body: withoutPlaceholders(body.whole, rules.placements),
    ...(body.streamed && { contentDigest: STREAMED }),
    timeoutMs: CONNECT_MS,
    maxResponseBytes: rules.maxResponseBytes,
    askedMaxBytes: null,
    range,
    sources: findSources(headers, verdict, targetOptions, settings.request_headers),
    otherMethods: findOtherMethods({ ...exchange, search, body: body.whole }),
  }
  checkRoom(prepared, rules.placements)
  return prepared
}

/** Each chunk is signed with the placeholder, and names the signature before it: they cannot be signed again one by one. */
function refuseChunkSignatures({ headers }: HttpExchange): void {
  const isChunkSigned = headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .some(
      ([name, value]) =>
        name === 'x-amz-content-sha256' && value.startsWith('STREAMING-') && !isUnsignedChunks(name, value),
    )
  if (isChunkSigned)
    throw new GatewayError(
      'header_forbidden',
      'The body is signed chunk by chunk, which cannot be signed again. Set AWS_REQUEST_CHECKSUM_CALCULATION=when_required for the program; ' +
        'a library that signs chunks all the same has a switch for it (Java: chunkedEncodingEnabled(false)).',
      { reason: 'chunk_signatures', extras: { header: 'x-amz-content-sha256' } },
    )
}

// Turns what a caller asked for into the one request that may be sent: canonical target, allowed headers, bounded body.
import type { CredentialSettings, Placement } from '../../schemas/credential-settings.ts'
import type { Scope } from '../../schemas/http.ts'
import { GatewayError } from '../core/errors.ts'
import type { EgressRequest } from './ports.ts'
import { type HeaderPairs, pickRequestHeaders } from './headers.ts'
import { findOtherMethods, type OtherMethod } from './method-override.ts'
import { checkRoom } from './placement/room.ts'
import { findDeniedPath, type Provider } from './providers/index.ts'
import { checkScope } from './scope.ts'
import { parseTarget, type TargetOptions, type TargetVerdict } from './target.ts'

export const MAX_REQUEST_BYTES = 128 * 1024
export const MAX_RESPONSE_BYTES = 1024 * 1024
export const TIMEOUT_MS = 30_000

const SAFE_METHODS = new Set(['GET', 'HEAD'])
/** Whether the method promises to change nothing (RFC 9110, 9.2.1). */
export const isSafeMethod = (method: string) => SAFE_METHODS.has(method)

export interface PreparedRequest {
  readonly target: Extract<TargetVerdict, { ok: true }>
  readonly method: string
  /** Allowed ones and defaults, lower-case names, without the credential and the Idempotency-Key. */
  readonly headers: HeaderPairs
  readonly body: Buffer | undefined
  /** In the place of the body's digest, where the body is not here but is sent while it arrives. */
  readonly contentDigest?: string | undefined
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /** The bound that the caller wrote, where it did; null where it cannot write any. */
  readonly askedMaxBytes?: number | null
  /** The part of the answer that a program asked for; `headers` ask for more. */
  readonly range?: AskedRange | undefined
  /** What headers of it have the service read beside the target; scopes and rules are asked about them, too. */
  readonly sources?: readonly NamedSource[] | undefined
  /** Under which the service may take it, by what stands in its query or form; scopes and rules are asked about each of them, too. */
  readonly otherMethods?: readonly OtherMethod[] | undefined
}

/** A part of an answer, in bytes from 0 on, both ends included, or so many of its last ones. */
export type AskedPart =
  { readonly first: number; readonly last: number | undefined } | { readonly suffix: number }

export interface AskedRange {
  /** Under which it was asked; the storage of Azure has one of its own. */
  readonly header: 'range' | 'x-ms-range'
  /** As the program wrote it. */
  readonly value: string
  readonly part: AskedPart
}

/** Something that the service reads with the credential, because a header of the request names it. */
export interface NamedSource {
  /** Lower-case name of the header. */
  readonly header: string
  /** Undefined where nobody can tell what the service makes of the header. */
  readonly target: PreparedRequest['target'] | undefined
  /** Of one that nobody can tell: it may be at another host than the request, so that a scope of every path does not cover it. */
  readonly isElsewhere?: true
}
/** Whatever becomes of a source, its service reads it. */
export const SOURCE_METHOD = 'GET'

export interface RequestRules extends TargetOptions {
  /** Version headers of the provider, sent where the caller gives none. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** Headers that callers may send beside the usual ones: the provider's list and the credential's. */
  readonly listedHeaders?: readonly string[]
  /** The credential's own bounds, instead of the usual ones. */
  readonly limits?: CredentialSettings['limits']
  /** What the gateway adds to the request later, and has to have room for. */
  readonly placements?: readonly Placement[]
}

/**
 * Refuses everything that is 400 before anything that is 403.
 * @throws {GatewayError} target_invalid, header_forbidden, input_invalid, body_too_large, target_blocked
 */
export function prepareRequest(request: EgressRequest, rules: RequestRules): PreparedRequest {
  const verdict = parseTarget(request.url, rules)
  if (!verdict.ok && verdict.code === 'target_invalid')
    throw new GatewayError('target_invalid', verdict.detail, { reason: verdict.reason })
  const headers = pickRequestHeaders(request.headers, rules.defaultHeaders, rules.listedHeaders)
  const { limits = {} } = rules
  const body = readRequestBody(request, limits.max_request_bytes ?? MAX_REQUEST_BYTES)
  if (!verdict.ok) throw new GatewayError('target_blocked', verdict.detail, { reason: verdict.reason })
  const { method } = request
  const otherMethods = findOtherMethods({ method, search: verdict.url.search, headers, body })
  const prepared = {
    target: verdict,
    method,
    headers,
    body,
    timeoutMs: within('timeout_ms', request.timeout_ms, TIMEOUT_MS, limits.timeout_ms),
    maxResponseBytes: within('max_bytes', request.max_bytes, MAX_RESPONSE_BYTES, limits.max_response_bytes),
    ...(request.max_bytes !== undefined && { askedMaxBytes: request.max_bytes }),
    ...(otherMethods && { otherMethods }),
  }
  checkRoom(prepared, rules.placements ?? [])
  return prepared
}

/**
 * @param usual without a wish, where the credential does not allow less
 * @param most of this credential, where it says so
 * @throws {GatewayError} input_invalid for more than the credential allows: less than was asked for would be a surprise
 */
function within(field: string, asked: number | undefined, usual: number, most: number = usual): number {
  if (asked === undefined) return Math.min(usual, most)
  if (asked <= most) return asked
  const message = `this credential allows ${most} at most; its operator can raise it (settings.limits)`
  throw new GatewayError('input_invalid', `/${field}: ${message}.`, {
    extras: { fields: [{ pointer: `/${field}`, message }] },
  })
}

/** Standard base64 with padding. Megabytes of it are compared, not matched: an expression would need a stack for each group. */
export const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && Buffer.from(text, 'base64').toString('base64') === text

/** Who has a say about where a request may go; without a capability, only the credential and its provider are asked. */
interface ScopeHolders {
  readonly capability?: { readonly scope: Scope }
  readonly credential: { readonly scope: Scope }
  readonly provider: Pick<Provider, 'id' | 'denied'>
}

/**
 * @throws {GatewayError} scope_denied, naming who refused: the capability or the credential behind it; header_forbidden where it names a
 * source that nobody can judge
 */
export function checkScopes(
  { target, method, sources, otherMethods }: PreparedRequest,
  holders: ScopeHolders,
): void {
  checkTarget({ target, method }, holders)
  for (const other of otherMethods ?? []) checkTarget({ target, ...other }, holders)
  for (const { header, target: source, isElsewhere } of sources ?? [])
    if (source) checkTarget({ target: source, method: SOURCE_METHOD, header }, holders)
    else if (isElsewhere || HOLDERS.some((holder) => !readsAnything(holders[holder]?.scope)))
      throw unreadSource(header)
}

const readsAnything = (scope: Scope | undefined) =>
  !scope || (scope.path_prefixes.includes('/') && scope.methods.includes(SOURCE_METHOD))

const byOperator = (header: string) =>
  `The operator of this gateway can let it name whatever the key can read (settings.request_headers: ["${header}"]).`

/** Refused and not dropped: without the header it would be another request than the program means. */
export const unreadSource = (header: string): GatewayError =>
  new GatewayError(
    'header_forbidden',
    `Leave out the request header ${header}: it names something that the service reads with the credential, and what that is cannot be compared ` +
      `with the scope and the rules. ${byOperator(header)} Nothing was sent or charged.`,
    { reason: 'named_source', extras: { header } },
  )

/** One of the targets and methods that a request may be about, and what names it where it is not the request's own. */
export interface AskedTarget extends Pick<PreparedRequest, 'target' | 'method'> {
  /** Of a source. */
  readonly header?: string
  /** Of another method (method-override.ts). */
  readonly by?: string
}

function checkTarget({ target, method, header, by }: AskedTarget, holders: ScopeHolders): void {
  const { host, port, path } = target
  const asked = { host, port, path, method }
  for (const refusedBy of HOLDERS) {
    const scope = holders[refusedBy]?.scope
    const verdict = scope ? checkScope(scope, asked) : OK
    if (verdict.ok || !scope) continue
    const what =
      header === undefined
        ? by === undefined
          ? `this ${verdict.reason}`
          : `the method ${method}, which the ${by} names`
        : `the ${verdict.reason} of what the request header ${header} names, which the service reads (${SOURCE_METHOD})`
    throw new GatewayError(
      'scope_denied',
      `The ${refusedBy} does not cover ${what}. What it covers is in \`scope\`; ask the operator for ` +
        `a ${refusedBy} that covers it.${header === undefined ? '' : ` ${byOperator(header)}`}`,
      {
        reason: `${refusedBy}_${verdict.reason}`,
        extras: { refused_by: refusedBy, scope, ...(header !== undefined && { header }) },
      },
    )
  }
  const denied = findDeniedPath(holders.provider, { method, path, query: target.url.search })
  if (denied !== undefined)
    throw new GatewayError(
      'scope_denied',
      `${holders.provider.id} answers this path with another secret, so no credential is ever sent to it. Ask the ` +
        'operator to do this step by hand.',
      { reason: 'denied_path', extras: { refused_by: 'credential', denied } },
    )
}

const OK = { ok: true } as const
const HOLDERS = ['capability', 'credential'] as const

function readRequestBody(request: EgressRequest, maxBytes: number): Buffer | undefined {
  const { body, body_base64, method } = request
  if (body === undefined && body_base64 === undefined) return undefined
  if (body !== undefined && body_base64 !== undefined)
    throw new GatewayError('input_invalid', '/body_base64: send either `body` or `body_base64`, not both.')
  if (isSafeMethod(method))
    throw new GatewayError('input_invalid', `/body: a ${method} request has no body. Leave it out.`)
  if (body !== undefined && !body.isWellFormed())
    throw new GatewayError(
      'input_invalid',
      '/body: it holds half a surrogate pair. Send bytes as `body_base64`.',
    )
  const bytes = body !== undefined ? Buffer.from(body) : Buffer.from(body_base64 ?? '', 'base64')
  if (bytes.length > maxBytes)
    throw new GatewayError('body_too_large', `Send at most ${maxBytes} bytes as the request body.`, {
      extras: { max_bytes: maxBytes },
    })
  return bytes
}

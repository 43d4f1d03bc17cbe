// This door's column of the error table: what a thrown error looks like over JSON-RPC, HTTP+JSON and in a task.
// A2A's own errors are the SDK's classes; everything else is a GatewayError. No other text reaches a client.
import { A2AError, A2A_ERROR_CODE, restStatusFor, toJsonRpcError, toRestErrorBody } from '@a2a-js/sdk/errors'
import { type GatewayError, toGatewayError, toProblem } from '../../core/errors.ts'
import { type Speller, spellProblem } from '../../core/tool-words.ts'
import type { IncomingMessage } from 'node:http'
import { bearerChallenge, isAboutSignIn } from '../http/bearer-challenge.ts'
import { refusalHeaders } from '../http/reply.ts'
import type { Json } from './wire.ts'

/** Spec 9.5 keeps -32001 and below for A2A itself; this is the one code left for "refused before any work". */
export const REFUSED = -32000
const INFO_DOMAIN = 'agent-gateway'

export interface RpcFailure {
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string>>
  readonly error: { readonly code: number; readonly message: string; readonly data?: readonly Json[] }
}

export interface ErrorContext {
  /** Writes the tools' names in a text of ours as ids of skills. */
  readonly spell: Speller
  readonly requestId: string
  readonly baseUrl: string
  readonly req: Pick<IncomingMessage, 'headers'>
}

/** Whatever was thrown as a JSON-RPC error with its HTTP status. An unknown throw becomes `internal` and says nothing of its cause. */
export function toRpcFailure(thrown: unknown, context: ErrorContext): RpcFailure {
  if (thrown instanceof A2AError) {
    const { code, message, data } = toJsonRpcError(thrown)
    return { httpStatus: 200, headers: {}, error: { code, message, data: (data ?? []) as unknown as Json[] } }
  }
  const error = toGatewayError(thrown)
  const code = rpcCodeOf(error)
  const isHttpMatter = code === REFUSED || code === A2A_ERROR_CODE.INTERNAL_ERROR || error.status === 413
  return {
    httpStatus: isHttpMatter ? error.status : 200,
    headers: headersOf(error, context),
    error: { code, message: context.spell(error.message), data: detailsOf(error, context) },
  }
}

/** 7.5: a client that can sign in is told where. */
const headersOf = (
  error: GatewayError,
  { req, baseUrl }: ErrorContext,
): Readonly<Record<string, string>> => ({
  ...refusalHeaders(error),
  ...(isAboutSignIn(error) && bearerChallenge(error, { req, path: '/a2a', addresses: { baseUrl } })),
})

function rpcCodeOf(error: GatewayError): number {
  switch (error.code) {
    case 'json_invalid':
      return A2A_ERROR_CODE.PARSE_ERROR
    case 'json_too_deep':
    case 'body_too_large':
    case 'request_invalid':
      return A2A_ERROR_CODE.INVALID_REQUEST
    case 'content_type_unsupported':
      return A2A_ERROR_CODE.CONTENT_TYPE_NOT_SUPPORTED
    case 'internal':
    case 'store_unavailable':
      return A2A_ERROR_CODE.INTERNAL_ERROR
    default:
      return error.status === 400 || error.status === 404 ? A2A_ERROR_CODE.INVALID_PARAMS : REFUSED
  }
}

const REST_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

/** google.rpc.Status in JSON (11.6). */
export function toRestFailure(
  thrown: unknown,
  context: ErrorContext,
): { status: number; headers: Readonly<Record<string, string>>; body: unknown } {
  if (thrown instanceof A2AError) {
    const status = restStatusFor(thrown)
    return { status, headers: {}, body: toRestErrorBody(thrown, status) }
  }
  const error = toGatewayError(thrown)
  // 5.4: a wrong content type is 400 in this binding, as ContentTypeNotSupportedError.
  const status = error.status === 415 ? 400 : error.status
  return {
    status,
    headers: headersOf(error, context),
    body: {
      error: {
        code: status,
        status: REST_STATUS[status] ?? 'UNKNOWN',
        message: context.spell(error.message),
        details: detailsOf(error, context),
      },
    },
  }
}

/** ErrorInfo first (every A2A error has one), field violations where there are any, and the problem document whole. */
function detailsOf(error: GatewayError, context: ErrorContext): Json[] {
  const details: Json[] = [
    error.code === 'content_type_unsupported'
      ? errorInfo('CONTENT_TYPE_NOT_SUPPORTED', 'a2a-protocol.org')
      : errorInfo(error.code.toUpperCase(), INFO_DOMAIN),
  ]
  const fields = error.extras.fields
  if (fields && fields.length > 0)
    details.push({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: fields.map(({ pointer, message }) => ({
        field: fieldPath(pointer),
        description: message,
      })),
    })
  details.push({
    '@type': 'type.googleapis.com/google.protobuf.Struct',
    value: spellProblem(toProblem(error, context), context.spell),
  })
  return details
}

const errorInfo = (reason: string, domain: string): Json => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
})

/** `/message/parts/0/text` -> `message.parts[0].text` */
function fieldPath(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
}

// Puts a call to the seller's host, once, and says what came of it: an answer, or whose fault it is that there is none.
import { GatewayError } from '../../core/errors.ts'
import type { Unrecorded, UnrecordedResult } from '../../egress/unrecorded.ts'
import { CALL_HEADER, type CallTokenParts, signCall } from './call-token.ts'
import type { ServiceFailure } from '../../store/ports.ts'
import type { UpstreamAnswer, UpstreamRequest } from './ports.ts'

export interface UpstreamParts extends CallTokenParts {
  readonly unrecorded: Unrecorded
}

export type UpstreamResult =
  | { readonly ok: true; readonly answer: UpstreamAnswer }
  | {
      readonly ok: false
      /** Null where the service is not at fault. */
      readonly fault: ServiceFailure | null
      readonly error: GatewayError
    }

const USER_AGENT = 'agent-gateway/5 (marketplace)'
const LISTED = [CALL_HEADER]
const SAFE = new Set(['GET', 'HEAD'])
const JSON_TYPE = { 'content-type': 'application/json' }

/** Never throws for what a host does. */
export async function callUpstream(parts: UpstreamParts, request: UpstreamRequest): Promise<UpstreamResult> {
  const { sold, version, route, body } = request
  const { origin, credentialId } = version.document
  let result: UnrecordedResult
  try {
    result = await parts.unrecorded.send({
      url: origin + request.target,
      method: route.method,
      headers: {
        accept: 'application/json, */*;q=0.5',
        'user-agent': USER_AGENT,
        [CALL_HEADER]: signCall(parts, request),
        ...(body && JSON_TYPE),
      },
      listedHeaders: LISTED,
      body,
      idempotencyKey: SAFE.has(route.method) ? undefined : request.claimId,
      timeoutMs: route.timeoutMs,
      maxResponseBytes: route.maxResponseBytes,
      credential:
        credentialId !== null && sold.accountId !== null
          ? { id: credentialId, accountId: sold.accountId }
          : null,
      partition: `market ${sold.sellerId}`,
    })
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return unsent(thrown)
  }
  if (result.ok) return { ok: true, answer: result }
  return unanswered(result)
}

const FREE = 'Nothing was charged; the same payment can be used again.'

/** The seller is told why by their own figures and the operator by the log; how its host is reached is nobody else's business. */
function unsent(thrown: GatewayError): UpstreamResult {
  const reason = `${thrown.code}_${thrown.reason ?? ''}`
  switch (thrown.code) {
    case 'egress_paused':
      return { ok: false, fault: null, error: thrown }
    case 'target_blocked':
    case 'upstream_unreachable':
      return {
        ok: false,
        fault: 'unreachable',
        error: new GatewayError('upstream_unreachable', `The service could not be reached. ${FREE}`, {
          reason,
        }),
      }
    default:
      return {
        ok: false,
        fault: 'unreachable',
        error: new GatewayError('service_failed', `The service is not set up as it should be. ${FREE}`, {
          reason,
          cause: thrown,
        }),
      }
  }
}

function unanswered(result: Exclude<UnrecordedResult, { ok: true }>): UpstreamResult {
  const reason = `${result.phase}_${result.reason}`
  const failed = (fault: ServiceFailure, error: GatewayError): UpstreamResult => ({ ok: false, fault, error })
  switch (result.phase) {
    case 'before_send':
      return failed(
        result.reason === 'timeout' ? 'timeout' : 'unreachable',
        new GatewayError('upstream_unreachable', `The service could not be reached. ${FREE}`, { reason }),
      )
    case 'after_send':
      return failed(
        result.reason === 'timeout' ? 'timeout' : 'answer',
        new GatewayError('service_failed', `The service did not answer completely and in time. ${FREE}`, {
          reason,
        }),
      )
    case 'response':
    case 'withheld':
      return failed(
        result.reason === 'bad_status' ? 'status' : 'answer',
        new GatewayError(
          'response_unacceptable',
          `The service answered with something that cannot be passed on: ${PASSING[result.reason] ?? 'it could not be searched for a secret'}. ${FREE}`,
          { reason, extras: { upstream_status: result.status } },
        ),
      )
  }
}

const PASSING: Readonly<Record<string, string>> = {
  too_large: 'it is larger than the listing allows',
  bad_status: 'its status',
  encoded: 'it is compressed, which nobody asked for',
  reflected: 'it held a secret',
}

// Says what went wrong with one address, in the words of the coverage; never what the source or a library said.
import type { SourceReason } from '../../../schemas/sources.ts'
import type { OutboundResponse, SendFailure } from '../../egress/ports.ts'
import type { Resolution } from '../../outbound/targets.ts'
import type { SourceFailure } from '../ports.ts'

/** @param detail for the caller, in our own words */
export const failure = (
  reason: SourceReason,
  detail: string,
  more: Pick<SourceFailure, 'httpStatus' | 'redirectTo'> = {},
): SourceFailure => ({ ok: false, reason, detail, ...more })

const NAME_REASONS: Readonly<Record<string, SourceReason>> = { not_found: 'name_not_found' }
const NAME_ADVICE: Readonly<Record<string, string>> = {
  not_found: 'Check the spelling of the host.',
  timeout: 'Try again later, or name a fallback.',
  server_failure: 'Try again later, or name a fallback.',
}

/** The failure of a name that may not be asked or does not resolve. */
export function fromObstacle({ code, reason, detail }: Resolution & { ok: false }): SourceFailure {
  switch (code) {
    case 'egress_paused':
      return failure('egress_paused', `${detail} Try again later.`)
    case 'target_blocked':
      return failure('target_blocked', `${detail} Name another source.`)
    case 'upstream_unreachable':
      return failure(
        NAME_REASONS[reason] ?? 'name_unresolved',
        `${detail} ${NAME_ADVICE[reason] ?? ''}`.trim(),
      )
  }
}

const SEND_FAILURES: Readonly<Record<SendFailure['reason'], readonly [SourceReason, string]>> = {
  connect_failed: [
    'connect_failed',
    'No connection to the host could be made. Try again later, or name a fallback.',
  ],
  address_refused: ['connect_failed', 'The address of this host may not be dialled.'],
  address_mismatch: ['connect_failed', 'The connection did not reach the address that was checked.'],
  request_rejected: ['connect_failed', 'The request could not be put on the wire.'],
  tls_failed: [
    'tls_failed',
    'The TLS handshake failed: the certificate is not valid for this host, or not trusted. Name another source.',
  ],
  timeout: ['timeout', 'No complete answer came in time. Try again later, or name a fallback.'],
  reset: ['connection_lost', 'The connection was lost before an answer came. Try again later.'],
  body_incomplete: ['connection_lost', 'The answer ended before it was complete. Try again later.'],
  malformed: ['malformed_response', 'What was answered is not valid HTTP. Name another source.'],
  too_large: ['malformed_response', 'The answer is larger than what is read.'],
  encoded: ['encoding_unsupported', 'The answer has a Content-Encoding that is not undone.'],
  bad_status: ['http_status', 'The answer has a status that carries no whole page. Name another address.'],
}

/** The failure of a request that got no answer that can be read. */
export function fromSend(sent: SendFailure): SourceFailure {
  const [reason, detail] = SEND_FAILURES[sent.reason]
  return failure(reason, detail, sent.phase === 'response' ? { httpStatus: sent.status } : {})
}

/** Why an answer with this status is no source; undefined for 2xx. Where a redirect leads is redirect.ts's. */
export function fromStatus({ status }: Pick<OutboundResponse, 'status'>): SourceFailure | undefined {
  if (status >= 200 && status < 300) return undefined
  return failure('http_status', `The source answered with status ${status}. ${adviceOn(status)}`, {
    httpStatus: status,
  })
}

function adviceOn(status: number): string {
  if (status === 404 || status === 410) return 'There is nothing at this address: check it.'
  if (status === 401 || status === 402 || status === 403 || status === 407 || status === 451)
    return 'It is not for everybody: name a public address.'
  if (status === 429) return 'It is asked too often: try again later.'
  return status >= 500 ? 'Try again later, or name a fallback.' : 'Name another address.'
}

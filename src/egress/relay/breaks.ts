// How an answer breaks off, and in what words whoever waits for it is told.
import type { Attempt } from '../../store/model.ts'
import { StreamBroken } from '../ports.ts'
import { TooLong } from './begin.ts'
import { ClientStalled } from './patience.ts'
import type { RelayEnd } from './ports.ts'

export const BREAK_WORDS: Readonly<Record<RelayEnd, string>> = {
  complete: 'it ended',
  client_closed: 'the program went away',
  client_stalled: 'the program read nothing for longer than the gateway waits',
  upstream_reset: 'the connection was lost',
  idle: 'it fell silent for longer than the gateway waits',
  limit: 'it was longer than the gateway allows',
  reflected: 'it contained the credential',
  revoked: 'the capability was revoked',
}

export const tooLargeWords = (status: number) =>
  `The upstream carried the request out (status ${status}), but its answer is longer than the credential allows. It was charged and will not ` +
  'be resent. Ask for less, or ask the operator to raise settings.relay.max_response_bytes of the credential.'

export interface Break {
  readonly end: RelayEnd
  readonly state: 'settled' | 'ambiguous'
  readonly outcome: string
}

/**
 * What an answer that was begun ends as, where it did not end well.
 * @param thrown by whoever passed it on
 */
export function breakOf(thrown: unknown, { aborted: isRevoked }: AbortSignal): Break {
  if (thrown instanceof ClientStalled)
    return { end: 'client_stalled', state: 'settled', outcome: 'client_stalled' }
  if (thrown instanceof TooLong) return { end: 'limit', state: 'settled', outcome: 'response_too_large' }
  const reason = thrown instanceof StreamBroken ? thrown.reason : 'reset'
  switch (reason) {
    case 'aborted':
      if (isRevoked) return { end: 'revoked', state: 'settled', outcome: 'revoked' }
      return { end: 'client_closed', state: 'settled', outcome: 'client_closed' }
    case 'total':
      return { end: 'limit', state: 'settled', outcome: 'response_too_long' }
    case 'idle':
      return { end: 'idle', state: 'ambiguous', outcome: 'no_answer_timeout' }
    case 'reset':
    case 'malformed':
      return { end: 'upstream_reset', state: 'ambiguous', outcome: 'no_answer_body_incomplete' }
  }
}

/** In the form of the services that stream: their libraries raise it as an error. */
export function errorEvent({ id }: Attempt, end: RelayEnd): Buffer {
  const message = `The gateway ended this answer: ${BREAK_WORDS[end]}. The request was charged and is not to be repeated blindly.`
  const data = { type: 'error', error: { type: 'gateway_error', code: end, message, attempt_id: id } }
  return Buffer.from(`event: error\ndata: ${JSON.stringify(data)}\n\n`)
}

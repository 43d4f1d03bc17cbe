// How a WebSocket may end, as its receipt has it and as either side is told.
import type { LeakVerdict } from '../../leak/inspection.ts'
import type { RelayEnd } from '../ports.ts'
import type { Closing } from './frames.ts'

export interface Over {
  readonly end: RelayEnd
  readonly state: 'settled' | 'ambiguous'
  readonly outcome: string
  readonly toProgram: Closing
  /** Undefined where it was told already, or is gone. */
  readonly toUpstream: Closing | undefined
  /** What was found in a message. */
  readonly verdict?: Exclude<LeakVerdict, { ok: true }>
}

const closing = (code: number | undefined, reason: string | Buffer = ''): Closing => ({
  kind: 'close',
  code,
  reason: Buffer.from(reason),
})

// Codes of RFC 6455, 7.4.1, and of the registry that it opened.
const GOING_AWAY = 1001
const POLICY = 1008
const TOO_MUCH = 1009
const FAILED = 1011
const BAD_GATEWAY = 1014

/** Neither side learns more than that it is over: what was found in a message is in the log and in the receipt. */
const POLICY_WORDS = 'ended by the gateway'

export const complete = ({ code, reason }: Closing, isToldUpstream: boolean): Over => ({
  end: 'complete',
  state: 'settled',
  outcome: 'delivered',
  toProgram: closing(code, reason),
  toUpstream: isToldUpstream ? undefined : closing(code, reason),
})

export const reflected = (verdict: Exclude<LeakVerdict, { ok: true }>): Over => ({
  end: 'reflected',
  state: 'settled',
  outcome: 'secret_reflected',
  toProgram: closing(POLICY, POLICY_WORDS),
  toUpstream: closing(POLICY, POLICY_WORDS),
  verdict,
})

/** @param code of the close frame that answers what it sent; undefined where nothing is there to answer */
export const programGone = (outcome = 'client_closed', code: number = GOING_AWAY): Over => ({
  end: 'client_closed',
  state: 'settled',
  outcome,
  toProgram: closing(code, code === POLICY ? POLICY_WORDS : ''),
  toUpstream: closing(code === POLICY ? POLICY : GOING_AWAY),
})

/** A token of this gateway does not leave it. */
export const ownToken = (): Over => programGone('own_token', POLICY)

/** The program said goodbye, and the upstream never answered. */
export const unanswered = (said: Closing): Over => ({
  ...programGone(),
  toProgram: said,
  toUpstream: undefined,
})

/** @param code of the close frame, where what it sent broke the rules */
export const upstreamGone = (code?: number): Over => ({
  end: 'upstream_reset',
  state: 'ambiguous',
  outcome: 'no_answer_body_incomplete',
  toProgram: closing(BAD_GATEWAY, 'the connection to the upstream was lost'),
  toUpstream: code === undefined ? undefined : closing(code),
})

export const idle = (): Over => ({
  end: 'idle',
  state: 'ambiguous',
  outcome: 'no_answer_timeout',
  toProgram: closing(GOING_AWAY, 'nothing was said for too long'),
  toUpstream: closing(GOING_AWAY),
})

export const clientStalled = (): Over => ({
  end: 'client_stalled',
  state: 'settled',
  outcome: 'client_stalled',
  toProgram: closing(GOING_AWAY, 'nothing was read for too long'),
  toUpstream: closing(GOING_AWAY),
})

export const limit = (outcome: 'response_too_large' | 'response_too_long' | 'request_too_large'): Over => ({
  end: 'limit',
  state: 'settled',
  outcome,
  toProgram: closing(TOO_MUCH, 'longer than the gateway allows'),
  toUpstream: closing(TOO_MUCH),
})

export const revoked = (): Over => ({
  end: 'revoked',
  state: 'settled',
  outcome: 'revoked',
  toProgram: closing(POLICY, 'the capability was revoked'),
  toUpstream: closing(POLICY),
})

export const failed = (): Over => ({ ...upstreamGone(GOING_AWAY), toProgram: closing(FAILED) })

// How an attempt ends: delivered, withheld, charged without an answer, or refunded. The row and its receipt are stored
// before anything is released or said.
import type { Alerts } from '../core/alerts.ts'
import { GatewayError } from '../core/errors.ts'
import type { Fault } from '../lib/fault-points.ts'
import { LogField, type Logger } from '../lib/log.ts'
import { createScheduler } from '../lib/scheduler.ts'
import { toReceipt } from '../receipts/types.ts'
import type { Attempt } from '../store/model.ts'
import type { AttemptLedger, Ending, Finished } from './attempts.ts'
import { digestContent, digestLongContent, digestResponse } from './digest.ts'
import { namesDropped } from './headers.ts'
import type { AnswerSearch } from './kinds/answer-search.ts'
import type { LeakVerdict, Unsearched } from './leak/inspection.ts'
import type { Completed, Paid, StreamFacts } from './paid.ts'
import type { OutboundResponse, SendFailure } from './ports.ts'
import type { Providers } from './providers/index.ts'
import {
  ambiguousWords,
  charged,
  RESPONSE_WORDS,
  SEND_WORDS,
  TLS_WORDS,
  UNSEARCHED_WORDS,
  unreachable,
  Unsent,
} from './refusals.ts'

export interface EndingParts {
  /** People are told of what needs them. */
  readonly alerts?: Alerts | undefined
  readonly providers: Providers
  readonly attempts: AttemptLedger
  readonly baseUrl: string
  readonly log: Logger
  readonly fault: Fault
}

/** The response, and what searches it for the credential. */
export interface Answer {
  readonly response: OutboundResponse
  readonly addresses: readonly string[]
  /** Undefined where no credential went with the request. */
  readonly search: AnswerSearch | undefined
  /** What goes back in the place of the body, all of which is searched. */
  readonly passed?: Buffer | undefined
  /** For the receipt, where it was asked for by a program that streams. */
  readonly stream?: StreamFacts | undefined
}

/** Whoever asked went away, or may ask no more, before an answer came; nothing else is known. */
interface ClientGone {
  readonly phase: 'before_send' | 'after_send'
  readonly reason: 'client_closed' | 'revoked'
  readonly tls?: undefined
  readonly withdrawal?: undefined
}

/** The upstream sent another part than it was asked for. */
interface OtherPart {
  readonly phase: 'response'
  readonly status: number
  readonly reason: 'other_part'
}

export interface Endings {
  /** Runs a step before which nothing left the gateway: whatever goes wrong in it, the credit goes back. */
  refundOnFailure<T>(paid: Paid, step: () => Promise<T>): Promise<T>
  /**
   * Steps 5 and 6: the leak gate, the receipt; then, and not before, the answer.
   * @throws {GatewayError} secret_reflected where the gate found the credential, response_unacceptable where it could not
   * search, outcome_ambiguous where nothing could be stored
   */
  deliver(paid: Paid, answer: Answer): Promise<Completed>
  /**
   * The receipt of an answer that was passed on while it arrived; before it ends well, and not after.
   * @throws {GatewayError} outcome_ambiguous where it could not be stored
   */
  end(paid: Paid, ending: Omit<Ending, 'approvals'>): Promise<Finished>
  /** @throws {GatewayError} secret_reflected, response_unacceptable: what was found, or could not be searched, is told and stored */
  refuse(
    paid: Paid,
    status: number,
    verdict: Exclude<LeakVerdict, { ok: true }>,
    stream?: StreamFacts,
  ): Promise<never>
  /** @throws {GatewayError} what the failure means to the caller; it is refunded only where no request byte left */
  fail(paid: Paid, failure: SendFailure | ClientGone | OtherPart): Promise<never>
}

/** Beyond it, what is done with an answer takes a good part of a millisecond. */
const SHORT_BYTES = 64 * 1024
/** One thread serves everybody: one long answer is worked on between two rounds of its event loop. */
const longTurns = createScheduler(1)

/** Ends an attempt in the store and gives its credit back where nothing was sent. */
export function createEndings(parts: EndingParts): Endings {
  return {
    async refundOnFailure({ attempt }, step) {
      try {
        return await step()
      } catch (thrown) {
        const { outcome, error } = thrown instanceof Unsent ? thrown : { outcome: 'failed', error: thrown }
        await refund(parts, attempt, outcome, error)
        throw error
      }
    },
    deliver: (paid, answer) => deliver(parts, paid, answer),
    end: (paid, ending) => finish(parts, paid, ending),
    refuse: (paid, status, verdict, stream) => refuse(parts, paid, status, verdict, stream),
    fail: (paid, failure) => fail(parts, paid, failure),
  }
}

async function refund(
  { attempts, log }: EndingParts,
  attempt: Attempt,
  outcome: string,
  error: unknown,
): Promise<void> {
  try {
    const { balance } = await attempts.refund(attempt, outcome)
    if (error instanceof GatewayError)
      Object.assign(error.extras, { attempt_id: attempt.id, credits: { charged: 0, balance } })
  } catch (thrown) {
    // The refund is queued (attempts.ts); what the caller needs to know is why the attempt failed.
    log.error({ [LogField.attempt]: attempt.id, err: thrown }, 'a refund could not be stored yet')
    if (error instanceof GatewayError) Object.assign(error.extras, { attempt_id: attempt.id })
  }
}

async function deliver(
  parts: EndingParts,
  paid: Paid,
  { response, addresses, search, passed = response.body, stream }: Answer,
): Promise<Completed> {
  const isLong = response.body.length > SHORT_BYTES
  const verdict = await search?.gate.inspect(response)
  if (verdict && !verdict.ok)
    return await refuse(
      parts,
      paid,
      response.status,
      verdict,
      stream && { ...stream, bytes_out: 0, end: 'reflected', digest: digestContent(undefined) },
    )
  const contentDigest = isLong ? await digestLongContent(passed, longTurns) : digestContent(passed)
  const headers = paid.pickHeaders(response.headers)
  const { status } = response
  const responseDigest = digestResponse({ status, headers, contentDigest })
  const { receipt, balance, isAnswerKept } = await finish(parts, paid, {
    state: 'settled',
    outcome: 'delivered',
    upstreamStatus: status,
    responseDigest,
    gate: verdict ? 'clean' : 'not_run',
    stream,
    answer: paid.keyed?.seal(paid.attempt, {
      status,
      headers: paid.pickKept?.(response.headers) ?? Object.entries(headers),
      dropped: namesDropped(response.headers, headers),
      body: passed,
    }),
  })
  await parts.fault.at('before_reply')
  // Many endings are stored in one commit; their callers would all be answered in one turn.
  if (isLong) await longTurns.turn()
  return { response, headers, receipt, balance, isAnswerKept, responseDigest, contentDigest, addresses }
}

const refuse = (
  parts: EndingParts,
  paid: Paid,
  status: number,
  verdict: Exclude<LeakVerdict, { ok: true }>,
  stream?: StreamFacts,
): Promise<never> =>
  verdict.reason === 'reflected'
    ? withhold(parts, paid, status, verdict, stream)
    : refuseUnsearched(parts, paid, status, verdict, stream)

/** An answer that is withheld leaves no trace, not even a digest to guess against. */
async function withhold(
  parts: EndingParts,
  paid: Paid,
  status: number,
  { where, encoding }: Extract<LeakVerdict, { reason: 'reflected' }>,
  stream: StreamFacts | undefined,
): Promise<never> {
  const { attempt, credential } = paid
  const { receipt, balance } = await finish(parts, paid, {
    state: 'settled',
    outcome: 'secret_reflected',
    upstreamStatus: status,
    responseDigest: null,
    gate: 'reflected',
    stream,
  })
  parts.log.warn(
    {
      event: 'secret_reflected',
      [LogField.attempt]: attempt.id,
      credential: credential?.id,
      host: attempt.host,
      where,
      encoding,
    },
    'security: an upstream sent the credential back; its response was withheld',
  )
  parts.alerts?.tell({
    kind: 'secret_reflected',
    accountId: attempt.accountId,
    about: `${attempt.credentialId ?? ''} ${attempt.host}`,
    data: { attempt_id: attempt.id, credential_id: attempt.credentialId, host: attempt.host },
  })
  throw charged(
    attempt,
    'secret_reflected',
    'The upstream answered, but its response contained the credential, so it was withheld. The request was ' +
      'carried out and charged: do not repeat it blindly.',
    { balance, receipt: toReceipt(parts.baseUrl, receipt), upstream_status: status },
  )
}

/** Nothing passes that was not searched to its end. */
async function refuseUnsearched(
  parts: EndingParts,
  paid: Paid,
  status: number,
  { reason }: Unsearched,
  stream: StreamFacts | undefined,
): Promise<never> {
  const { attempt, credential } = paid
  const { receipt, balance } = await finish(parts, paid, {
    state: 'settled',
    outcome: `response_unsearched_${reason}`,
    upstreamStatus: status,
    responseDigest: null,
    gate: 'not_run',
    stream: stream && { ...stream, end: 'limit' },
  })
  parts.log.warn(
    {
      event: 'response_unsearched',
      [LogField.attempt]: attempt.id,
      credential: credential?.id,
      host: attempt.host,
      reason,
    },
    'security: a response could not be searched for the credential; it was withheld',
  )
  throw charged(
    attempt,
    'response_unacceptable',
    `The upstream carried the request out (status ${status}), but ${UNSEARCHED_WORDS[reason]}, so it was withheld.`,
    { balance, receipt: toReceipt(parts.baseUrl, receipt), upstream_status: status },
  )
}

async function fail(
  parts: EndingParts,
  paid: Paid,
  failure: SendFailure | ClientGone | OtherPart,
): Promise<never> {
  const { attempt } = paid
  if (failure.phase === 'before_send') {
    const { tls, reason } = failure
    // Whoever watches knows that something was revoked, and not what.
    const withdrawal =
      failure.withdrawal ??
      (reason === 'revoked' ? await paid.findWithdrawal?.().catch(() => undefined) : undefined)
    const error = withdrawal ?? unreachable(tls ? TLS_WORDS[tls] : SEND_WORDS[reason])
    await refund(parts, attempt, withdrawal?.reason ?? reason, error)
    throw error
  }
  const settled = failure.phase === 'response'
  const { receipt, balance } = await finish(parts, paid, {
    state: settled ? 'settled' : 'ambiguous',
    outcome: settled ? `response_${failure.reason}` : `no_answer_${failure.reason}`,
    upstreamStatus: settled ? failure.status : null,
    responseDigest: null,
    gate: 'not_run',
  })
  const extras = { balance, receipt: toReceipt(parts.baseUrl, receipt) }
  if (!settled)
    throw charged(attempt, 'outcome_ambiguous', ambiguousWords(failure.reason), {
      ...extras,
      idempotency_honoured: idempotencyHonoured(parts, paid),
    })
  throw charged(
    attempt,
    failure.reason === 'too_large' ? 'response_too_large' : 'response_unacceptable',
    `The upstream carried the request out (status ${failure.status}), but ${RESPONSE_WORDS[failure.reason]}.`,
    { ...extras, upstream_status: failure.status },
  )
}

/** If the ending cannot be stored, nothing is released: the caller learns that the outcome is not known here. */
async function finish(parts: EndingParts, paid: Paid, ending: Omit<Ending, 'approvals'>) {
  const { attempts, fault, log } = parts
  const { attempt } = paid
  try {
    await fault.at('before_finish')
    const finished = await attempts.finish(attempt, { ...ending, approvals: paid.approvals })
    await fault.at('after_finish')
    return finished
  } catch (cause) {
    log.error({ [LogField.attempt]: attempt.id, err: cause }, 'an ending could not be stored yet')
    throw charged(
      attempt,
      'outcome_ambiguous',
      'The request was sent, but its outcome could not be recorded. Look the attempt up before you send again.',
      { balance: paid.balance, idempotency_honoured: idempotencyHonoured(parts, paid) },
    )
  }
}

const idempotencyHonoured = ({ providers }: EndingParts, { credential }: Paid) =>
  (credential && providers.get(credential.provider)?.idempotency_honoured) ?? 'unknown'

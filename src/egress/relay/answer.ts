// The answer on its way to the program. One that is short and whole is searched before any of it goes out, so that a reflected secret is a
// clean refusal; any other is searched while it passes. Either way its receipt is stored before it ends well.
import { GatewayError } from '../../core/errors.ts'
import type { AnswerSink } from '../../core/message.ts'
import type { Attempt } from '../../store/model.ts'
import { digestResponse } from '../digest.ts'
import type { Endings } from '../endings.ts'
import type { HeaderPairs } from '../headers.ts'
import type { Answer as KeptAnswer } from '../idempotency/answer.ts'
import type { LeakVerdict } from '../leak/inspection.ts'
import type { Paid } from '../paid.ts'
import { StreamBroken, type StreamedAnswer } from '../ports.ts'
import { charged } from '../refusals.ts'
import type { Ready } from '../run.ts'
import { collectShort, TooLong } from './begin.ts'
import { BREAK_WORDS, breakOf, errorEvent, tooLargeWords } from './breaks.ts'
import { codingOf, decode, holdPacked } from './decoding.ts'
import { createEventSplitter } from './events.ts'
import { createFacts, type Facts } from './facts.ts'
import { joinPairs, pickAnswerHeaders } from './headers.ts'
import { LENGTH_HEADER, lengthOf, saidLength } from './length.ts'
import { ClientStalled, createPatience } from './patience.ts'
import type { Relayed, RelayEnd } from './ports.ts'
import { type Beyond, createCutter, cutHead, findPart, MARGIN_BYTES } from './ranges.ts'
import type { RelayRules } from './prepare.ts'
import { type FindRedirect, redirectWords } from './redirect.ts'
import type { SentBody } from './request-body.ts'
import { type Releasing, release, Withheld } from './release.ts'
import { createScanner, passThrough } from './scanner.ts'

export interface AnswerParts {
  readonly endings: Endings
  readonly now: () => number
}

/** An answer whose head has come, and what it takes to pass it on. */
export interface Passing {
  readonly paid: Paid
  readonly rules: RelayRules
  readonly sent: SentBody
  readonly answered: Ready['answered']
  readonly received: StreamedAnswer
  readonly sink: AnswerSink
  readonly findRedirect: FindRedirect
  /** Aborts when whose answer this is may have it no longer. */
  readonly revoked: AbortSignal
}

export interface Answers {
  /** @throws {GatewayError} before anything was written: secret_reflected, response_unacceptable, response_too_large, outcome_ambiguous */
  pass(passing: Passing): Promise<Relayed>
  /** The answer of the first request under the program's key. */
  replay(repeat: {
    readonly sink: AnswerSink
    readonly findRedirect: FindRedirect
    readonly attempt: Attempt
    readonly answer: KeptAnswer
    readonly receipt: string
  }): Promise<Relayed>
}

const ATTEMPT_HEADER = 'x-gateway-attempt'
const RECEIPT_HEADER = 'x-gateway-receipt'
/** As over REST. An upstream that says it of its own answer says it of the first one. */
const REPLAYED_HEADER = 'idempotent-replayed'
/** nginx would hold pieces back until there are many. Where the upstream says so, that stays behind (headers.ts). */
const OF_A_STREAM: HeaderPairs = [
  ['x-accel-buffering', 'no'],
  ['trailer', RECEIPT_HEADER],
]

export function createAnswers({ endings, now }: AnswerParts): Answers {
  return {
    async pass(passing) {
      const { paid, sink } = passing
      const { attempt, request } = paid
      const found = partOf(passing)
      if (found === 'other') {
        const { status, cancel } = passing.received
        cancel()
        return await endings.fail(paid, { phase: 'response', status, reason: 'other_part' })
      }
      if (found && 'totalBytes' in found) return await tellBeyond(passing, found)
      const part = found
      const received = part ? cutHead(passing.received, part) : passing.received
      const rules = part ? withMargins(passing.rules) : passing.rules
      const coding = codingOf(received.headers)
      // What is packed cannot be searched from its middle on.
      if (coding === 'unknown' || (part && coding)) {
        received.cancel()
        return await endings.fail(paid, { phase: 'response', status: received.status, reason: 'encoded' })
      }
      const search = passing.answered(received.status)
      const scanner = search ? createScanner(search, paid.credential?.scheme ?? '') : passThrough
      const isEvents = !part && /^text\/event-stream\b/i.test(headerOf(received, 'content-type'))
      const facts = createFacts({ ...passing, kind: isEvents ? 'sse' : 'bytes', now })
      const { idleMs, totalMs } = rules.clocks
      const patience = createPatience({
        stallMs: idleMs,
        endsAt: attempt.createdAt + totalMs,
        cut: passing.revoked,
        now,
      })
      const pieces = holdPacked(decode(received, received.declaredBytes === 0 ? undefined : coding))
      const headers = pickAnswerHeaders(received.headers, rules)
      const away = passing.findRedirect({ status: received.status, headers })
      if (away !== undefined) {
        received.cancel()
        return await refuseRedirect(passing, away, await scanner.head(received))
      }
      const begun = isEvents
        ? { whole: undefined, pieces }
        : await collectShort(pieces, received, {
            rules,
            part: request.method === 'HEAD' ? undefined : part,
          }).catch((thrown: unknown) => failUnbegun(passing, facts, thrown))
      // Its head is searched together with it.
      if (begun.whole) {
        const passed = part ? createCutter(part)(begun.whole) : begun.whole
        facts.released(passed)
        const { status, statusText } = received
        const completed = await endings.deliver(paid, {
          response: { status, statusText, headers: received.headers, body: begun.whole },
          addresses: [],
          search,
          passed,
          stream: facts.at('complete'),
        })
        sink.begin(status, [
          ...headers,
          [ATTEMPT_HEADER, attempt.id],
          [RECEIPT_HEADER, completed.receipt.jws],
          ...lengthOf(
            { method: paid.request.method, status, said: saidLength(received.headers) },
            passed.length,
          ),
        ])
        await sink.write(passed)
        sink.end()
        return { attempt_id: attempt.id, end: 'complete' }
      }
      const verdict = await scanner.head(received)
      if (!verdict.ok) {
        received.cancel()
        return await endings.refuse(paid, received.status, verdict, facts.at('reflected'))
      }
      const declared = part?.bytes ?? (coding === undefined ? received.declaredBytes : undefined)
      sink.begin(received.status, [
        ...headers,
        [ATTEMPT_HEADER, attempt.id],
        ...(declared === undefined ? OF_A_STREAM : [['content-length', String(declared)] as const]),
      ])
      return await stream({
        ...passing,
        rules,
        received,
        headers,
        part,
        scanner,
        facts,
        patience,
        pieces: begun.pieces,
        events: isEvents ? createEventSplitter() : undefined,
        // Whoever counts the bytes takes the last one for the end.
        keepsOne: declared !== undefined,
      })
    },

    async replay({ sink, findRedirect, attempt, answer: { status, headers, body }, receipt }) {
      const away = findRedirect({ status, headers })
      if (away !== undefined)
        throw new GatewayError('response_unacceptable', redirectWords(status, away), {
          reason: 'redirect',
          extras: { attempt_id: attempt.id, upstream_status: status },
        })
      const said = headers.find(([name]) => name === LENGTH_HEADER)?.[1]
      sink.begin(status, [
        ...headers.filter(([name]) => name !== LENGTH_HEADER && name !== REPLAYED_HEADER),
        [REPLAYED_HEADER, 'true'],
        [ATTEMPT_HEADER, attempt.id],
        [RECEIPT_HEADER, receipt],
        ...lengthOf({ method: attempt.method, status, said }, body.length),
      ])
      await sink.write(body)
      sink.end()
      return { attempt_id: attempt.id, end: 'complete' }
    },
  }

  /** A part behind the end of the whole, asked for with what is before it: the upstream sent that. */
  async function tellBeyond(passing: Passing, { totalBytes }: Beyond): Promise<Relayed> {
    const { paid, received, sink } = passing
    const { attempt } = paid
    received.cancel()
    const headers: HeaderPairs = [
      ['content-range', `bytes */${totalBytes}`],
      ['content-length', '0'],
    ]
    const stream = createFacts({ ...passing, kind: 'bytes', now }).at('complete')
    const { receipt } = await endings.end(paid, {
      state: 'settled',
      outcome: 'delivered',
      upstreamStatus: received.status,
      responseDigest: digestResponse({
        status: 416,
        headers: joinPairs(headers),
        contentDigest: stream.digest,
      }),
      gate: 'not_run',
      stream,
    })
    sink.begin(416, [...headers, [ATTEMPT_HEADER, attempt.id], [RECEIPT_HEADER, receipt.jws]])
    sink.end()
    return { attempt_id: attempt.id, end: 'complete' }
  }

  async function stream(streaming: Streaming): Promise<Relayed> {
    const { paid, received, sink, facts, headers } = streaming
    const { attempt } = paid
    const { status } = received
    let last: Buffer
    try {
      last = await release(streaming)
    } catch (thrown) {
      received.cancel()
      const end = await recordBreak(paid, streaming, thrown)
      if (end !== 'client_closed') sink.abort(streaming.events && errorEvent(attempt, end))
      return { attempt_id: attempt.id, end }
    }
    facts.released(last)
    try {
      const stream = facts.at('complete')
      const { receipt } = await endings.end(paid, {
        state: 'settled',
        outcome: 'delivered',
        upstreamStatus: status,
        responseDigest: digestResponse({ status, headers: joinPairs(headers), contentDigest: stream.digest }),
        gate: streaming.scanner === passThrough ? 'not_run' : 'clean',
        stream,
      })
      await streaming.patience.wait(sink.write(last))
      sink.end(streaming.keepsOne ? undefined : { [RECEIPT_HEADER]: receipt.jws })
      return { attempt_id: attempt.id, end: 'complete' }
    } catch (thrown) {
      sink.abort()
      // It is settled; whether the last bytes were read nobody here can know.
      if (thrown instanceof ClientStalled || thrown instanceof StreamBroken)
        return { attempt_id: attempt.id, end: 'complete' }
      throw thrown
    }
  }

  /** What ended an answer that was begun, as it stands in the receipt. Nothing is sent again. */
  async function recordBreak(
    paid: Paid,
    { received, facts, scanner, revoked }: Streaming,
    thrown: unknown,
  ): Promise<RelayEnd> {
    const { status } = received
    if (thrown instanceof Withheld) {
      // The refusal was made for who has seen nothing yet; this program sees the connection break off.
      await endings.refuse(paid, status, thrown.verdict, facts.at('reflected')).catch(expectRefusal)
      return 'reflected'
    }
    const { end, ...ending } = breakOf(thrown, revoked)
    await endings
      .end(paid, {
        ...ending,
        upstreamStatus: status,
        responseDigest: null,
        gate: scanner === passThrough ? 'not_run' : 'clean',
        stream: facts.at(end),
      })
      .catch(expectRefusal)
    return end
  }

  /** @param head whether it holds the secret, which the words must not repeat */
  async function refuseRedirect(
    { paid, received: { status } }: Passing,
    away: string,
    head: LeakVerdict,
  ): Promise<never> {
    if (!head.ok) return await endings.refuse(paid, status, head)
    const { balance, receipt } = await endings.end(paid, {
      state: 'settled',
      outcome: 'response_redirect',
      upstreamStatus: status,
      responseDigest: null,
      gate: 'not_run',
    })
    throw charged(paid.attempt, 'response_unacceptable', redirectWords(status, away), {
      balance,
      upstream_status: status,
      receipt_id: receipt.id,
    })
  }

  /** An answer that broke off before any of it was written. */
  async function failUnbegun(
    { paid, revoked, received: { status, cancel } }: Passing,
    facts: Facts,
    thrown: unknown,
  ): Promise<never> {
    cancel()
    const { end, state, outcome } = breakOf(thrown, revoked)
    const { balance, receipt } = await endings.end(paid, {
      state,
      outcome,
      upstreamStatus: status,
      responseDigest: null,
      gate: 'not_run',
      stream: facts.at(end),
    })
    const extras = { balance, upstream_status: status, receipt_id: receipt.id }
    if (thrown instanceof TooLong)
      throw charged(paid.attempt, 'response_too_large', tooLargeWords(status), extras)
    throw charged(
      paid.attempt,
      state === 'ambiguous' ? 'outcome_ambiguous' : 'response_unacceptable',
      `The upstream began to answer (status ${status}), but ${BREAK_WORDS[end]}. It was charged and will not be resent.`,
      extras,
    )
  }
}

/** The store keeps what could not be stored yet (attempts.ts), and the words of a refusal have nobody to read them. */
function expectRefusal(thrown: unknown): void {
  if (!(thrown instanceof GatewayError)) throw thrown
}

/** @returns undefined for a whole answer; also where a part was asked for, which an upstream may pass over */
const partOf = ({ paid, received }: Passing) => {
  const { range } = paid.request
  return range && received.status === 206 ? findPart(range.part, received) : undefined
}

/** They come, and do not go out. */
const withMargins = (rules: RelayRules): RelayRules => ({
  ...rules,
  maxResponseBytes: rules.maxResponseBytes + 2 * MARGIN_BYTES,
})

const headerOf = ({ headers }: Pick<StreamedAnswer, 'headers'>, wanted: string): string =>
  headers.find(({ name }) => name === wanted)?.value ?? ''

interface Streaming extends Passing, Omit<Releasing, 'rules' | 'sink'> {
  readonly headers: HeaderPairs
}

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
import { codingOf, decode, holdPacked } from './decoding.ts'
import { createEventSplitter, type EventSplitter } from './events.ts'
import { createFacts, type Facts } from './facts.ts'
import { joinPairs, pickAnswerHeaders } from './headers.ts'
import { ClientStalled, createPatience, type Patience } from './patience.ts'
import type { Relayed, RelayEnd } from './ports.ts'
import {
  type Beyond,
  checkLength,
  createCutter,
  cutHead,
  findPart,
  MARGIN_BYTES,
  type Part,
} from './ranges.ts'
import type { RelayRules } from './prepare.ts'
import { type FindRedirect, redirectWords } from './redirect.ts'
import type { SentBody } from './request-body.ts'
import { createScanner, passThrough, type Scanner } from './scanner.ts'

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
const LENGTH_HEADER = 'content-length'
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

const BREAK_WORDS: Readonly<Record<RelayEnd, string>> = {
  complete: 'it ended',
  client_closed: 'the program went away',
  client_stalled: 'the program read nothing for longer than the gateway waits',
  upstream_reset: 'the connection was lost',
  idle: 'it fell silent for longer than the gateway waits',
  limit: 'it was longer than the gateway allows',
  reflected: 'it contained the credential',
  revoked: 'the capability was revoked',
}

const tooLargeWords = (status: number) =>
  `The upstream carried the request out (status ${status}), but its answer is longer than the credential allows. It was charged and will not ` +
  'be resent. Ask for less, or ask the operator to raise settings.relay.max_response_bytes of the credential.'

/** The store keeps what could not be stored yet (attempts.ts), and the words of a refusal have nobody to read them. */
function expectRefusal(thrown: unknown): void {
  if (!(thrown instanceof GatewayError)) throw thrown
}

interface Streaming extends Passing {
  readonly headers: HeaderPairs
  readonly part: Part | undefined
  readonly scanner: Scanner
  readonly facts: Facts
  readonly patience: Patience
  readonly pieces: AsyncIterable<Buffer>
  readonly events: EventSplitter | undefined
  readonly keepsOne: boolean
}

/** Thrown where an answer holds the secret, or could not be searched to its end. */
class Withheld extends Error {
  readonly verdict: Exclude<LeakVerdict, { ok: true }>
  constructor(verdict: Exclude<LeakVerdict, { ok: true }>) {
    super('an answer was withheld')
    this.verdict = verdict
  }
}

/** @returns the last bytes, which wait for the receipt */
async function release({
  pieces,
  part,
  events,
  scanner,
  sink,
  facts,
  patience,
  keepsOne,
  rules,
}: Streaming): Promise<Buffer> {
  let size = 0
  let kept: Buffer = Buffer.alloc(0)
  const cut = part && createCutter(part)

  async function pass(bytes: Buffer, isRounded: boolean): Promise<void> {
    const scanned = await scanner.push(bytes, isRounded)
    if (!scanned.ok) throw new Withheld(scanned)
    await write(cut ? cut(scanned.released) : scanned.released)
  }
  async function write(released: Buffer): Promise<void> {
    if (released.length === 0) return
    const out = kept.length === 0 ? released : Buffer.concat([kept, released])
    const now = keepsOne ? out.subarray(0, -1) : out
    kept = keepsOne ? out.subarray(-1) : Buffer.alloc(0)
    facts.released(now, events?.count())
    await patience.wait(sink.write(now))
    if (sink.isGone) throw new StreamBroken('aborted')
  }

  for await (const piece of pieces) {
    size += piece.length
    if (size > rules.maxResponseBytes) throw new TooLong()
    const next = events ? events.push(piece) : { bytes: piece, isRounded: false }
    if (next) await pass(next.bytes, next.isRounded)
  }
  const rest = events?.rest()
  if (rest && rest.length > 0) await pass(rest, true)
  const end = await scanner.end()
  if (!end.ok) throw new Withheld(end)
  checkLength(size, part)
  return Buffer.concat([kept, cut ? cut(end.released) : end.released])
}

interface Break {
  readonly end: RelayEnd
  readonly state: 'settled' | 'ambiguous'
  readonly outcome: string
}

function breakOf(thrown: unknown, { aborted: isRevoked }: AbortSignal): Break {
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

interface Sized {
  readonly method: string
  readonly status: number
  /** By the upstream. */
  readonly said: string | undefined
}

/** A HEAD says how long the answer to a GET would be. */
function lengthOf({ method, status, said }: Sized, length: number): HeaderPairs {
  if (status === 204 || status === 304) return []
  if (method !== 'HEAD') return [[LENGTH_HEADER, String(length)]]
  return said === undefined ? [] : [[LENGTH_HEADER, said]]
}

const saidLength = (received: StreamedAnswer['headers']): string | undefined =>
  received.find(({ name }) => name === LENGTH_HEADER)?.value

/** What a repeat gets of an answer's headers: as they were passed on, and of a HEAD the length, which no body tells. */
export function pickKeptHeaders(
  received: StreamedAnswer['headers'],
  { method, rules }: { readonly method: string; readonly rules: RelayRules },
): HeaderPairs {
  const said = method === 'HEAD' ? saidLength(received) : undefined
  return [
    ...pickAnswerHeaders(received, rules),
    ...(said === undefined ? [] : [[LENGTH_HEADER, said] as const]),
  ]
}

/** In the form of the services that stream: their libraries raise it as an error. */
function errorEvent({ id }: Attempt, end: RelayEnd): Buffer {
  const message = `The gateway ended this answer: ${BREAK_WORDS[end]}. The request was charged and is not to be repeated blindly.`
  const data = { type: 'error', error: { type: 'gateway_error', code: end, message, attempt_id: id } }
  return Buffer.from(`event: error\ndata: ${JSON.stringify(data)}\n\n`)
}

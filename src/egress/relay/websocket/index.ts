// An upstream that answered 101: its handshake is judged and searched, the program is answered, and messages go both ways until one of many
// ends. The receipt is stored before either side is told that it ended well.
import type { ProgramUpgrade } from '../../../core/message.ts'
import { GatewayError } from '../../../core/errors.ts'
import { LogField, type Logger } from '../../../lib/log.ts'
import { acceptOf, listed } from '../../../lib/websocket.ts'
import { digestResponse } from '../../digest.ts'
import type { Endings } from '../../endings.ts'
import type { SeenParts } from '../../leak/reading.ts'
import type { HeaderPairs } from '../../headers.ts'
import type { Paid } from '../../paid.ts'
import type { UpgradedConnection } from '../../ports.ts'
import type { Ready } from '../../run.ts'
import { createFacts } from '../facts.ts'
import { joinPairs, pickAnswerHeaders } from '../headers.ts'
import type { Relayed } from '../ports.ts'
import type { RelayRules } from '../prepare.ts'
import { createScanner, passThrough } from '../scanner.ts'
import { bridge, createSentMessages } from './bridge.ts'
import { failed, type Over } from './ends.ts'
import { createSide } from './frames.ts'
import { HOLD_MS } from './released.ts'

/** A handshake that the upstream took, and what it takes to go on. */
export interface Upgraded {
  readonly paid: Paid
  readonly rules: RelayRules
  readonly answered: Ready['answered']
  readonly upgraded: UpgradedConnection
  readonly program: ProgramUpgrade
  readonly revoked: AbortSignal
}

export interface WebSockets {
  /** @throws {GatewayError} before the program was answered: secret_reflected, response_unacceptable, outcome_ambiguous */
  pass(upgraded: Upgraded): Promise<Relayed>
}

const STATUS = 101

export function createWebSockets({
  endings,
  now,
  log,
  messageHoldMs = HOLD_MS,
}: {
  readonly endings: Endings
  readonly now: () => number
  readonly log: Logger
  readonly messageHoldMs?: number | undefined
}): WebSockets {
  return {
    async pass({ paid, rules, answered, upgraded, program, revoked }) {
      const { attempt, request } = paid
      const { headers: received, socket } = upgraded
      if (!isHandshake(received, request.headers)) {
        socket.destroy()
        return await endings.fail(paid, { phase: 'after_send', reason: 'malformed' })
      }
      const search = answered(STATUS)
      const seen: SeenParts = new Map()
      const scannerOf = () =>
        search ? createScanner(search, paid.credential?.scheme ?? '', seen) : passThrough
      const scanners = { messages: scannerOf(), signals: scannerOf() }
      const sent = createSentMessages()
      const facts = createFacts({ kind: 'websocket', paid, sent, now })
      const verdict = await scanners.messages.head({ statusText: '', headers: received })
      if (!verdict.ok) {
        socket.destroy()
        return await endings.refuse(paid, STATUS, verdict, facts.at('reflected'))
      }
      const headers = pickAnswerHeaders(received, rules).filter(([name]) => !OF_HANDSHAKE.has(name))
      const connection = program.accept([...headers, ['x-gateway-attempt', attempt.id]])
      if (!connection) {
        socket.destroy()
        return await endings.fail(paid, { phase: 'after_send', reason: 'client_closed' })
      }
      const sides = { program: createSide(connection, 'server'), upstream: createSide(socket, 'client') }
      const onDefect = (err: unknown) =>
        log.error({ [LogField.attempt]: attempt.id, err }, 'a message could not be passed on')
      const over = await bridge({
        ...sides,
        scanners,
        rules,
        facts,
        sent,
        holdMs: messageHoldMs,
        revoked,
        onDefect,
      })
      const told = await record(paid, over, {
        headers,
        stream: facts.at(over.end),
        gate: search ? 'clean' : 'not_run',
      })
      for (const [side, closing] of [
        [sides.program, told.toProgram],
        [sides.upstream, told.toUpstream],
      ] as const) {
        // Whoever does not take it is not waited for.
        if (closing && !side.isGone) void side.send(closing)
        side.end()
      }
      return { attempt_id: attempt.id, end: over.end }
    },
  }

  /** @returns what the two sides are told: of an end that could not be stored, that it failed */
  async function record(
    paid: Paid,
    over: Over,
    { headers, stream, gate }: Recorded,
  ): Promise<Pick<Over, 'toProgram' | 'toUpstream'>> {
    const { verdict, state, outcome, end } = over
    try {
      // It throws the refusal for who has seen nothing yet; this program is told in a close frame.
      if (verdict) await endings.refuse(paid, STATUS, verdict, stream).catch(expectRefusal)
      else
        await endings.end(paid, {
          state,
          outcome,
          upstreamStatus: STATUS,
          responseDigest:
            end === 'complete'
              ? digestResponse({ status: STATUS, headers: joinPairs(headers), contentDigest: stream.digest })
              : null,
          gate,
          stream,
        })
      return over
    } catch (thrown) {
      expectRefusal(thrown)
      return failed()
    }
  }
}

interface Recorded {
  readonly headers: HeaderPairs
  readonly stream: ReturnType<ReturnType<typeof createFacts>['at']>
  readonly gate: 'clean' | 'not_run'
}

/** The store keeps what could not be stored yet, and the words of a refusal have nobody to read them. */
function expectRefusal(thrown: unknown): void {
  if (!(thrown instanceof GatewayError)) throw thrown
}

/** Written anew by the door, from the program's own key. */
const OF_HANDSHAKE: ReadonlySet<string> = new Set([
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-version',
])

/** RFC 6455, 4.1: what a client has to see in a 101, or fail the connection. No extension was asked for. */
function isHandshake(received: UpgradedConnection['headers'], asked: HeaderPairs): boolean {
  const valuesOf = (wanted: string) =>
    received.filter(({ name }) => name === wanted).map(({ value }) => value.trim())
  const askedFor = (wanted: string) => asked.find(([name]) => name === wanted)?.[1]
  const [accept] = valuesOf('sec-websocket-accept')
  const protocols = valuesOf('sec-websocket-protocol')
  return (
    valuesOf('upgrade').join(',').toLowerCase() === 'websocket' &&
    listed(valuesOf('connection').join(',').toLowerCase()).includes('upgrade') &&
    accept === acceptOf(askedFor('sec-websocket-key') ?? '') &&
    valuesOf('sec-websocket-extensions').every((value) => value === '') &&
    protocols.length <= 1 &&
    protocols.every((protocol) => listed(askedFor('sec-websocket-protocol')).includes(protocol))
  )
}

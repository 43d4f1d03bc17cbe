// Messages between a program and its upstream until either ends it, a clock runs out or a bound is met. Each way takes one piece at a time:
// whoever reads slowly slows down who writes.
import { createHash } from 'node:crypto'
import type { Facts } from '../facts.ts'
import { findToken, PERMIT_HEADER_END } from '../../../lib/tokens.ts'
import type { RelayRules } from '../prepare.ts'
import type { SentBody } from '../request-body.ts'
import type { Scanner } from '../scanner.ts'
import {
  clientStalled,
  complete,
  failed,
  idle,
  limit,
  type Over,
  ownToken,
  programGone,
  reflected,
  revoked,
  unanswered,
  upstreamGone,
} from './ends.ts'
import { type Closing, FrameError, type Item, type Message, type Side, type Signal } from './frames.ts'
import { createReleases } from './released.ts'

export interface BridgeParts {
  readonly program: Side
  readonly upstream: Side
  /** Of messages, and of what stands between them: neither is to part the secret in the other. */
  readonly scanners: { readonly messages: Scanner; readonly signals: Scanner }
  readonly rules: Pick<RelayRules, 'clocks' | 'maxRequestBytes' | 'maxResponseBytes'>
  readonly facts: Facts
  readonly sent: SentMessages
  /** How long a message waits for what follows it. */
  readonly holdMs: number
  /** Aborts when whose socket this is may have it no longer. */
  readonly revoked: AbortSignal
  /** Told of a defect of ours, which ends it. */
  readonly onDefect: (thrown: unknown) => void
}

/** Longest wait for an upstream to answer a close frame. */
const CLOSE_MS = 10_000
const TOO_LONG_MESSAGE = 1009

/** Resolves when it is over, with nothing said to either side yet. Never rejects. */
export function bridge(parts: BridgeParts): Promise<Over> {
  const { program, upstream, scanners, rules, facts, sent } = parts
  const { idleMs, totalMs } = rules.clocks
  const over = Promise.withResolvers<Over>()
  const releases = createReleases(scanners.messages)
  let isOver = false
  let isReaderSlow = false
  let said: Closing | undefined
  let events = 0
  let hold: NodeJS.Timeout | undefined
  let received = 0
  let released = Promise.resolve()

  // What ends the wait for an upstream that does not take what the program sends is the upstream, too.
  const silence = setTimeout(() => end(isReaderSlow ? clientStalled() : idle()), idleMs)
  const timers = [silence, setTimeout(() => end(limit('response_too_long')), totalMs)]
  const onRevoked = () => end(revoked())
  parts.revoked.addEventListener('abort', onRevoked)
  if (parts.revoked.aborted) onRevoked()

  function end(how: Over): void {
    if (isOver) return
    isOver = true
    for (const timer of [...timers, hold]) clearTimeout(timer)
    parts.revoked.removeEventListener('abort', onRevoked)
    over.resolve(how)
  }

  function fail(thrown: unknown): void {
    parts.onDefect(thrown)
    end(failed())
  }

  /** In turn, also where the hold ends while the program is still slow to take what came before. */
  function release(items: readonly (Message | Signal)[]): Promise<void> {
    released = released.then(() => write(items))
    return released
  }

  async function write(items: readonly (Message | Signal)[]): Promise<void> {
    for (const item of items) {
      if (isOver) return
      if (item.kind === 'message') facts.released(item.bytes, ++events)
      isReaderSlow = true
      await program.send(item)
      isReaderSlow = false
      silence.refresh()
    }
  }

  async function takeMessage(message: Message): Promise<void> {
    clearTimeout(hold)
    received += message.bytes.length
    if (received > rules.maxResponseBytes) return end(limit('response_too_large'))
    const passed = await releases.push(message)
    if (!passed.ok) return end(reflected(passed))
    await release(passed.messages)
    if (passed.isHolding && !isOver)
      hold = setTimeout(() => void release(releases.rest()).catch(fail), parts.holdMs)
  }

  async function takeSignal(item: Signal | Closing): Promise<void> {
    const bytes = item.kind === 'close' ? item.reason : item.bytes
    const scanned = await scanners.signals.push(bytes, true)
    if (!scanned.ok) return end(reflected(scanned))
    if (item.kind !== 'close') return release([item])
    await release(releases.rest())
    end(complete(item, said !== undefined))
  }

  async function fromUpstream(): Promise<void> {
    try {
      for await (const item of upstream.items()) {
        // Whatever comes after the end is read, so that the connection ends, and goes nowhere.
        if (isOver) continue
        silence.refresh()
        await (item.kind === 'message' ? takeMessage(item) : takeSignal(item))
      }
      await release(releases.rest())
      end(said ? unanswered(said) : upstreamGone())
    } catch (thrown) {
      if (!(thrown instanceof FrameError)) return fail(thrown)
      end(thrown.code === TOO_LONG_MESSAGE ? limit('response_too_large') : upstreamGone(thrown.code))
    }
  }

  async function pass(item: Item): Promise<void> {
    const bytes = item.kind === 'close' ? item.reason : item.bytes
    if (sent.count(item.kind === 'message', bytes) === 'own_token') return end(ownToken())
    if (sent.bytes() > rules.maxRequestBytes) return end(limit('request_too_large'))
    if (item.kind === 'close') {
      said = item
      timers.push(setTimeout(() => end(unanswered(item)), CLOSE_MS))
    }
    await upstream.send(item)
    silence.refresh()
  }

  async function fromProgram(): Promise<void> {
    try {
      for await (const item of program.items()) {
        if (isOver) continue
        silence.refresh()
        await pass(item)
      }
      if (!said) end(programGone())
    } catch (thrown) {
      if (!(thrown instanceof FrameError)) return fail(thrown)
      const { code } = thrown
      end(code === TOO_LONG_MESSAGE ? limit('request_too_large') : programGone('client_malformed', code))
    }
  }

  void fromUpstream()
  void fromProgram()
  return over.promise
}

/** What the program sent so far, for its receipt. */
export interface SentMessages extends Pick<SentBody, 'bytes' | 'digest'> {
  /** @returns `own_token` where a token of this gateway is in it, or begun before and completed in it: it is not to go on */
  count(isMessage: boolean, bytes: Buffer): 'ok' | 'own_token'
}

/** The longest that a token is known by is the beginning of a permit: all of it but for its last letter. */
const MARK_BYTES = PERMIT_HEADER_END.length + '.'.length

export function createSentMessages(): SentMessages {
  const hash = createHash('sha256')
  let size = 0
  let before = ''
  return {
    count(isMessage, bytes) {
      const text = bytes.toString('latin1')
      if (findToken((isMessage ? before : '') + text)) return 'own_token'
      if (!isMessage) return 'ok'
      before = (before + text).slice(-MARK_BYTES)
      size += bytes.length
      hash.update(bytes)
      return 'ok'
    },
    bytes: () => size,
    digest: () => (size === 0 ? undefined : `sha-256=:${hash.copy().digest('base64')}:`),
  }
}

// The bytes of an answer on their way to the program: searched, cut to the part that was asked for, and let go as fast as the program reads.
import type { AnswerSink } from '../../core/message.ts'
import type { LeakVerdict } from '../leak/inspection.ts'
import { StreamBroken } from '../ports.ts'
import { TooLong } from './begin.ts'
import type { EventSplitter } from './events.ts'
import type { Facts } from './facts.ts'
import type { Patience } from './patience.ts'
import type { RelayRules } from './prepare.ts'
import { checkLength, createCutter, type Part } from './ranges.ts'
import type { Scanner } from './scanner.ts'

export interface Releasing {
  readonly rules: Pick<RelayRules, 'maxResponseBytes'>
  readonly sink: AnswerSink
  readonly part: Part | undefined
  readonly scanner: Scanner
  readonly facts: Facts
  readonly patience: Patience
  readonly pieces: AsyncIterable<Buffer>
  /** Of a stream of events, each of which is let go whole. */
  readonly events: EventSplitter | undefined
  /** Whether the last byte waits for the receipt: whoever counts them takes it for the end. */
  readonly keepsOne: boolean
}

/** Thrown where an answer holds the secret, or could not be searched to its end. */
export class Withheld extends Error {
  readonly verdict: Exclude<LeakVerdict, { ok: true }>
  constructor(verdict: Exclude<LeakVerdict, { ok: true }>) {
    super('an answer was withheld')
    this.verdict = verdict
  }
}

/**
 * @returns the last bytes, which wait for the receipt
 * @throws {Withheld | TooLong | ClientStalled | StreamBroken}
 */
export async function release({
  pieces,
  part,
  events,
  scanner,
  sink,
  facts,
  patience,
  keepsOne,
  rules,
}: Releasing): Promise<Buffer> {
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

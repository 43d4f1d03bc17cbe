// What a receipt says of an answer that was passed on while it arrived: counted as it goes out.
import { createHash } from 'node:crypto'
import { digestContent } from '../digest.ts'
import type { Paid, StreamFacts } from '../paid.ts'
import type { RelayEnd } from './ports.ts'
import type { SentBody } from './request-body.ts'

export interface Facts {
  /** Counts what goes out. @param events so far, of what is told apart */
  released(bytes: Buffer, events?: number): void
  at(end: RelayEnd): StreamFacts
}

export interface FactParts extends Pick<StreamFacts, 'kind'> {
  readonly paid: Pick<Paid, 'attempt'>
  readonly sent: Pick<SentBody, 'bytes' | 'digest'>
  readonly now: () => number
}

/** From the moment that the head of the answer is here. */
export function createFacts({ kind, paid, sent, now }: FactParts): Facts {
  const { createdAt } = paid.attempt
  const firstByteMs = now() - createdAt
  const hash = createHash('sha256')
  let bytesOut = 0
  let count = 0
  return {
    released(bytes, events = count) {
      hash.update(bytes)
      bytesOut += bytes.length
      count = events
    },
    at: (end) => ({
      kind,
      bytes_in: sent.bytes(),
      bytes_out: bytesOut,
      events: kind === 'bytes' ? undefined : count,
      first_byte_ms: firstByteMs,
      duration_ms: now() - createdAt,
      end,
      digest: bytesOut === 0 ? digestContent(undefined) : `sha-256=:${hash.copy().digest('base64')}:`,
      request_digest: sent.digest(),
    }),
  }
}

// Server-sent events as they come: each is passed on as soon as it is whole, and not before.
import { Buffer } from 'node:buffer'

/** An event that is longer is passed on in pieces, like any other bytes: pictures come in events of megabytes. */
const MOST_WAITING_BYTES = 1024 * 1024

export interface EventSplitter {
  /** Whole events so far. */
  readonly count: () => number
  /** @returns what may be passed on; `isRounded` where it ends with an event */
  push(chunk: Buffer): { readonly bytes: Buffer; readonly isRounded: boolean } | undefined
  /** What came behind the last whole event. */
  rest(): Buffer
}

export function createEventSplitter(): EventSplitter {
  let pending: Buffer = Buffer.alloc(0)
  let events = 0
  const take = (length: number) => {
    const bytes = pending.subarray(0, length)
    pending = pending.subarray(length)
    return bytes
  }

  return {
    count: () => events,
    push(chunk) {
      // What was pending has no end of an event, but for its last three bytes.
      const from = Math.max(0, pending.length - 3)
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      const ends = findEnds(pending, from)
      events += ends.count
      if (ends.last > 0) return { bytes: take(ends.last), isRounded: true }
      return pending.length > MOST_WAITING_BYTES
        ? { bytes: take(pending.length), isRounded: false }
        : undefined
    },
    rest: () => take(pending.length),
  }
}

const CR = 0x0d
const LF = 0x0a

/** Events end with an empty line, and lines with any of three ends (WHATWG HTML, 9.2.5). */
function findEnds(bytes: Buffer, from: number): { readonly count: number; readonly last: number } {
  let count = 0
  let last = 0
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] !== LF && bytes[at] !== CR) continue
    const first = lineEnd(bytes, at)
    const second = lineEnd(bytes, at + first)
    if (second === 0) {
      at += first - 1
      continue
    }
    count++
    last = at + first + second
    at = last - 1
  }
  return { count, last }
}

const lineEnd = (bytes: Buffer, at: number): number => {
  if (bytes[at] === LF) return 1
  if (bytes[at] !== CR) return 0
  return bytes[at + 1] === LF ? 2 : 1
}

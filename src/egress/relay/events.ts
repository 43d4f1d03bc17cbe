// Server-sent events as they come: each is passed on as soon as it is whole, and not before.

/** An event that is longer is passed on in pieces, like any other bytes: pictures come in events of megabytes. */
const MOST_WAITING_BYTES = 1024 * 1024
/** The end of an event is at most so long, so that it may have begun in so many bytes of what came before. */
const LONGEST_END_BYTES = 4

export interface EventSplitter {
  /** Whole events so far. */
  readonly count: () => number
  /** @returns what may be passed on; `isRounded` where it ends with an event */
  push(chunk: Buffer): { readonly bytes: Buffer; readonly isRounded: boolean } | undefined
  /** What came behind the last whole event. */
  rest(): Buffer
}

export function createEventSplitter(): EventSplitter {
  // Put together once, when its end is there: an event may come a byte at a time.
  let pieces: Buffer[] = []
  let size = 0
  let events = 0
  /** The last bytes of what waits: the end of an event may have begun in them. */
  let edge: Buffer = Buffer.alloc(0)

  function wait(bytes: Buffer): void {
    if (bytes.length === 0) return
    pieces.push(bytes)
    size += bytes.length
    edge = Buffer.concat([edge, bytes.subarray(1 - LONGEST_END_BYTES)]).subarray(1 - LONGEST_END_BYTES)
  }
  function takeAll(): Buffer {
    const [only] = pieces
    const bytes = only && pieces.length === 1 ? only : Buffer.concat(pieces, size)
    pieces = []
    size = 0
    edge = Buffer.alloc(0)
    return bytes
  }

  return {
    count: () => events,
    push(chunk) {
      const { count, last } = findEnds(edge, chunk)
      events += count
      if (last > 0) {
        wait(chunk.subarray(0, last))
        const bytes = takeAll()
        wait(chunk.subarray(last))
        return { bytes, isRounded: true }
      }
      wait(chunk)
      return size > MOST_WAITING_BYTES ? { bytes: takeAll(), isRounded: false } : undefined
    },
    rest: takeAll,
  }
}

const CR = 0x0d
const LF = 0x0a

/**
 * Events end with an empty line, and lines with any of three ends (WHATWG HTML, 9.2.5).
 * @returns how many end in the chunk, and the place in it behind the last of them
 */
function findEnds(edge: Buffer, chunk: Buffer): { readonly count: number; readonly last: number } {
  const bytes = edge.length === 0 ? chunk : Buffer.concat([edge, chunk])
  let count = 0
  let last = 0
  for (let at = 0; at < bytes.length; at++) {
    const first = lineEnd(bytes, at)
    if (first === 0) continue
    const second = lineEnd(bytes, at + first)
    at += first - 1
    if (second === 0) continue
    at += second
    count++
    last = at + 1
  }
  return { count, last: Math.max(0, last - edge.length) }
}

const lineEnd = (bytes: Buffer, at: number): number => {
  if (bytes[at] === LF) return 1
  if (bytes[at] !== CR) return 0
  return bytes[at + 1] === LF ? 2 : 1
}

// Searches an answer while it passes: every piece together with what went before it, and nothing is let go that could be the beginning of
// the secret. What was found ends it: nothing of the piece that it was found in is released.
import { isUtf8 } from 'node:buffer'
import { finishInTurns } from '../../lib/in-turns.ts'
import type { AnswerSearch } from '../kinds/answer-search.ts'
import type { LeakVerdict } from '../leak/inspection.ts'
import type { SeenParts } from '../leak/reading.ts'
import { buildHoldTail, type HoldTail } from '../leak/tail.ts'
import { listTexts } from '../leak/values.ts'
import { type Sought, stepsOfTurn } from '../leak/search.ts'
import type { OutboundResponse } from '../ports.ts'
import { isPacked } from './decoding.ts'

/** A search costs less than this thread has between two rounds; a gate searches so much here and not in a thread. */
const WINDOW_BYTES = 16 * 1024
/**
 * Where it is no text: a byte of that costs twice as much, and what a gate does not finish here costs a thread ten times as much, which makes
 * the search anew.
 */
const WINDOW_BYTES_OF_NO_TEXT = 8 * 1024
const LEAST_OVERLAP_BYTES = 1024
/** In its longest form, `\u00xx`, a byte of the secret takes six. */
const CHARS_PER_BYTE = 6
/**
 * Parts that are too short by themselves count together over so much: as over an answer that is searched whole. Over a stream of hours they
 * would by chance.
 */
const PARTS_BYTES = 1024 * 1024
/** Letters: fewer of them give nothing away, and end every other text. */
const LEAST_BEGINNING = 4

export type Scanned = { readonly ok: true; readonly released: Buffer } | Exclude<LeakVerdict, { ok: true }>

export interface Scanner {
  /** The head, before any byte of the body. */
  head(response: Pick<OutboundResponse, 'statusText' | 'headers'>): Promise<LeakVerdict>
  /** @param isRounded nothing of it goes on in what follows: events of a stream are let go whole */
  push(bytes: Buffer, isRounded: boolean): Promise<Scanned>
  /**
   * How many of the last bytes that were let go may be the beginning of the secret; for who lets whole messages go. 0 where it would be one of
   * fewer than four letters.
   */
  beginning(): Promise<number>
  /** What is still held, at the end. */
  end(): Promise<Scanned>
}

/** Where no credential went with the request, nothing is sought. */
export const passThrough: Scanner = {
  head: async () => ({ ok: true }),
  push: async (released) => ({ ok: true, released }),
  beginning: async () => 0,
  end: async () => ({ ok: true, released: Buffer.alloc(0) }),
}

/** It goes when the opened credential does that it was made of. */
const tails = new WeakMap<Sought['secrets'], Promise<HoldTail>>()

function tailOf(sought: Sought): Promise<HoldTail> {
  const known = tails.get(sought.secrets)
  if (known) return known
  const made = finishInTurns(buildHoldTail(sought), stepsOfTurn(sought))
  tails.set(sought.secrets, made)
  return made
}

/** So much of what was released is searched again with what follows. */
function overlapOf(sought: ReturnType<AnswerSearch['sought']>, scheme: string): number {
  const sizes = sought
    .flat()
    .flatMap((secret) =>
      secret.use((all) => listTexts(all, scheme).map(({ text }) => Buffer.byteLength(text))),
    )
  return Math.max(LEAST_OVERLAP_BYTES, Math.max(...sizes) * CHARS_PER_BYTE + 64)
}

/**
 * A scanner is the secret in all its forms for as long as the answer passes.
 * @param search looks at one window, or at a head
 * @param seen parts of the secret that were seen; one for all scanners of one connection, which have one search then
 */
export function createScanner(
  { gate, sought: soughtNow }: AnswerSearch,
  scheme: string,
  seen: SeenParts = new Map(),
): Scanner {
  let sought = soughtNow()
  let overlap = overlapOf(sought, scheme)
  const kept = createKept()
  let seenBytes = 0

  async function window(bytes: Buffer, isRounded: boolean): Promise<Scanned> {
    seenBytes += bytes.length
    if (seenBytes > PARTS_BYTES) {
      seen.clear()
      seenBytes = bytes.length
    }
    const { body, fresh } = kept.add(bytes)
    const verdict = await gate.inspect({ statusText: '', headers: [], body }, seen)
    if (!verdict.ok) return verdict
    noteSought()
    const heldBytes = isRounded ? 0 : await beginningIn(fresh)
    const size = fresh.length - heldBytes
    // What was held before this stands in memory that is written to again.
    const released =
      fresh.length === bytes.length ? bytes.subarray(0, size) : Buffer.from(fresh.subarray(0, size))
    kept.drop(heldBytes, overlap)
    return { ok: true, released }
  }

  /** The inspection may have learned of another secret. */
  function noteSought(): void {
    if (sought === soughtNow()) return
    sought = soughtNow()
    overlap = overlapOf(sought, scheme)
  }

  async function beginningIn(bytes: Buffer, least?: number): Promise<number> {
    let longest = 0
    for (const secrets of sought)
      longest = Math.max(longest, (await tailOf({ secrets, scheme }))(bytes, overlap, least))
    return longest
  }

  return {
    head: ({ statusText, headers }) => gate.inspect({ statusText, headers, body: Buffer.alloc(0) }, seen),
    async push(bytes, isRounded) {
      // What is packed says something only as a whole.
      const most = isUtf8(bytes) ? WINDOW_BYTES : WINDOW_BYTES_OF_NO_TEXT
      if (bytes.length <= most || isPacked(bytes)) return await window(bytes, isRounded)
      const released: Buffer[] = []
      for (let at = 0; at < bytes.length; at += most) {
        const isLast = at + most >= bytes.length
        const scanned = await window(bytes.subarray(at, at + most), isRounded && isLast)
        if (!scanned.ok) return scanned
        released.push(scanned.released)
      }
      return { ok: true, released: Buffer.concat(released) }
    },
    beginning: () => beginningIn(kept.before(), LEAST_BEGINNING),
    // It was searched, with all that went before it; for what took the place of the secret meanwhile it was not.
    end: async () => (kept.isHolding() ? await window(NOTHING, true) : { ok: true, released: NOTHING }),
  }
}

const NOTHING: Buffer = Buffer.alloc(0)

/** A stream may be open for an hour, and only what is packed comes in larger pieces. */
const LARGEST_KEPT = 4 * WINDOW_BYTES

/**
 * What a window begins with: bytes that were released, and behind them those that were searched and not released. In one piece of memory for
 * all windows: to allocate it for each costs more than to search it.
 */
function createKept() {
  let memory: Buffer = Buffer.alloc(0)
  let released = 0
  let held = 0
  return {
    /** @returns the window, and what of it was not released yet; both are of no meaning after `drop` */
    add(bytes: Buffer): { readonly body: Buffer; readonly fresh: Buffer } {
      const before = released + held
      const size = before + bytes.length
      if (size > memory.length) {
        const larger = Buffer.allocUnsafeSlow(size + (size >> 2))
        memory.copy(larger, 0, 0, before)
        memory = larger
      }
      bytes.copy(memory, before)
      held += bytes.length
      return { body: memory.subarray(0, size), fresh: memory.subarray(released, size) }
    },
    /** All is released but the last `heldBytes`, and `overlap` of it is remembered. */
    drop(heldBytes: number, overlap: number): void {
      const size = released + held
      held = heldBytes
      released = Math.min(size - heldBytes, overlap)
      const from = size - heldBytes - released
      if (memory.length > LARGEST_KEPT) memory = Buffer.from(memory.subarray(from, size))
      else memory.copyWithin(0, from, size)
    },
    before: () => memory.subarray(0, released),
    isHolding: () => held > 0,
  }
}

// Digits of base64 or hexadecimal in lines that are set in, as YAML has them, or whose breaks are escaped, as in a JSON string: each line
// is a run by itself, and what is compressed has to be read from its beginning to its end.
import type { Budget } from './budget.ts'
import type { Content } from './containers.ts'
import type { Region } from './squeeze.ts'

const LINE_FEED = 0x0a
const BACKSLASH = 0x5c
const LETTER_N = 0x6e
const LETTER_R = 0x72

/** Between two lines, and how much of the last one is too short to be a run. */
const MOST_BETWEEN = 64
const LONGEST_LAST_LINE = 128

/**
 * The lines that follow one another, as one run each.
 * @throws {OverBudget}
 */
export function* joinRuns(bytes: Uint8Array, runs: readonly Region[], budget: Budget): Generator<Content> {
  for (let first = 0; first < runs.length; first++) {
    let last = first
    while (isNextLine(bytes, runs[last], runs[last + 1])) last++
    const [start, end] = [runs[first]?.start ?? 0, runs[last]?.end ?? 0]
    if (last > first) yield { name: 'lines', bytes: joinLines(bytes, start, end + LONGEST_LAST_LINE, budget) }
    first = last
  }
}

/** Nothing but blanks and escapes of line breaks, at least one break among them. */
function isNextLine(bytes: Uint8Array, line: Region | undefined, next: Region | undefined): boolean {
  if (!line || !next || next.start - line.end > MOST_BETWEEN) return false
  let isBroken = bytes[line.end - 1] === LINE_FEED
  for (let at = line.end; at < next.start; at++) {
    if (isBlank(bytes[at])) continue
    if (!isEscapedBreak(bytes, at)) return false
    isBroken = true
    at++
  }
  return isBroken
}

function joinLines(bytes: Uint8Array, start: number, end: number, budget: Budget): Uint8Array {
  const last = Math.min(bytes.length, end)
  budget.spend(last - start)
  const out = new Uint8Array(last - start)
  let length = 0
  for (let at = start; at < last; at++) {
    if (isEscapedBreak(bytes, at)) at++
    else if (!isBlank(bytes[at])) out[length++] = bytes[at] ?? 0
  }
  return out.subarray(0, length)
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
const isEscapedBreak = (bytes: Uint8Array, at: number) =>
  bytes[at] === BACKSLASH && (bytes[at + 1] === LETTER_N || bytes[at + 1] === LETTER_R)

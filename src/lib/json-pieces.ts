// JSON of a value with a long text in it, a piece at a time: as one string 1 MiB of text takes three milliseconds of one turn, and
// fourteen where every character is escaped. Most values have none and are left to `JSON.stringify`.
import { randomUUID } from 'node:crypto'
import { isObject } from './json.ts'

/** A text that is longer is written in pieces of as many characters: a sixth of a millisecond each, one at worst. */
export const PIECE_CHARS = 64 * 1024

/** How deep a long text is looked for: the body of an answer is a member of a member. */
const LEVELS = 3

/**
 * The bytes of `JSON.stringify(value)`, in their order.
 * @param value plain data
 * @returns undefined where it has no long text
 */
export function longJson(value: unknown): Generator<Buffer> | undefined {
  // Asked first: nearly all answers are short, and to replace nothing takes ten times as long as to look.
  if (!hasLong(value, LEVELS)) return undefined
  const texts: string[] = []
  const mark = randomUUID()
  const frame = replaceLong(value, LEVELS, (text) => {
    texts.push(text)
    return mark
  })
  return writePieces(JSON.stringify(frame).split(mark), texts)
}

function hasLong(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return value.length > PIECE_CHARS
  if (levels === 0 || !isObject(value)) return false
  for (const name in value) if (hasLong(value[name], levels - 1)) return true
  return false
}

/** @returns the value itself where nothing in it is long */
function replaceLong(value: unknown, levels: number, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return value.length > PIECE_CHARS ? replace(value) : value
  if (levels === 0 || !isObject(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    const replaced = replaceLong(member, levels - 1, replace)
    if (replaced !== member) (copy ??= { ...value })[name] = replaced
  }
  return copy ?? value
}

/** @param frame what stands before, between and behind the texts, their quotes included */
function* writePieces(frame: readonly string[], texts: readonly string[]): Generator<Buffer> {
  for (const [i, part] of frame.entries()) {
    yield Buffer.from(part)
    const text = texts[i] ?? ''
    for (let start = 0; start < text.length;) {
      const end = endOfPiece(text, start)
      yield Buffer.from(JSON.stringify(text.slice(start, end)).slice(1, -1))
      start = end
    }
  }
}

/** The two halves of a character beyond U+FFFF stay together. */
function endOfPiece(text: string, start: number): number {
  const end = start + PIECE_CHARS
  const last = text.charCodeAt(end - 1)
  return last >= 0xd8_00 && last < 0xdc_00 ? end + 1 : end
}

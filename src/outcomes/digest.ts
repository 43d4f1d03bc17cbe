// Computes digests that a caller can recompute from what was returned, with nothing but SHA-256 and an RFC 8785 library.
import { createHash } from 'node:crypto'
import { toCanonicalJson } from '../lib/canonical-json.ts'
import type { Scheduler } from '../lib/scheduler.ts'

/** Lower-case hex SHA-256 of the text in UTF-8. */
export const digestText = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

/** Lower-case hex SHA-256. */
export const digestBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Lower-case hex SHA-256 of the value as canonical JSON (RFC 8785). */
export const digestJson = (value: unknown): string => digestText(toCanonicalJson(value))

/** Characters that are put in canonical form and hashed in one turn: less than a millisecond. */
const CHARACTERS_A_TURN = 64 * 1024
/** A part below so many levels of an answer is small: an entry of a list of a document. */
const SPREAD_DEPTH = 6

/**
 * Does what `digestJson` does, a piece in every turn of the event loop: an answer of a megabyte would keep everybody waiting for it.
 * @param value a JSON value that nobody changes meanwhile
 */
export async function digestJsonInTurns(value: unknown, scheduler: Scheduler): Promise<string> {
  const digest = createHash('sha256')
  let text = ''
  for (const piece of piecesOf(value, SPREAD_DEPTH)) {
    text += piece
    if (text.length < CHARACTERS_A_TURN) continue
    await scheduler.turn()
    digest.update(text, 'utf8')
    text = ''
  }
  return digest.update(text, 'utf8').digest('hex')
}

/** RFC 8785 in pieces: members and elements of their own down to some depth, the library's text below it. */
function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || !isPlain(value)) {
    yield toCanonicalJson(value)
  } else if (Array.isArray(value)) {
    yield '['
    for (const [i, item] of (value as readonly unknown[]).entries()) {
      if (i > 0) yield ','
      yield* piecesOf(item, depth - 1)
    }
    yield ']'
  } else {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    yield '{'
    // The order is by UTF-16 code units, as `<` compares.
    for (const [i, [name, member]] of members.sort(([a], [b]) => (a < b ? -1 : 1)).entries()) {
      yield `${i > 0 ? ',' : ''}${toCanonicalJson(name)}:`
      yield* piecesOf(member, depth - 1)
    }
    yield '}'
  }
}

/** A value that has a way of its own to become JSON is for the library. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  if (Array.isArray(value)) return !value.includes(undefined)
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

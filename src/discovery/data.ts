// Makes text and data that others wrote harmless to print and bounded in size. Nothing in it is followed or resolved.
import { isObject } from '../lib/json.ts'

/** Controls, and what only changes how text is shown (direction marks, zero-width signs, tag characters). */
const UNPRINTABLE =
  /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** One line of printable text, at most `maxChars`; undefined when nothing is left of it. */
export function cleanText(value: unknown, maxChars: number): string | undefined {
  if (typeof value !== 'string') return undefined
  // Cut first, so that a megabyte costs no more than what is kept of it.
  const text = value
    .slice(0, maxChars * 2)
    .replace(/\s+/g, ' ')
    .replace(UNPRINTABLE, '')
    .trim()
  const cut = [...text].slice(0, maxChars).join('')
  return cut === '' ? undefined : cut
}

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])
const MAX_DEPTH = 12
const MAX_STRING = 2048

/**
 * A copy of JSON data, all of it or nothing: half of a schema would mean something else.
 * @param maxChars of everything in it together, keys included
 */
export function copyData(value: unknown, maxChars: number): unknown {
  let left = maxChars
  const spend = (chars: number) => {
    left -= chars
    if (left < 0) throw new TooMuch()
  }
  const copy = (given: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new TooMuch()
    spend(1)
    if (given === null || typeof given === 'boolean') return given
    if (typeof given === 'number') return Number.isFinite(given) ? given : null
    if (typeof given === 'string') {
      if (given.length > MAX_STRING) throw new TooMuch()
      spend(given.length)
      return given.replace(UNPRINTABLE, (char) => (char === '\n' || char === '\t' ? char : ''))
    }
    if (Array.isArray(given)) return given.map((item) => copy(item, depth + 1))
    if (typeof given !== 'object') return null
    const result: Record<string, unknown> = {}
    for (const [key, item] of Object.entries(given)) {
      // The key is judged as it will be written: without its invisible characters it may be another one.
      const name = key.replace(UNPRINTABLE, '')
      if (FORBIDDEN_KEYS.has(name)) continue
      spend(key.length)
      result[name] = copy(item, depth + 1)
    }
    return result
  }
  try {
    return copy(value, 0)
  } catch (thrown) {
    if (thrown instanceof TooMuch) return undefined
    throw thrown
  }
}

class TooMuch extends Error {}

/** An own member, never one of a prototype. */
export const memberOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (found, name) => (isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined),
    value,
  )

// JSON from strangers: bounded depth before parsing, and our own error codes instead of a parser's words.
import { GatewayError } from '../core/errors.ts'

export const MAX_JSON_DEPTH = 32

/** An object as JSON has them: neither null nor a list. Its members are still anybody's. */
export const isObject = <Member = unknown>(value: unknown): value is Record<string, Member> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * @param maxDepth levels of objects and lists
 * @param maxItems members, objects and lists together: they are what costs time, and a long text does not
 * @throws {GatewayError} json_invalid, json_too_deep, body_too_large
 */
export function parseJson(
  text: string,
  maxDepth: number = MAX_JSON_DEPTH,
  maxItems: number = Number.POSITIVE_INFINITY,
): unknown {
  if (depthExceeds(text, maxDepth))
    throw new GatewayError('json_too_deep', `Nest objects and arrays at most ${maxDepth} deep.`)
  if (text.length > maxItems && itemsExceed(text, maxItems))
    throw new GatewayError(
      'body_too_large',
      `Send at most ${maxItems} members, objects and lists in one body.`,
    )
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new GatewayError('json_invalid', 'Send a body that is valid JSON in UTF-8.', { cause })
  }
}

/** Whether two characters occur more than `limit` times together. */
function holdsMoreThan(text: string, one: string, other: string, limit: number): boolean {
  let count = 0
  for (let i = text.indexOf(one); i >= 0; i = text.indexOf(one, i + 1)) if (++count > limit) return true
  for (let i = text.indexOf(other); i >= 0; i = text.indexOf(other, i + 1)) if (++count > limit) return true
  return false
}

/** Walks the characters once, so that a hostile body costs no recursion and no allocation. */
function depthExceeds(text: string, maxDepth: number): boolean {
  // Most bodies do not even hold as many brackets as they might nest, strings included, so there is nothing to walk.
  if (!holdsMoreThan(text, '{', '[', maxDepth)) return false
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > maxDepth) return true
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return false
}

/** Counts as `depthExceeds` walks: once, without recursion or allocation. */
function itemsExceed(text: string, maxItems: number): boolean {
  let items = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if ((char === 0x3a || char === 0x7b || char === 0x5b) && ++items > maxItems) return true
  }
  return false
}

/**
 * Whether an object of the text has a member twice, so that two readers may take two different things from it.
 * Every member has one colon; one that is there twice is one member of the value but two colons of the text.
 * @param value what `text` parses to
 */
export const hasRepeatedMember = (text: string, value: unknown): boolean =>
  countMembers(value) !== countColons(text)

/** Recursion is safe here: whoever parsed the value bounded its depth. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countMembers(item), 0)
  const members = Object.values(value)
  return members.reduce<number>((sum, member) => sum + countMembers(member), members.length)
}

/** Counts the colons that stand between a name and its value, not those in strings. */
export function countColons(text: string): number {
  let colons = 0
  let isInString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (isInString) {
      if (char === 0x5c) i++
      else if (char === 0x22) isInString = false
    } else if (char === 0x22) isInString = true
    else if (char === 0x3a) colons++
  }
  return colons
}

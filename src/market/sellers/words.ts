// What sellers write, made fit to be shown: nothing in it is invisible, turns the direction of what stands around it, or is longer
// than its place. HTML stays the text that it is: whoever shows it escapes it.
import { isObject } from '../../lib/json.ts'

/** Control characters, direction marks, joiners, tags, unassigned and private characters, odd spaces. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu
const ODD_SPACE = /\p{Zs}/gu
/** More marks on one letter than any language writes reach into the lines around it. */
const STACKED = /(\p{M}{3})\p{M}+/gu

/** One line of at most `max` characters. */
export const cleanLine = (text: string, max: number): string =>
  cut(plain(text.replaceAll(/\s+/gu, ' ')).replaceAll(/ {2,}/g, ' ').trim(), max)

/** Paragraphs of at most `max` characters together; no more than one empty line in a row. */
export function cleanText(text: string, max: number): string {
  const lines = text
    .replaceAll(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .split('\n')
    .map((line) => plain(line.replaceAll('\t', ' ')).trimEnd())
  return cut(
    lines
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim(),
    max,
  )
}

const plain = (text: string) =>
  text
    .toWellFormed()
    .replaceAll(ODD_SPACE, ' ')
    .replaceAll(HIDDEN, '')
    // What stood on either side of a hidden character may be one now.
    .normalize('NFC')
    .replaceAll(STACKED, '$1')

/** By characters, not by halves of them. */
const cut = (text: string, max: number) => {
  const chars = [...text]
  return chars.length <= max ? text : chars.slice(0, max).join('').trimEnd()
}

/** Whether a text is shown as it is written. */
export const isPlain = (text: string): boolean => text.isWellFormed() && text.search(HIDDEN) < 0

const SAID = new Set(['title', 'description', '$comment', 'summary'])
const MAX_SAID = 500

/**
 * A schema or an example whose words are clean. What is said of it is cleaned; a value that would be changed by that is left out of
 * the answer: a name or a constant that cannot be seen is refused.
 * @returns undefined where a name or a value in it hides characters
 */
export function cleanJson(value: unknown, name?: string): unknown {
  if (typeof value === 'string') {
    if (name !== undefined && SAID.has(name)) return cleanText(value, MAX_SAID)
    return isPlain(value.replaceAll(/[\n\r\t]/g, '')) ? value : undefined
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => cleanJson(item))
    return items.includes(undefined) ? undefined : items
  }
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([key, inner]) => [key, cleanJson(inner, key)] as const)
  if (members.some(([key, inner]) => inner === undefined || !isPlain(key))) return undefined
  return Object.fromEntries(members)
}

// Texts one behind the other: a search in all of them says that what is searched for is in none, and hardly ever more.
import { TEXT_MIN_CHARS } from '../decode/outline.ts'
import { rememberLast } from '../decode/value.ts'
import { GATE_WORDS } from './gate.ts'
import { PATTERNS, SECRET_WORDS } from './patterns.ts'
import type { Text } from './texts.ts'
import { createWordFinder, type Held } from './words.ts'

export interface Joined {
  /** Without those that are too short to hold a secret. */
  readonly all: string
  readonly held: Held
  /** The text that stands there. */
  textAt(index: number): Text
}

const SEPARATOR = '\n'

/** @returns what `held` is asked with: one of the starts, secret words and gate words */
export const numberOf = (word: string): number => findWords.numberOf(word)

const findWords = createWordFinder([
  ...PATTERNS.flatMap(({ starts }) => starts),
  ...SECRET_WORDS,
  ...GATE_WORDS,
])

export const joinTexts = rememberLast((texts: readonly Text[]): Joined => {
  const values: string[] = []
  for (const { value } of texts) if (value.length >= TEXT_MIN_CHARS) values.push(value)
  // One text alone may be the whole body, and is not copied.
  const all = values.length === 1 ? values[0]! : values.join(SEPARATOR)
  let listed: Listed | undefined
  return {
    all,
    held: findWords(all),
    textAt(index) {
      listed ??= listTexts(texts)
      const { inside, ends } = listed
      let [low, high] = [0, ends.length - 1]
      while (low < high) {
        const middle = (low + high) >> 1
        if (ends[middle]! > index) high = middle
        else low = middle + 1
      }
      return inside[low]!
    },
  }
})

/** Made where something was found. */
interface Listed {
  readonly inside: readonly Text[]
  readonly ends: readonly number[]
}

function listTexts(texts: readonly Text[]): Listed {
  const inside = texts.filter(({ value }) => value.length >= TEXT_MIN_CHARS)
  let length = 0
  return { inside, ends: inside.map(({ value }) => (length += value.length + SEPARATOR.length)) }
}

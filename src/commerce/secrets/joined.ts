// Texts one behind the other: a search in all of them says that what is searched for is in none, and hardly ever more.
import { TEXT_MIN_CHARS } from '../decode/outline.ts'
import { rememberLast } from '../decode/value.ts'
import { GATE_WORDS } from './gate.ts'
import { PATTERNS, SECRET_WORDS } from './patterns.ts'
import type { Text } from './texts.ts'
import { createWordFinder, type Held } from './words.ts'

export interface Joined {
  readonly all: string
  /** Those in it. Shorter ones hold no secret. */
  readonly texts: readonly Text[]
  readonly held: Held
  textAt(index: number): Text
}

const SEPARATOR = '\n'

const findWords = createWordFinder([
  ...PATTERNS.flatMap(({ starts }) => starts),
  ...SECRET_WORDS,
  ...GATE_WORDS,
])

export const joinTexts = rememberLast((given: readonly Text[]): Joined => {
  const texts: Text[] = []
  const values: string[] = []
  for (const text of given)
    if (text.value.length >= TEXT_MIN_CHARS) {
      texts.push(text)
      values.push(text.value)
    }
  // One text alone may be the whole body, and is not copied.
  const all = values.length === 1 ? values[0]! : values.join(SEPARATOR)
  let ends: number[] | undefined
  return {
    all,
    texts,
    held: findWords(all),
    textAt(index) {
      ends ??= listEnds(values)
      let [low, high] = [0, ends.length - 1]
      while (low < high) {
        const middle = (low + high) >> 1
        if (ends[middle]! > index) high = middle
        else low = middle + 1
      }
      return texts[low]!
    },
  }
})

function listEnds(values: readonly string[]): number[] {
  let length = 0
  return values.map((value) => (length += value.length + SEPARATOR.length))
}

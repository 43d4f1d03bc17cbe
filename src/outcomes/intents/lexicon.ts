// Looks words up in a vocabulary, forgiving endings and slips of the finger.
import { stemsOf } from './tokens.ts'

export interface Lexicon<T> {
  /** The entry of a word, and the name that it stands under. */
  find(word: string): { readonly name: string; readonly value: T } | undefined
}

const MIN_TYPO_CHARACTERS = 6
/** Two letters that changed places are a slip in shorter words, too. */
const MIN_SWAPPED_CHARACTERS = 5
const MAX_TYPO_CHARACTERS = 20

/** @param entries folded words */
export function createLexicon<T>(entries: ReadonlyMap<string, T>): Lexicon<T> {
  /** Every known longer word with one letter left out. */
  const shortened = new Map<string, string>()
  for (const word of entries.keys())
    if (word.length >= MIN_TYPO_CHARACTERS && /^[a-z]+$/.test(word))
      for (const short of withoutOne(word)) if (!shortened.has(short)) shortened.set(short, word)

  /** One letter too few, one too many, or two swapped. A wrong letter is left alone: too many other words are one away. */
  function findMeant(word: string): string | undefined {
    if (word.length < MIN_TYPO_CHARACTERS - 1 || word.length > MAX_TYPO_CHARACTERS || !/^[a-z]+$/.test(word))
      return undefined
    for (const stem of stemsOf(word)) {
      const left = shortened.get(stem)
      if (left !== undefined && left[0] === stem[0]) return left
      if (stem.length < MIN_SWAPPED_CHARACTERS) continue
      for (let i = 1; i + 1 < stem.length; i++) {
        const swapped = stem.slice(0, i) + stem.charAt(i + 1) + stem.charAt(i) + stem.slice(i + 2)
        if (entries.has(swapped)) return swapped
      }
      if (stem.length < MIN_TYPO_CHARACTERS) continue
      for (const short of withoutOne(stem).slice(1))
        if (short.length >= MIN_TYPO_CHARACTERS && entries.has(short)) return short
    }
    return undefined
  }

  return {
    find(word) {
      const name = stemsOf(word).find((stem) => entries.has(stem)) ?? findMeant(word)
      const value = name === undefined ? undefined : entries.get(name)
      return name === undefined || value === undefined ? undefined : { name, value }
    },
  }
}

const withoutOne = (word: string): string[] =>
  Array.from(word, (_, i) => word.slice(0, i) + word.slice(i + 1))

// Splits text into the words that a search compares.

export interface SearchDocument {
  readonly name: string
  readonly tags: readonly string[]
  readonly description: string
  readonly url: string
}

const WEIGHTS = { name: 8, tags: 6, description: 3, url: 2 } as const

/** Words that say nothing about a resource; a query of nothing else is taken as it is. */
const STOP_WORDS = new Set(
  'a an and any api apis at by can find for from get give i in is it me my need of on or some that the this to want with'.split(
    ' ',
  ),
)
const MAX_QUERY_WORDS = 16

/** Lower case without diacritics, letters and digits of any script. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/** Each word with the weight of the best field it stands in. */
export function weighWords({ name, tags, description, url }: SearchDocument): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) if (!weights.has(word)) weights.set(word, weight)
  }
  // Heaviest first: the first weight of a word is its best.
  add(name, WEIGHTS.name)
  add(tags.join(' '), WEIGHTS.tags)
  add(description, WEIGHTS.description)
  add(url, WEIGHTS.url)
  return weights
}

/** Keeps at most 16 words of a query, without words that say nothing where others are left. */
export function queryWords(query: string): string[] {
  const words = [...new Set(wordsOf(query))].slice(0, MAX_QUERY_WORDS)
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return telling.length > 0 ? telling : words
}

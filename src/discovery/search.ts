// Ranked text search over listings. A score depends on the query and the one entry only, so that an order that a caller
// has seen stays as it is when other entries come and go.

export interface SearchDocument {
  readonly name: string
  readonly tags: readonly string[]
  readonly description: string
  readonly url: string
}

export interface Hit {
  /** Position of the document in what the index was made of. */
  readonly at: number
  readonly score: number
}

export interface SearchIndex {
  /** Documents with every word of the query, then those with some; within each the better ones first. */
  find(query: string): readonly Hit[]
}

const WEIGHTS = { name: 8, tags: 6, description: 3, url: 2 } as const
const EXACT = 2
const PREFIX = 1
/** Above any sum of weights: all words beat some words. */
const ALL_WORDS = 1_000_000
const MAX_WORDS = 16
const MIN_PREFIX = 2

/** Words that say nothing about a resource; a query of nothing else is taken as it is. */
const STOP_WORDS = new Set(
  'a an and any api apis at by can find for from get give i in is it me my need of on or some that the this to want with'.split(
    ' ',
  ),
)

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

export function indexDocuments(documents: readonly SearchDocument[]): SearchIndex {
  /** word -> position of the document -> weight of the best field it stands in. */
  const postings = new Map<string, Map<number, number>>()
  for (const [at, document] of documents.entries()) {
    const fields: readonly (readonly [string, number])[] = [
      [document.name, WEIGHTS.name],
      [document.tags.join(' '), WEIGHTS.tags],
      [document.description, WEIGHTS.description],
      [document.url, WEIGHTS.url],
    ]
    for (const [text, weight] of fields)
      for (const word of wordsOf(text)) {
        const found = postings.get(word) ?? new Map<number, number>()
        if (found.size === 0) postings.set(word, found)
        found.set(at, Math.max(found.get(at) ?? 0, weight))
      }
  }
  const vocabulary = [...postings.keys()].sort()

  /** Best weight of one query word, by document. */
  function matchWord(word: string): Map<number, number> {
    const found = new Map<number, number>()
    const collect = (entry: string, factor: number) => {
      for (const [at, weight] of postings.get(entry) ?? [])
        found.set(at, Math.max(found.get(at) ?? 0, weight * factor))
    }
    collect(word, EXACT)
    if (word.length < MIN_PREFIX) return found
    for (let i = lowerBound(vocabulary, word); i < vocabulary.length && vocabulary[i]!.startsWith(word); i++)
      if (vocabulary[i] !== word) collect(vocabulary[i]!, PREFIX)
    return found
  }

  return {
    find(query) {
      const words = queryWords(query)
      const sums = new Map<number, { score: number; matched: number }>()
      for (const word of words)
        for (const [at, weight] of matchWord(word)) {
          const sum = sums.get(at) ?? { score: 0, matched: 0 }
          sums.set(at, { score: sum.score + weight, matched: sum.matched + 1 })
        }
      return [...sums]
        .map(([at, { score, matched }]) => ({
          at,
          score: matched === words.length ? score + ALL_WORDS : score,
        }))
        .sort((a, b) => b.score - a.score || a.at - b.at)
    },
  }
}

function queryWords(query: string): string[] {
  const words = [...new Set(wordsOf(query))].slice(0, MAX_WORDS)
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return telling.length > 0 ? telling : words
}

/** First position whose word is not before `word`. */
function lowerBound(sorted: readonly string[], word: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < word) low = middle + 1
    else high = middle
  }
  return low
}

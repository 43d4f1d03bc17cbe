// Ranked text search over what is listed somewhere. A score depends on the query and the one entry only, so that an order that a caller
// has seen stays as it is when other entries come and go.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { queryWords } from './search-words.ts'

export interface Hit {
  /** Position of the document in what the index was made of. */
  readonly at: number
  readonly score: number
}

export interface SearchIndex {
  /** Every document with a word of the query, in no order. Those with all its words score above all others. */
  find(query: string): readonly Hit[]
}

const EXACT = 2
const PREFIX = 1
/** Above any sum of weights: all words beat some words. */
const ALL_WORDS = 1_000_000
const MIN_PREFIX = 2
/** Documents between two turns of the event loop. */
const AT_ONCE = 200

/** @param documents each as its words with their weights */
export async function indexDocuments(
  documents: readonly ReadonlyMap<string, number>[],
): Promise<SearchIndex> {
  const postings = new Map<string, { readonly at: number[]; readonly weight: number[] }>()
  for (const [at, words] of documents.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await nextTurn()
    for (const [word, weight] of words) {
      let posting = postings.get(word)
      if (!posting) postings.set(word, (posting = { at: [], weight: [] }))
      posting.at.push(at)
      posting.weight.push(weight)
    }
  }
  const vocabulary = [...postings.keys()].sort()

  /** Raises `best` to the weight of one query word, document by document. */
  function matchWord(word: string, best: Uint8Array): void {
    const collect = (entry: string, factor: number) => {
      const posting = postings.get(entry)
      if (!posting) return
      for (const [i, at] of posting.at.entries())
        best[at] = Math.max(best[at] ?? 0, (posting.weight[i] ?? 0) * factor)
    }
    collect(word, EXACT)
    if (word.length < MIN_PREFIX) return
    // U+FFFF sorts behind every letter and digit.
    const prefixed = vocabulary.slice(lowerBound(vocabulary, word), lowerBound(vocabulary, `${word}\uffff`))
    for (const entry of prefixed) if (entry !== word) collect(entry, PREFIX)
  }

  return {
    find(query) {
      const words = queryWords(query)
      const scores = new Uint32Array(documents.length)
      const matched = new Uint8Array(documents.length)
      const best = new Uint8Array(documents.length)
      for (const word of words) {
        best.fill(0)
        matchWord(word, best)
        for (const [at, weight] of best.entries()) {
          if (weight === 0) continue
          scores[at] = (scores[at] ?? 0) + weight
          matched[at] = (matched[at] ?? 0) + 1
        }
      }
      const hits: Hit[] = []
      for (const [at, score] of scores.entries())
        if (score > 0) hits.push({ at, score: score + (matched[at] === words.length ? ALL_WORDS : 0) })
      return hits
    },
  }
}

/** The first position whose word is not before `word`. */
function lowerBound(sorted: readonly string[], word: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? '') < word) low = middle + 1
    else high = middle
  }
  return low
}

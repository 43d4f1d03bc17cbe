// Finds what a query is about in several documents: BM25 over pieces of the size of a paragraph. The same documents and
// query give the same passages, in the same order.
import { must } from '../../lib/must.ts'
import { segmentText, type Segment } from './segments.ts'
import { isStopword, stemOf } from './stem.ts'
import { wordsOf } from './words.ts'

export interface PassageDocument {
  readonly id: string
  readonly text: string
  /** Texts of its headings, where they are known. */
  readonly headings?: readonly string[]
}

export interface Passage {
  readonly document: string
  readonly text: string
  /** Offsets in the document's text, in Unicode characters. */
  readonly start: number
  readonly end: number
  readonly heading: string | null
  readonly score: number
  readonly terms: readonly string[]
}

const MAX_PASSAGES = 10
const MAX_TERMS = 32
// Robertson and Zaragoza's usual values.
const K1 = 1.2
const B = 0.75
/** A passage below this share of the best score has a common word with the query, and that is all. */
const MIN_SHARE = 0.25

interface Candidate extends Segment {
  readonly document: number
  readonly words: number
  /** How often each term of the query is in the text and in the heading. */
  readonly counts: readonly number[]
}

/** The passages that a query is about, best first. */
export function findPassages(documents: readonly PassageDocument[], query: string): Passage[] {
  const terms = termsOf(query)
  if (terms.size === 0) return []
  const indexOf = createLookup([...terms.keys()])
  const candidates = documents.flatMap(({ text, headings }, document) =>
    segmentText(text, headings ?? []).map((segment) => {
      const words = wordsOf(text.slice(segment.start, segment.end))
      const shown = segment.heading === null ? words : [...words, ...wordsOf(segment.heading)]
      const counts = Array.from({ length: terms.size }, () => 0)
      for (const index of shown.map(indexOf)) if (index >= 0) counts[index] = (counts[index] ?? 0) + 1
      return { ...segment, document, words: words.length, counts }
    }),
  )
  const best = rank(candidates)
  const limit = (best[0]?.score ?? 0) * MIN_SHARE
  const names = [...terms.values()]
  const seen = new Set<string>()
  const passages: Passage[] = []
  for (const { candidate, score } of best) {
    if (passages.length === MAX_PASSAGES || score < limit) break
    const { id, text } = must(documents[candidate.document], 'the document of a passage')
    const piece = text.slice(candidate.start, candidate.end)
    // A passage that stands in two documents is shown in the first one.
    if (seen.has(piece)) continue
    seen.add(piece)
    const start = countCharacters(text, 0, candidate.start)
    passages.push({
      document: id,
      text: piece,
      start,
      end: start + countCharacters(text, candidate.start, candidate.end),
      heading: candidate.heading,
      score: Math.round(score * 10_000) / 10_000,
      terms: names.filter((_, i) => (candidate.counts[i] ?? 0) > 0),
    })
  }
  return passages
}

/** Stems with the word that each came from, folded. Of a question made of nothing but stopwords, those. */
function termsOf(query: string): Map<string, string> {
  const words = wordsOf(query)
  const telling = words.filter((word) => !isStopword(word))
  const terms = new Map<string, string>()
  for (const word of telling.length > 0 ? telling : words) {
    const stem = stemOf(word)
    if (terms.size < MAX_TERMS && !terms.has(stem)) terms.set(stem, word)
  }
  return terms
}

/** Index of the term that a word is, or -1. Texts repeat their words, so each is stemmed once. */
function createLookup(stems: readonly string[]): (word: string) => number {
  const known = new Map<string, number>()
  return (word) => {
    let index = known.get(word)
    if (index === undefined) known.set(word, (index = stems.indexOf(stemOf(word))))
    return index
  }
}

/** Those that hold a term, best first; of equals the one that is read first. */
function rank(candidates: readonly Candidate[]): { candidate: Candidate; score: number }[] {
  const averageWords = candidates.reduce((sum, { words }) => sum + words, 0) / Math.max(candidates.length, 1)
  const terms = candidates[0]?.counts.length ?? 0
  const weights = Array.from({ length: terms }, (_, i) => {
    const holding = candidates.filter(({ counts }) => (counts[i] ?? 0) > 0).length
    return Math.log(1 + (candidates.length - holding + 0.5) / (holding + 0.5))
  })
  const scoreOf = ({ counts, words }: Candidate) => {
    const length = K1 * (1 - B + (B * words) / averageWords)
    return counts.reduce(
      (sum, times, i) => sum + ((weights[i] ?? 0) * times * (K1 + 1)) / (times + length),
      0,
    )
  }
  return candidates
    .filter(({ counts }) => counts.some((times) => times > 0))
    .map((candidate) => ({ candidate, score: scoreOf(candidate) }))
    .sort(
      (a, b) =>
        b.score - a.score ||
        a.candidate.document - b.candidate.document ||
        a.candidate.start - b.candidate.start,
    )
}

function countCharacters(text: string, from: number, to: number): number {
  let characters = 0
  for (let at = from; at < to; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) characters++
  return characters
}

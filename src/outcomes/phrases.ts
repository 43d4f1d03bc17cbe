// Reads what a sentence asks for, in English or Arabic: points for the words in it. The same words, the same answer, always.
// Whether that is enough, and for what, is resolve.ts.
import type { OutcomeId } from '../../schemas/outcome.ts'
import { readLimit, readQuery } from './intents/options.ts'
import { foldPhrase, splitWords, type Token, URL_MARK } from './intents/tokens.ts'
import { findUrls } from './intents/urls.ts'
import {
  DEMO,
  DEMO_ALSO,
  DEMO_KIND,
  findNames,
  findPhrases,
  findWord,
  POLITE,
  type Side,
} from './intents/vocabulary.ts'

export interface Sentence {
  /** Points of a sentence: what it is about, by capability; `foreign` and `subject` are jobs of others. */
  readonly points: ReadonlyMap<Side, number>
  /** Capabilities that it names themselves, so that it can contradict another field. */
  readonly named: readonly OutcomeId[]
  /** `only`: nothing but the demo is asked for. `maybe`: the demo of something. */
  readonly demo: 'only' | 'maybe' | 'no'
  readonly urls: readonly string[]
  readonly limit: number | undefined
  readonly query: string | undefined
}

/** UTF-16 units of all sentences of a request that are read: an intent as long as it may be is well within it. */
export const MAX_UNITS = 6000
/** The subject of the query is not what is asked for. */
const QUERY_SHARE = 0.5
/** A sentence that says how many speaks of entries. */
const COUNTED = 3

/** Reads one sentence, at most MAX_UNITS of it. */
export function readSentence(text: string): Sentence {
  const { urls, rest } = findUrls(text.slice(0, MAX_UNITS))
  const all = splitWords(rest)
  const query = readQuery(all, rest)
  const ignored = findIgnored(all, rest)
  const tokens = all.filter((_, i) => !ignored.has(i))
  const joined = ` ${tokens.map(({ word, afterBreak }) => (afterBreak ? `| ${word}` : word)).join(' ')} `
  const phrase = joined.replaceAll('| ', '')
  const named = findNames(phrase)

  const points = new Map<Side, number>()
  const add = (side: Side, more: number) => points.set(side, (points.get(side) ?? 0) + more)
  const counted = new Set<string>()
  for (const [i, { word }] of all.entries()) {
    if (ignored.has(i) || word === URL_MARK || counted.has(word)) continue
    counted.add(word)
    const found = findWord(word)
    if (!found || counted.has(`${found.name} `)) continue
    counted.add(`${found.name} `)
    const isAbout = query !== undefined && i >= query.from && i < query.to
    for (const [side, value] of Object.entries(found.points) as [Side, number][])
      if (!isAbout) add(side, value)
      else if (side !== 'foreign' && side !== 'subject') add(side, value * QUERY_SHARE)
      else if (side === 'subject') add(side, value)
  }
  for (const [side, value] of findPhrases(joined)) add(side, value)
  const limit = readLimit(tokens)
  if (limit !== undefined) add('feed-digest', COUNTED)
  return { points, named, demo: readDemo(tokens, named), urls, limit, query: query?.query }
}

function readDemo(tokens: readonly Token[], named: readonly OutcomeId[]): Sentence['demo'] {
  const asked = tokens.filter(({ word }) => word !== URL_MARK && !POLITE.has(word))
  const isDemo = (word: string) => DEMO.has(word) || DEMO_ALSO.has(word)
  if (asked.length > 0 && asked.every(({ word }) => isDemo(word)))
    return asked.some(({ word }) => DEMO.has(word) || !AMBIGUOUS.has(word)) ? 'only' : 'no'
  const at = tokens.findIndex(({ word }) => DEMO.has(word))
  if (at < 0) return 'no'
  const next = tokens[at + 1]
  const isKind = next !== undefined && DEMO_KIND.has(next.word) && named.length === 0
  return isKind ? 'no' : 'maybe'
}

/** Words of a demo that alone say too little. */
const AMBIGUOUS = new Set(['test', 'عرض', 'مجاني', 'مجانيه', 'مجانا'].map(foldPhrase))

const wordSet = (text: string) => new Set(text.split(/\s+/).map(foldPhrase))
const NOT = wordSet(
  'not no dont doesnt didnt isnt arent never without except excluding skip ignore لا مش مو مب ليس ليست بدون بلا وليس وليست دون موش مافي',
)
const NOT_FOLLOWED = new Set(['instead of', 'rather than', 'other than', 'من غير', 'بدل ما', 'do not'])
/** "ما" is "what" as often as "not": only before wanting and needing is it the latter. */
const WANT = wordSet('ابغى ابغا أبي ابي بدي اريد عايز عاوز احتاج نبي بدنا يهمني')
const NOT_NOT = wordSet('only just فقط بس يزال تزال زال زالت')
/** These words end what is denied. */
const BUT = wordSet('but only just rather instead and then لكن بس فقط انما بل ولكن وانما')
const MAX_DENIED_WORDS = 5

/** Words that say what is not asked for, and words that are quoted. */
function findIgnored(tokens: readonly Token[], text: string): Set<number> {
  const ignored = new Set<number>()
  for (const [i, { word }] of tokens.entries()) {
    const next = tokens[i + 1]?.word ?? ''
    const isPair = NOT_FOLLOWED.has(`${word} ${next}`)
    const isWant = word === 'ما' && WANT.has(next)
    if (!(NOT.has(word) || isPair || isWant) || NOT_NOT.has(next)) continue
    const end = i + (isPair ? 2 : 1)
    for (let j = i; j < end; j++) ignored.add(j)
    for (const [n, { word: denied, afterBreak }] of tokens.slice(end, end + MAX_DENIED_WORDS).entries()) {
      if (afterBreak || denied === URL_MARK || BUT.has(denied)) break
      ignored.add(end + n)
    }
  }
  let at = 0
  for (const [from, to] of findQuoted(text)) {
    const inside: number[] = []
    for (let token = tokens[at]; token && token.start < to; token = tokens[++at])
      if (token.start > from) inside.push(at)
    // One word in quotes is stressed, all of them in quotes are the sentence itself; in between they are a title.
    if (inside.length > 1 && inside.length < tokens.length - 1) for (const i of inside) ignored.add(i)
  }
  return ignored
}

const findQuoted = (text: string) =>
  Array.from(
    text.matchAll(/"[^"\n]{1,300}"|\u201C[^\u201D\n]{1,300}\u201D|\u00AB[^\u00BB\n]{1,300}\u00BB/g),
    ({ 0: quoted, index }) => [index, index + quoted.length] as const,
  )

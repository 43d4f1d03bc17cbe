// Reads what a sentence asks for, in English or Arabic: points for the words in it. The same words, the same answer, always.
// Whether that is enough, and for what, is resolve.ts.
import type { OutcomeId } from '../../schemas/outcome.ts'
import {
  asksForPage,
  type Clause,
  findBeginnings,
  findStrangeRequest,
  isContent,
  isRequest,
  splitClauses,
} from './intents/clauses.ts'
import { type JobId, jobOf } from './intents/jobs.ts'
import { readLimit, readQuery, type SaidQuery } from './intents/options.ts'
import { readQuestion } from './intents/questions.ts'
import { foldPhrase, splitWords, type Token, URL_MARK } from './intents/tokens.ts'
import { isFileAddress } from './intents/judge.ts'
import { hasTopic } from './intents/topic.ts'
import { findUndone, type UndoneHit } from './intents/undone.ts'
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
  /** Points of a sentence: what it is about, by capability; `subject` is of others. */
  readonly points: ReadonlyMap<Side, number>
  /** Jobs that it asks for and that are not done here, in its order, each once. */
  readonly undone: readonly Undone[]
  /** Points of what it asks for besides: of the clauses that ask for nothing undone. */
  readonly besides: ReadonlyMap<Side, number>
  /** Words that say something, whether or not anybody knows what. */
  readonly hasContent: boolean
  /** Whatever it speaks of, it has the form of asking for what stands at an address. */
  readonly asksForPage: boolean
  /** A request begins with a verb for nothing that is done here. */
  readonly isStrange: boolean
  /** News of one topic. */
  readonly hasTopic: boolean
  /** Capabilities that it names themselves, so that it can contradict another field. */
  readonly named: readonly OutcomeId[]
  /** `only`: nothing but the demo is asked for. `maybe`: the demo of something. */
  readonly demo: 'only' | 'maybe' | 'no'
  readonly urls: readonly string[]
  readonly limit: number | undefined
  readonly query: string | undefined
  /** The query is a question to the page. */
  readonly isQuestion: boolean
  /** For reasons, times or people: no shop page is about that. */
  readonly asksWhy: boolean
}

export interface Undone {
  readonly job: JobId
  /** Said before anything that is done here. */
  readonly isFirst: boolean
}

/** UTF-16 units of all sentences of a request that are read: an intent as long as it may be is well within it. */
export const MAX_UNITS = 6000
/** The subject of the query is not what is asked for. */
const QUERY_SHARE = 0.5
/** A sentence that says how many speaks of entries. */
const COUNTED = 3

/**
 * Reads one sentence, at most MAX_UNITS of it.
 * @param hasSource the request names a source beside it
 */
export function readSentence(text: string, hasSource = false): Sentence {
  const { urls, rest } = findUrls(text.slice(0, MAX_UNITS))
  const all = splitWords(rest)
  const ignored = findIgnored(all, rest)
  const tokens = all.filter((_, i) => !ignored.has(i))
  const clauses = splitClauses(tokens)
  const beginnings = findBeginnings(tokens, clauses)
  const found = findUndone(tokens, beginnings, urls.some(isFileAddress))
  // A query ends where something undone is asked for: "about refunds and translate it".
  const stops = new Set(found.filter(({ isAct }) => isAct).map(({ from }) => tokens[from]?.start ?? -1))
  const about = readQuery(all, rest, stops)
  const question = about === undefined && urls.length > 0 ? readQuestion(tokens, rest) : undefined
  const span = about ? spanOf(tokens, all, about) : question
  const isSourced = hasSource || urls.length > 0
  const hits = found.filter(
    (hit) =>
      !isInQuery(hit, span, question !== undefined) &&
      !(isSourced && jobOf(hit.job).onlyWithoutSource === true),
  )
  const isBeside = findBeside(tokens, clauses, hits)
  const limit = readLimit(tokens)
  const pointsOf = (isRead: (i: number) => boolean, isCounted: boolean) => {
    const points = countPoints(tokens, isRead, about && span)
    if (isCounted) points.set('feed-digest', (points.get('feed-digest') ?? 0) + COUNTED)
    return points
  }
  const beside = tokens.filter((_, i) => isBeside[i] === true)
  const points = pointsOf(() => true, limit !== undefined)
  const firstBeside = tokens.findIndex((token, i) => isBeside[i] === true && isContent(token))
  const jobs = [...new Map(hits.toReversed().map((hit) => [hit.job, hit])).values()].toSorted(
    (a, b) => a.from - b.from,
  )
  const named = findNames(joinWords(tokens, () => true).replaceAll('| ', ''))
  return {
    points,
    undone: jobs.map(({ job, from }) => ({ job, isFirst: firstBeside < 0 || from < firstBeside })),
    besides:
      hits.length === 0 ? points : pointsOf((i) => isBeside[i] === true, readLimit(beside) !== undefined),
    hasContent: tokens.some(isContent),
    asksForPage: !urls.some(isFileAddress) && asksForPage(tokens, clauses),
    isStrange: question === undefined && findStrangeRequest(tokens, clauses) !== undefined,
    hasTopic: hasTopic(tokens, about && span),
    named,
    demo: readDemo(tokens, named),
    urls,
    limit,
    query: about?.query ?? question?.query,
    isQuestion: question !== undefined,
    asksWhy: question !== undefined && WHY.has(tokens[question.from]?.word ?? ''),
  }
}

interface Span {
  readonly from: number
  readonly to: number
}

/** The place of a query among the tokens that are left. */
const spanOf = (tokens: readonly Token[], all: readonly Token[], { from, to }: SaidQuery): Span => {
  const [start, end] = [all[from]?.start ?? 0, all[to - 1]?.end ?? 0]
  const inside = tokens.flatMap((token, i) => (token.start >= start && token.end <= end ? [i] : []))
  return { from: inside[0] ?? 0, to: (inside.at(-1) ?? -1) + 1 }
}

/** What a query speaks of is not asked for, unless a question asks for just that: "is this news fake?" */
function isInQuery(hit: UndoneHit, span: Span | undefined, isQuestion: boolean): boolean {
  if (span === undefined || hit.from < span.from || hit.to > span.to) return false
  if (!isQuestion) return true
  const isAsked = jobOf(hit.job).isAsked === true && (hit.isPhrase || hit.job === 'summary')
  return !isAsked && hit.from !== span.from
}

/** Whether each token stands in a clause that asks for nothing undone, nor for its object: "translate the title and the text". */
function findBeside(
  tokens: readonly Token[],
  clauses: readonly Clause[],
  hits: readonly UndoneHit[],
): readonly boolean[] {
  const isUndone = tokens.map(() => false)
  const isAct = tokens.map(() => false)
  for (const { from, to, isAct: acts } of hits)
    for (let i = from; i < to; i++) {
      isUndone[i] = true
      if (acts) isAct[i] = true
    }
  const isBeside = tokens.map(() => true)
  let isOfAct = false
  const tails = new Set(
    hits.filter(({ job, isAct: acts }) => !acts && TAILS.has(job)).map(({ from }) => from),
  )
  for (const clause of clauses) {
    const { from, to } = clause
    const isInherited = isOfAct && clause.isJoined && !isRequest(tokens, clause)
    if (!isInherited) isOfAct = isAct.slice(from, to).includes(true)
    if (!isInherited && !isUndone.slice(from, to).includes(true)) continue
    // "The latest items of … as a PDF": what stands before is asked for as well, if it says enough.
    const first = isUndone.indexOf(true, from)
    const isTail = !isInherited && tails.has(first) && worthOf(tokens.slice(from, first)) >= MIN_BEFORE_TAIL
    isBeside.fill(false, isTail ? first : from, to)
  }
  return isBeside
}

/** Said of a result, not only of a page: "as a PDF", "in French". */
const TAILS = new Set<JobId>(['files', 'translation'])
const MIN_BEFORE_TAIL = 4

/** The points that speak for a capability most. */
const worthOf = (tokens: readonly Token[]) =>
  Math.max(
    0,
    ...[...countPoints(tokens, () => true, undefined)].map(([side, value]) =>
      side === 'subject' ? 0 : value,
    ),
  )

function countPoints(
  tokens: readonly Token[],
  isRead: (i: number) => boolean,
  query: Span | undefined,
): Map<Side, number> {
  const points = new Map<Side, number>()
  const add = (side: Side, more: number) => points.set(side, (points.get(side) ?? 0) + more)
  const counted = new Set<string>()
  for (const [i, { word }] of tokens.entries()) {
    if (!isRead(i) || word === URL_MARK || counted.has(word)) continue
    counted.add(word)
    const found = findWord(word)
    if (!found || counted.has(`${found.name} `)) continue
    counted.add(`${found.name} `)
    const isAbout = query !== undefined && i >= query.from && i < query.to
    for (const [side, value] of Object.entries(found.points) as [Side, number][])
      add(side, isAbout && side !== 'subject' ? value * QUERY_SHARE : value)
  }
  for (const [side, value] of findPhrases(joinWords(tokens, isRead))) add(side, value)
  return points
}

/** The words with single spaces, a space at both ends, and `|` where a clause begins. */
const joinWords = (tokens: readonly Token[], isRead: (i: number) => boolean) =>
  ` ${tokens
    .filter((_, i) => isRead(i))
    .map(({ word, afterBreak }) => (afterBreak ? `| ${word}` : word))
    .join(' ')} `

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

const WHY = new Set(['why', 'when', 'who', 'لماذا', 'ليش', 'ليه', 'متي', 'امتي', 'علاش'])

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
  // In JSON everything is in quotes.
  for (const [from, to] of /^\s*[[{]/.test(text) ? [] : findQuoted(text)) {
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

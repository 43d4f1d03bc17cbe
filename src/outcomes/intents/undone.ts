// Finds the jobs in a sentence that are not done here. Pure and linear: a phrase is tried only where its first word stands, and what may
// stand between its words is bounded.
import type { JobId } from './jobs.ts'
import { JOB_WORDS, LANGUAGES, THINGS } from './job-words/index.ts'
import { createLexicon } from './lexicon.ts'
import { foldPhrase, stemsOf, type Token, URL_MARK } from './tokens.ts'
import { withPersons } from './vocabulary.ts'

export interface UndoneHit {
  readonly job: JobId
  /** Tokens from (inclusive) and to (exclusive). */
  readonly from: number
  readonly to: number
  /** Said by a verb: the nouns that are joined to its object belong to it. */
  readonly isAct: boolean
  /** Said in a phrase, not in one word that may be about something else. */
  readonly isPhrase: boolean
}

/** Tokens that a gap of a phrase skips at most. */
const MAX_GAP = 4

/** "The chapter on monitoring": a noun behind them is what something is about. */
const ABOUT = new Set(['on', 'about', 'regarding', 'concerning', 'covering', 'عن'].map(foldPhrase))

const AND = new Set(['and', 'then', 'or', 'و', 'ثم', 'او'])

/** A folded word with the forms of it that a vocabulary may hold. */
interface Word {
  readonly word: string
  readonly stems: readonly string[]
}
type Element = 'gap' | ((word: Word) => boolean)
interface Phrase {
  readonly job: JobId
  /** Only where a request can begin. */
  readonly isRequest: boolean
  /** Only where no address is said. */
  readonly isWithoutAddress: boolean
  /** What follows the first word. */
  readonly rest: readonly Element[]
}

const languages = new Set(LANGUAGES.map(foldPhrase))
const things = new Set(THINGS.map(foldPhrase))
/** In Arabic the preposition is written with the name. */
const TO_LANGUAGE = /^و?(?:لل|بال|عال|ل|ب)(.+)$/
const isLanguage = ({ stems }: Word) => stems.some((stem) => languages.has(stem))

const elementOf = (written: string): Element => {
  if (written === '_') return 'gap'
  if (written === 'LANGUAGE') return isLanguage
  if (written === 'LANGUAGE_TO') return isToLanguage
  const options = new Set(written.split('/').map(optionOf))
  const isNumber = options.has('#')
  return ({ word, stems }) => stems.some((stem) => options.has(stem)) || (isNumber && /^\d+$/.test(word))
}
const isToLanguage = ({ word }: Word) => {
  const name = TO_LANGUAGE.exec(word)?.[1]
  return name !== undefined && languages.has(name)
}
const optionOf = (written: string) =>
  written === '@' ? URL_MARK : written === '@file' || written === '#' ? written : foldPhrase(written)

const single = new Map<string, { readonly job: JobId; readonly isAct: boolean }>()
const phrases = new Map<string, Phrase[]>()
/** Phrases whose first word is one of many. */
const open: { readonly first: (word: Word) => boolean; readonly phrase: Phrase }[] = []
for (const { job, things: nouns = [], acts = [], verbs = [], phrases: said = [] } of JOB_WORDS) {
  for (const noun of nouns) single.set(foldPhrase(noun), { job, isAct: false })
  for (const act of acts) single.set(foldPhrase(act), { job, isAct: true })
  for (const verb of verbs) for (const form of withPersons(verb)) single.set(form, { job, isAct: true })
  for (const written of said) addPhrase(job, written)
}

function addPhrase(job: JobId, written: string): void {
  const parts = written.split(' ')
  const isRequest = parts.includes('^')
  const isWithoutAddress = parts.includes('~')
  const [first = '', ...rest] = parts.filter((part) => part !== '^' && part !== '~')
  const phrase: Phrase = { job, isRequest, isWithoutAddress, rest: rest.map(elementOf) }
  if (first.startsWith('LANGUAGE') || first === '#') {
    open.push({ first: elementOf(first) as (word: Word) => boolean, phrase })
    return
  }
  for (const option of first.split('/').map(optionOf))
    phrases.set(option, [...(phrases.get(option) ?? []), phrase])
}

const lexicon = createLexicon(single)

/**
 * @param begins whether a request can begin at each token
 * @param hasFile an address is one of a file that is no page
 */
export function findUndone(
  tokens: readonly Token[],
  begins: readonly boolean[],
  hasFile: boolean,
): UndoneHit[] {
  const hits: UndoneHit[] = []
  const hasAddress = tokens.some(({ word }) => word === URL_MARK)
  const words = readWords(tokens, hasFile)
  for (const [i, said] of words.entries()) {
    const next = words[i + 1]
    const isName = next?.afterBreak === false && things.has(next.word)
    const isSubject = said.found?.isAct === false && !said.afterBreak && ABOUT.has(words[i - 1]?.word ?? '')
    if (said.found && !isName && !isSubject) hits.push({ ...said.found, from: i, to: i + 1, isPhrase: false })
    const tried = [
      ...said.stems.flatMap((stem) => phrases.get(stem) ?? []),
      ...open.filter(({ first }) => first(said)).map(({ phrase }) => phrase),
    ]
    for (const { job, isRequest, isWithoutAddress, rest } of tried) {
      // "I am writing a paper" asks for nothing.
      if (isRequest && (!begins[i] || said.word.endsWith('ing'))) continue
      if (isWithoutAddress && hasAddress) continue
      const to = matchEnd(words, i + 1, rest, 0)
      if (to !== undefined) hits.push({ job, from: i, to, isAct: isRequest, isPhrase: true })
    }
  }
  return hits
}

interface SaidWord extends Word {
  readonly afterBreak: boolean
  readonly found: { readonly job: JobId; readonly isAct: boolean } | undefined
}

/** Looks every word up once, however often it stands there. */
function readWords(tokens: readonly Token[], hasFile: boolean): SaidWord[] {
  const known = new Map<string, Omit<SaidWord, 'afterBreak'>>()
  return tokens.map(({ word, afterBreak }) => {
    const entry = known.get(word) ?? {
      word,
      stems: word === URL_MARK ? [word, ...(hasFile ? ['@file'] : [])] : formsOf(word),
      found: word === URL_MARK ? undefined : lexicon.find(word)?.value,
    }
    known.set(word, entry)
    return { ...entry, afterBreak }
  })
}

const formsOf = (word: string) => [...new Set([word, ...(word.length > 3 ? stemsOf(word) : [])])]

/** The end of what matches from `at` on. Gaps are bounded, and so is the number of elements. */
function matchEnd(
  words: readonly SaidWord[],
  at: number,
  elements: readonly Element[],
  read: number,
): number | undefined {
  const element = elements[read]
  if (element === undefined) return at
  const said = words[at]
  if (element !== 'gap') {
    if (!said || said.afterBreak || !element(said)) return undefined
    return matchEnd(words, at + 1, elements, read + 1)
  }
  for (let skipped = 0; skipped <= MAX_GAP; skipped++) {
    const end = matchEnd(words, at + skipped, elements, read + 1)
    if (end !== undefined) return end
    const over = words[at + skipped]
    if (over?.afterBreak !== false || AND.has(over.word)) return undefined
  }
  return undefined
}

/** Whether a folded word is one of those by which jobs are recognised. */
export const isJobWord = (word: string): boolean =>
  lexicon.find(word) !== undefined || stemsOf(word).some((stem) => phrases.has(stem))

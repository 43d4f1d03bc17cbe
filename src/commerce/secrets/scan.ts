// Secrets in the texts of a message: all texts are searched at once, and each finding is led back to the text it is in.
// Linear: two passes for the literals that secrets begin with, and a bounded look at each place where one stands.
import { TEXT_MIN_CHARS } from '../decode/outline.ts'
import { judgeNamed, NAMED_MIN_CHARS } from './entropy.ts'
import { findMnemonic } from './mnemonic.ts'
import {
  BOUNDARY,
  escape,
  NO_WORD,
  PATTERNS,
  SECRET_NAME,
  SECRET_WORD,
  type SecretPattern,
} from './patterns.ts'
import type { Text } from '../ports.ts'

type Searched = Pick<Text, 'value' | 'name' | 'isName'>

export interface SecretFound<T = Text> {
  readonly kind: string
  readonly text: T
  /** Never to be shown. */
  readonly value: string
  readonly isMild: boolean
}

export interface Scan<T> {
  readonly found: readonly SecretFound<T>[]
  /** Characters that were looked at. */
  readonly work: number
}

/** More of them say nothing new. */
const MAX_FOUND = 64

/** @returns at most 64; of two that overlap in one text, the one whose pattern is listed first */
export function scanSecrets<T extends Searched>(texts: readonly T[]): Scan<T> {
  const { all, textAt } = joinTexts(texts)
  const found: SecretFound<T>[] = []
  const taken = new Map<T, string[]>()
  let work = all.length
  const add = (kind: string, text: T, value: string, isMild: boolean) => {
    const before = taken.get(text) ?? []
    if (found.length >= MAX_FOUND || before.some((one) => one.includes(value) || value.includes(one))) return
    taken.set(text, [...before, value])
    found.push({ kind, text, value, isMild })
  }
  for (const [{ pattern }, places] of findStarts(all))
    for (const at of places) {
      work += pattern.reach + (pattern.before?.chars ?? 1)
      const value = matchAt(pattern, all, at)
      const text = value === undefined ? undefined : textAt(at)
      if (value !== undefined && text !== undefined) add(pattern.kind, text, value, pattern.isMild === true)
      if (found.length >= MAX_FOUND) break
    }
  const mayHoldNamed = HOLDS_NAMED.test(all) && SECRET_WORD.test(all)
  for (const text of texts) {
    if (text.value.length < NAMED_MIN_CHARS) continue
    const kind = text.isName ? undefined : judgeNamed(text.name, text.value)
    if (kind !== undefined) add(kind, text, text.value, false)
    if (mayHoldNamed)
      for (const inner of findNamedInside(text.value)) add(inner.kind, text, inner.value, false)
    const phrase = findMnemonic(text.value)
    if (phrase !== undefined) add('seed_phrase', text, phrase, false)
  }
  return { found, work: work + all.length * 3 }
}

const SEPARATOR = '\n'

/** Texts one behind the other, without those that are too short to hold a secret. */
function joinTexts<T extends Searched>(texts: readonly T[]) {
  const joined = texts.filter(({ value }) => value.length >= TEXT_MIN_CHARS)
  let length = 0
  const ends = joined.map(({ value }) => (length += value.length + SEPARATOR.length))
  return {
    all: joined.map(({ value }) => value).join(SEPARATOR),
    /** @returns the text that stands there, found by halving: there may be as many of both as the message is long */
    textAt(index: number): T | undefined {
      let [low, high] = [0, ends.length - 1]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((ends[middle] ?? 0) > index) high = middle
        else low = middle + 1
      }
      return joined[low]
    },
  }
}

/** A literal that secrets of a pattern begin with. */
interface Start {
  readonly literal: string
  readonly pattern: SecretPattern
  /** Those of the pattern that is listed first come first. */
  readonly rank: number
}

const STARTS: readonly Start[] = PATTERNS.flatMap((pattern) =>
  pattern.starts.map((literal) => ({ literal, pattern })),
).map((start, rank) => ({ ...start, rank }))

/** One search for many literals, because hardly any text has one. */
interface Search {
  /** Its first group is the literal. */
  readonly form: RegExp
  /** Each literal with those that it begins with, itself among them. */
  readonly startsOf: ReadonlyMap<string, readonly Start[]>
}

function searchFor(before: string, starts: readonly Start[]): Search {
  const literals = starts.map(({ literal }) => literal)
  // The longer of two literals that begin alike is tried first.
  const longestFirst = literals.toSorted((one, other) => other.length - one.length).map(escape)
  const beginning = (whole: string) => starts.filter(({ literal }) => whole.startsWith(literal))
  return {
    form: new RegExp(`${before}(${longestFirst.join('|')})`, 'g'),
    startsOf: new Map(literals.map((literal) => [literal, beginning(literal)])),
  }
}

const beginsWord = ({ pattern }: Start): boolean => pattern.before === undefined
/** Most secrets begin a word, and few characters of base64 do: V8 skips all others, so that two searches cost a quarter of one for both. */
const SEARCHES: readonly Search[] = [
  searchFor(`(?:^|${NO_WORD})`, STARTS.filter(beginsWord)),
  searchFor(
    '',
    STARTS.filter((start) => !beginsWord(start)),
  ),
]

/** @returns where each literal stands that is there, in the order of the patterns */
function findStarts(all: string): readonly (readonly [Start, readonly number[]])[] {
  const places = new Map<Start, number[]>()
  for (const { form, startsOf } of SEARCHES) {
    form.lastIndex = 0
    for (let match = form.exec(all); match !== null; match = form.exec(all)) {
      const [whole, literal = ''] = match
      const at = match.index + whole.length - literal.length
      for (const start of startsOf.get(literal) ?? []) {
        const before = places.get(start)
        if (before === undefined) places.set(start, [at])
        else before.push(at)
      }
      // One may begin inside another.
      form.lastIndex = at + 1
    }
  }
  return [...places].sort(([one], [other]) => one.rank - other.rank)
}

function matchAt({ shape, before }: SecretPattern, all: string, at: number): string | undefined {
  const behind = before ?? { chars: 1, test: BOUNDARY }
  shape.lastIndex = at
  const match = shape.exec(all)?.[0]
  if (match === undefined) return undefined
  const prefix = all.slice(Math.max(0, at - behind.chars), at)
  const leading = behind.test.exec(prefix)?.[0]
  if (leading === undefined) return undefined
  return behind.chars > 1 ? leading.replace(/^[^A-Za-z0-9]/, '') + match : match
}

const NAME_VALUE =
  /(?<![A-Za-z_-])([A-Za-z][A-Za-z_-]{2,40})["']?[ \t]{0,3}[=:][ \t]{0,3}["']?([A-Za-z0-9+/=_.~!@#$%^*-]{32,512})/g
/** The end of it, without which no text is searched for a name. */
const HOLDS_NAMED = /[=:][ \t]{0,3}["']?[A-Za-z0-9+/=_.~!@#$%^*-]{32}/

/** `name=value` and `"name": "value"` in text that is no JSON of the message itself. */
function* findNamedInside(text: string): Generator<{ kind: string; value: string }> {
  for (const [, name = '', value = ''] of text.matchAll(NAME_VALUE)) {
    if (!SECRET_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase())) continue
    const kind = judgeNamed(name, value)
    if (kind !== undefined) yield { kind, value }
  }
}

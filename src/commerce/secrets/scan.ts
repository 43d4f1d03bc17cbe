// Secrets in the texts of a message: all texts are searched at once, and each finding is led back to the text it is in.
// Linear: one pass for the literals that secrets begin with, and a bounded look at each place where one stands.
import { TEXT_MIN_CHARS } from '../decode/outline.ts'
import { judgeNamed, NAMED_MIN_CHARS } from './entropy.ts'
import { findMnemonic } from './mnemonic.ts'
import { BOUNDARY, escape, PATTERNS, SECRET_NAME, type SecretPattern } from './patterns.ts'
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
  const places = findStarts(all)
  for (const pattern of PATTERNS)
    for (const at of pattern.starts.flatMap((start) => places.get(start) ?? [])) {
      work += pattern.reach + (pattern.before?.chars ?? 1)
      const value = matchAt(pattern, all, at)
      const text = value === undefined ? undefined : textAt(at)
      if (value !== undefined && text !== undefined) add(pattern.kind, text, value, pattern.isMild === true)
      if (found.length >= MAX_FOUND) break
    }
  for (const text of texts) {
    if (text.value.length < NAMED_MIN_CHARS) continue
    const kind = text.isName ? undefined : judgeNamed(text.name, text.value)
    if (kind !== undefined) add(kind, text, text.value, false)
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

const STARTS = PATTERNS.flatMap(({ starts }) => starts)
/** The longer of two literals that begin alike is tried first; looking ahead finds one that begins inside another. */
const ANY_START = new RegExp(
  `(?=(${STARTS.toSorted((one, other) => other.length - one.length)
    .map(escape)
    .join('|')}))`,
  'g',
)

/** Each literal with those that it begins with, itself among them. */
const STARTS_OF: ReadonlyMap<string, readonly string[]> = new Map(
  STARTS.map((literal) => [literal, STARTS.filter((start) => literal.startsWith(start))]),
)

/** @returns where each literal stands: one search for all of them, because hardly any text has one */
function findStarts(all: string): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const { 1: found = '', index } of all.matchAll(ANY_START))
    for (const start of STARTS_OF.get(found) ?? []) {
      const before = places.get(start)
      if (before === undefined) places.set(start, [index])
      else before.push(index)
    }
  return places
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

/** `name=value` and `"name": "value"` in text that is no JSON of the message itself. */
function* findNamedInside(text: string): Generator<{ kind: string; value: string }> {
  for (const [, name = '', value = ''] of text.matchAll(NAME_VALUE)) {
    if (!SECRET_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase())) continue
    const kind = judgeNamed(name, value)
    if (kind !== undefined) yield { kind, value }
  }
}

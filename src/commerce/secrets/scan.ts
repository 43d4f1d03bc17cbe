// Secrets in the texts of a message: all texts are searched at once, and each finding is led back to the text it is in.
// Linear: one pass for each literal, and a bounded look at each place where one stands.
import { judgeNamed, NAMED_MIN_CHARS } from './entropy.ts'
import { joinTexts, numberOf } from './joined.ts'
import { findMnemonic } from './mnemonic.ts'
import { BOUNDARY, PATTERNS, SECRET_NAME, SECRET_WORD, SECRET_WORDS, type SecretPattern } from './patterns.ts'
import type { Text } from './texts.ts'

export interface SecretFound {
  readonly kind: string
  readonly text: Text
  /** Never to be shown. */
  readonly value: string
  readonly isMild: boolean
}

export interface Scan {
  readonly found: readonly SecretFound[]
  /** Characters that were looked at. */
  readonly work: number
}

/** More of them say nothing new. */
const MAX_FOUND = 64

const STARTS = PATTERNS.flatMap((pattern) =>
  pattern.starts.map((start) => ({ pattern, start, number: numberOf(start) })),
)
const SECRET_WORD_NUMBERS = SECRET_WORDS.map(numberOf)

export function scanSecrets(texts: readonly Text[]): Scan {
  const joined = joinTexts(texts)
  const found: SecretFound[] = []
  const taken = new Map<Text, string[]>()
  let work = joined.all.length
  const add = (kind: string, text: Text, value: string, isMild: boolean) => {
    const before = taken.get(text) ?? []
    if (found.length >= MAX_FOUND || before.some((one) => one.includes(value) || value.includes(one))) return
    taken.set(text, [...before, value])
    found.push({ kind, text, value, isMild })
  }
  for (const { pattern, start, number } of STARTS) {
    // Most of them are in no text.
    if (!joined.held.hasNumbered(number)) continue
    work += joined.all.length
    for (let at = joined.all.indexOf(start); at >= 0; at = joined.all.indexOf(start, at + start.length)) {
      work += pattern.reach + (pattern.before?.chars ?? 1)
      const value = matchAt(pattern, joined.all, at)
      if (value !== undefined) add(pattern.kind, joined.textAt(at), value, pattern.isMild === true)
      if (found.length >= MAX_FOUND) break
    }
  }
  const holdsNames = SECRET_WORD_NUMBERS.some((number) => joined.held.hasNumbered(number))
  for (const text of texts) {
    if (text.value.length < NAMED_MIN_CHARS) continue
    const kind = text.isName ? undefined : judgeNamed(text.name, text.value)
    if (kind !== undefined) add(kind, text, text.value, false)
    if (holdsNames) for (const inner of findNamedInside(text.value)) add(inner.kind, text, inner.value, false)
    const phrase = findMnemonic(text.value)
    if (phrase !== undefined) add('seed_phrase', text, phrase, false)
  }
  return { found, work: work + joined.all.length * 3 }
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
  if (!SECRET_WORD.test(text)) return
  for (const [, name, value] of text.matchAll(NAME_VALUE)) {
    if (!SECRET_NAME.test(name!.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase())) continue
    const kind = judgeNamed(name!, value!)
    if (kind !== undefined) yield { kind, value: value! }
  }
}

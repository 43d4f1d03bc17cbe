// Text that speaks to the agent instead of about the goods: instructions, roles, and characters that people do not see. Words
// and marks only, no model: a finding is a reason to look, never to refuse.
import { placeOf } from '../decode/outline.ts'
import type { Text } from '../ports.ts'
import type { Rule } from './model.ts'
import { reason, type Reason } from './reasons.ts'

/** More of them say nothing new. */
const MAX_FOUND = 16
const MIN_CHARS = 8
const LONG_CHARS = 512

/** Finds at most 16 texts of the body and of decoded documents that speak to the agent; URLs and plain headers are not looked at. */
export const judgeInjection: Rule = ({ texts, isExpected }) => {
  const found: Reason[] = []
  const seen = new Set<string>()
  for (const text of texts) {
    if (found.length >= MAX_FOUND) break
    const { where, isDecoded } = text.source
    if (where === 'url' || (where === 'header' && !isDecoded)) continue
    // A mandate is longer than all that is written for people: where it belongs, it is not searched.
    if (text.value.length >= LONG_CHARS && isExpected(placeOf(text))) continue
    const mark = findMarker(text)
    if (mark === undefined) continue
    const at = placeOf(text)
    if (isExpected(at) || seen.has(at)) continue
    seen.add(at)
    found.push(reason('PROMPT_INJECTION_MARKER', at, { message: `${mark}.` }))
  }
  return found
}

const DESCRIPTIVE =
  /(?:description|memo|notes?|comment|message|text|title|label|summary|instructions?|prompt|reason|content|greeting|display_?name|service_?name|error)$/i
const IMAGE = /(?:image|icon|logo|photo|picture|thumbnail|art|avatar)/i

/** A text that holds none of these words is not looked into. */
const WORDS = String.raw`ignor|disregard|forget|override|bypass|vergiss|oublie|olvida|system|assistant|developer|prompt|instruction|anweisung|jailbreak|you are now|<|\[inst|reveal|do not (?:tell|inform|ask|mention)|without (?:asking|telling|confirm)|data:`
const GATE = new RegExp(WORDS, 'i')
/** One search says of most texts that they are ASCII and hold no word that matters. */
const IS_REMARKABLE = new RegExp(String.raw`[^\0-\x7f]|${WORDS}`, 'i')

const ASK = String.raw`\b(?:ignore|disregard|forget|override|bypass|ignoriere|vergiss|ignorez|ignorer|oubliez|ignora|ignorar|olvida)\b`
const WHAT = String.raw`\b(?:previous|prior|above|earlier|preceding|instructions?|prompts?|rules|polic(?:y|ies)|guardrails?|safeguards?|limits?|system|anweisung(?:en)?|vorherigen?|consignes|pr[ée]c[ée]dente?s?|instrucciones|anteriores)\b`

const MARKERS: readonly (readonly [pattern: RegExp, mark: string])[] = [
  [new RegExp(`${ASK}[^.!?]{0,60}?${WHAT}`, 'i'), 'Asks to ignore instructions or rules'],
  [/\b(?:system|developer|hidden) (?:prompt|message|instructions?)\b/i, 'Speaks of a system prompt'],
  [/\b(?:new|updated|real|actual) (?:instructions?|task|system) ?:/i, 'Gives new instructions'],
  [/\byou (?:are now|must now|will now)\b/i, 'Tells the reader what it is now'],
  [
    /\bdo not (?:tell|inform|ask|mention|alert|notify)\b[^.!?]{0,40}?\b(?:user|human|anyone|operator|owner)\b/i,
    'Asks to keep something from the user',
  ],
  [
    /\bwithout (?:asking|telling|confirming|confirmation)\b[^.!?]{0,40}?\b(?:user|human|anyone|operator|owner|them)\b/i,
    'Asks to act without the user',
  ],
  [/\breveal (?:your|the) (?:instructions?|prompt|secrets?|keys?|credentials?)\b/i, 'Asks for secrets'],
  [/\bjailbreak|\bDAN mode\b/i, 'Speaks of a jailbreak'],
  [/(?:^|\n)[ \t]{0,8}(?:system|assistant|developer)[ \t]{0,2}:/i, 'Begins a line with a role'],
  [/<\|[a-z_]{2,24}\|>|\[\/?INST\]|<<\/?SYS>>/i, 'Holds marks of a conversation'],
  [
    /<\/?(?:system|assistant|instructions?|important|tool_call|tool_result|function_calls?|script|iframe)\b/i,
    'Holds tags that a model or a page may act on',
  ],
  [/<!--/, 'Holds a comment of HTML'],
  [
    /\bdata:(?:text\/html|text\/javascript|application\/(?:javascript|xhtml\+xml))[;,]/i,
    'Holds a data: URL with a page',
  ],
]

/** @returns what is remarkable in a text, in words */
export function findMarker({
  value,
  name,
  isName,
}: Pick<Text, 'value' | 'name' | 'isName'>): string | undefined {
  if (isName || value.length < MIN_CHARS) return undefined
  const isRemarkable = IS_REMARKABLE.test(value)
  const hidden = isRemarkable ? findHidden(value) : undefined
  if (hidden !== undefined) return hidden
  // Full-width letters read like others.
  const plain = isRemarkable ? value.normalize('NFKC') : value
  if (isRemarkable && GATE.test(plain))
    for (const [pattern, mark] of MARKERS) if (pattern.test(plain)) return mark
  if (!isDescriptive(name)) return undefined
  if (isRemarkable && /\bdata:[a-z]{2,16}\/[\w.+-]{1,60}[;,]/i.test(plain)) return 'Holds a data: URL'
  return holdsLongRun(plain) ? LONG_BLOCK : undefined
}

const LONG_BLOCK = 'Holds a long block of base64'

const isDescriptive = (name: string): boolean => DESCRIPTIVE.test(name) && !IMAGE.test(name)

/** Tried where a run begins and nowhere inside it, so that many runs that are a little too short cost no more. */
const LONG_RUN = /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{256,}/g

/** Whether a text holds a long run without the gaps that words have, and with a digit and a capital in it. */
function holdsLongRun(text: string): boolean {
  for (const [run] of text.matchAll(LONG_RUN)) if (/\d/.test(run) && /[A-Z]/.test(run)) return true
  return false
}

const INVISIBLE = /[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\u{e0001}\u{e0020}-\u{e007f}]/u
/** Joiners and marks that some scripts need; between Latin letters nobody does. */
const BETWEEN_LATIN = /[A-Za-z][\u200c-\u200f\u00ad\ufeff][A-Za-z]/

function findHidden(text: string): string | undefined {
  // Flags of some countries are written with tag characters behind a black flag.
  const rest = text.includes('\u{1f3f4}')
    ? text.replaceAll(/\u{1f3f4}[\u{e0020}-\u{e007f}]{1,8}/gu, '')
    : text
  return INVISIBLE.test(rest) || BETWEEN_LATIN.test(rest) ? 'Holds characters that are not seen' : undefined
}

// Reads the domain of an address as DNS would be asked for it: UTS 46 mapping (node:url), then what the mapping leaves open:
// letters, digits and hyphens only, lengths, punycode that says what it means, the rules for labels in label.ts.
// Whether the domain exists is for DNS.
import { domainToASCII, domainToUnicode } from 'node:url'
import { parse } from 'tldts'
import { type CharacterRule, faultOfCharacter, beginsWithMark } from './characters.ts'
import { findBidiFault, findLabelFault, type LabelRule } from './label.ts'

export type DomainRule =
  | CharacterRule
  | 'domain_empty'
  | 'domain_dot_start'
  | 'domain_dot_end'
  | 'domain_dot_twice'
  | 'domain_too_long'
  | 'domain_character'
  | 'label_too_long'
  | 'label_hyphen'
  | LabelRule
  | 'punycode'
  | 'bidi'
  | 'dotless_domain'
  | 'top_level_domain'

export interface DomainName {
  /** Lower-case A-labels: what DNS is asked for. */
  readonly ascii: string
  readonly unicode: string
  /** The part that somebody registered; null for a public suffix itself. */
  readonly registrable: string | null
  /** Its top-level domain is in the root zone, as the public suffix list knows it. */
  readonly isDelegated: boolean
}

export type DomainVerdict =
  | { readonly ok: true; readonly name: DomainName }
  /** @param at UTF-16 index into the domain */
  | { readonly ok: false; readonly rule: DomainRule; readonly at: number }

const MAX_DOMAIN_CHARS = 253
const MAX_LABEL_CHARS = 63
/** Decomposed letters become fewer; nothing becomes a domain that is longer than this. Bounds the work. */
const MAX_TYPED_CHARS = 1_000
/** Full stop and the three that UTS 46 reads as one. */
const DOTS = /[.\u3002\uFF0E\uFF61]/
const PLAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{1,63}$/
const HYPHENS_3_4 = /(?:^|\.)..--/
const TLDTS = { extractHostname: false, validateHostname: false, detectIp: false, allowPrivateDomains: true }

/** A name that nothing has to be looked up for: lower-case ASCII as DNS would be asked for it. */
export const isPlainDomain = (text: string) =>
  text.length <= MAX_DOMAIN_CHARS && PLAIN.test(text) && !HYPHENS_3_4.test(text)

/** Never throws; linear in the length of the text. */
export function readDomain(text: string): DomainVerdict {
  const lower = text.toLowerCase()
  if (isPlainDomain(lower)) return { ok: true, name: nameOf(lower, lower) }
  if (text === '') return fault('domain_empty', 0)
  if (text.length > MAX_TYPED_CHARS) return fault('domain_too_long', MAX_DOMAIN_CHARS)
  const spelling = findCharacterFault(text)
  if (spelling) return spelling
  const labels: { readonly label: string; readonly at: number }[] = []
  let start = 0
  for (const label of text.split(DOTS)) {
    labels.push({ label, at: start })
    start += label.length + 1
  }
  const empty = labels.find(({ label }) => label === '')
  if (empty?.at === 0) return fault('domain_dot_start', 0)
  if (empty?.at === text.length) return fault('domain_dot_end', text.length - 1)
  if (empty) return fault('domain_dot_twice', empty.at)

  const read: { readonly ascii: string; readonly unicode: string; readonly at: number }[] = []
  for (const { label, at } of labels) {
    const verdict = readLabel(label)
    if (typeof verdict === 'string') return fault(verdict, at)
    read.push({ ...verdict, at })
  }
  const astray = findBidiFault(read.map(({ unicode }) => unicode))
  if (astray !== undefined) return fault('bidi', read[astray]?.at ?? 0)
  const ascii = read.map((label) => label.ascii).join('.')
  if (ascii.length > MAX_DOMAIN_CHARS)
    return fault('domain_too_long', Math.min(text.length, MAX_DOMAIN_CHARS))
  const [first, last] = [read[0], read.at(-1)]
  if (!last || first === last) return fault('dotless_domain', 0)
  // The root zone has names of letters and A-labels only, so digits at the end are an address that lacks its brackets.
  if (!/^(?:[a-z]+|xn--[a-z0-9-]+)$/.test(last.ascii)) return fault('top_level_domain', last.at)
  return { ok: true, name: nameOf(ascii, read.map(({ unicode }) => unicode).join('.')) }
}

const fault = (rule: DomainRule, at: number): DomainVerdict => ({ ok: false, rule, at })

function nameOf(ascii: string, unicode: string): DomainName {
  const { domain, isIcann, isPrivate } = parse(ascii, TLDTS)
  return { ascii, unicode, registrable: domain, isDelegated: isIcann === true || isPrivate === true }
}

function findCharacterFault(text: string): DomainVerdict | undefined {
  const characters = [...text]
  let at = 0
  for (const [i, character] of characters.entries()) {
    const isAscii = character <= '\u007F'
    if (!(isAscii ? /[a-zA-Z0-9.-]/.test(character) : DOTS.test(character))) {
      const rule = faultOfCharacter(characters, i, true)
      if (rule) return fault(rule, at)
      // A character that is a dot only after mapping (one dot leader, "1." as one digit) makes labels nobody sees.
      if (isAscii || character.normalize('NFKC').includes('.')) return fault('domain_character', at)
    }
    at += character.length
  }
  return undefined
}

/** One label in both spellings, or the rule that it breaks. */
function readLabel(label: string): { ascii: string; unicode: string } | DomainRule {
  const isAscii = /^[\0-\x7F]*$/.test(label)
  const lower = label.toLowerCase()
  // A label of ASCII does not go through node:url, which would read escapes and IPv4 addresses in it.
  const ascii = isAscii ? lower : toALabel(label)
  if (ascii === '') return nameMappingFault(label)
  if (!/^[a-z0-9-]+$/.test(ascii)) return 'domain_character'
  if (ascii.length > MAX_LABEL_CHARS) return 'label_too_long'
  if (ascii.startsWith('-') || ascii.endsWith('-'))
    return ascii.startsWith('xn--') ? 'punycode' : 'label_hyphen'
  if (!ascii.startsWith('xn--')) return ascii.slice(2, 4) === '--' ? 'hyphens_3_4' : { ascii, unicode: ascii }
  const unicode = domainToUnicode(ascii)
  // Decodes, to something that had to be encoded, and is encoded in no other way.
  if (unicode === '' || /^[\0-\x7F]*$/.test(unicode) || toALabel(unicode) !== ascii) return 'punycode'
  return findLabelFault(unicode) ?? { ascii, unicode }
}

/** Empty where there is none. Below a name, so that digits of any width stay a label and are no IPv4 address. */
const toALabel = (label: string) => domainToASCII(`${label}.x`).slice(0, -2)

/** Why there is no A-label: node:url does not say. */
function nameMappingFault(label: string): DomainRule {
  const mapped = label.normalize('NFKC')
  if (beginsWithMark(mapped)) return 'combining_mark_first'
  if (/[\0-,/:-@[-`{-\x7F]/.test(mapped)) return 'domain_character'
  return mapped.length > MAX_LABEL_CHARS ? 'label_too_long' : 'idna'
}

/**
 * A name as lists hold it: lower-case A-labels. A hundred thousand entries are read at once, and most are in that form already.
 * @returns undefined where the entry is no domain
 */
export function toAscii(entry: string): string | undefined {
  if (isPlainDomain(entry)) return entry
  const read = readDomain(entry.trim())
  return read.ok ? read.name.ascii : undefined
}

// Spelling of an address: the part of RFC 5321, 5322 and 6531 that mail is delivered to. Dot-atoms pass; quoted local parts,
// address literals, characters that no person uses and one address behind a display name pass and are marked; comments,
// folding and lists of addresses are named and refused. Linear time, never throws. What it means for the answer is decided
// in decide.ts.
import { type CharacterRule, faultOfCharacter, beginsWithMark, isInGrammar } from './characters.ts'
import { readDisplayForm } from './display-form.ts'
import { type DomainName, type DomainRule, readDomain } from './domain.ts'
import { type LiteralRule, readLiteral } from './literal.ts'
import { isMisleadingName } from './name.ts'

export type LocalPartRule =
  | CharacterRule
  | 'not_a_string'
  | 'empty'
  | 'no_at'
  | 'second_at'
  | 'at_look_alike'
  | 'comment'
  | 'display_name'
  | 'misleading_name'
  | 'several_addresses'
  | 'scheme'
  | 'address_too_long'
  | 'local_part_empty'
  | 'local_part_too_long'
  | 'local_part_character'
  | 'dot_start'
  | 'dot_end'
  | 'dot_twice'
  | 'combining_mark_first'
  | 'normal_form'
  | 'quote_misplaced'
  | 'quote_unclosed'
  | 'quoted_character'

export type SyntaxRule = LocalPartRule | DomainRule | LiteralRule

/** What is told of an address that is spelled well. */
export type SyntaxNote = 'confusable_local_part'

/** A character that the grammar allows and nobody can see, type or tell apart. */
export interface Oddity {
  readonly rule: LocalPartRule
  /** UTF-16 index into the address. */
  readonly position: number
}

export type SyntaxVerdict =
  | {
      readonly ok: true
      /** The address stood in angle brackets, perhaps behind a name. */
      readonly isDisplayForm: boolean
      /** There is no name that the angle brackets would set the address off from. */
      readonly isBare: boolean
      /** That name can be taken for something else. */
      readonly isMisleading: boolean
      /** The first in its local part. */
      readonly oddity: Oddity | undefined
      /** NFC; quoted only where it has to be. */
      readonly localPart: string
      /** The local part without quotes and escapes. */
      readonly content: string
      readonly isQuoted: boolean
      readonly domain: DomainName | undefined
      /** An IP address, where there is no domain. */
      readonly literal: string | undefined
    }
  | {
      readonly ok: false
      readonly part: 'local_part' | 'domain'
      readonly rule: SyntaxRule
      /** UTF-16 index into the address; null for what is wrong with all of it. */
      readonly position: number | null
    }

export type Refusal = Extract<SyntaxVerdict, { ok: false }>

// RFC 5321, 4.5.3.1: 64 octets, and 256 for a path with its angle brackets.
const MAX_LOCAL_OCTETS = 64
const MAX_ADDRESS_OCTETS = 254
/** RFC 3696 as first printed said 320. Nothing longer is looked at. */
const MAX_ADDRESS_CHARS = 320
/** An address with a name in front of it is at most a line of a message (RFC 5322, 2.1.1). */
const MAX_DISPLAY_CHARS = 998

const ATEXT = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+$/
const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/

/** Reads the spelling of one address, with or without a display name. Linear in its length; never throws. */
export function readSyntax(text: string): SyntaxVerdict {
  if (text === '') return refuse('empty', null)
  const form = text.endsWith('>') && text.length <= MAX_DISPLAY_CHARS ? readDisplayForm(text) : undefined
  if (form) {
    const read = readAddress(form.address)
    if (read.ok)
      return {
        ...read,
        isDisplayForm: true,
        isBare: form.name.trim() === '',
        isMisleading: isMisleadingName(form.name),
        oddity: shift(read.oddity, form.at),
      }
    return { ...read, position: read.position === null ? null : read.position + form.at }
  }
  return readAddress(text)
}

const shift = (oddity: Oddity | undefined, by: number) =>
  oddity && { ...oddity, position: oddity.position + by }

/** An address alone. */
function readAddress(text: string): SyntaxVerdict {
  if (text === '') return refuse('empty', null)
  if (text.length > MAX_ADDRESS_CHARS) return refuse('address_too_long', MAX_ADDRESS_OCTETS)
  const local = readLocalPart(text)
  if (!local.ok) return local
  const { end, localPart } = local
  const rest = text.slice(end + 1)
  if (rest.startsWith('[')) {
    const literal = readLiteral(rest)
    if (!literal.ok) return refuse(literal.rule, end + 1 + literal.at, 'domain')
    return pass(local, undefined, literal.address)
  }
  const domain = readDomain(rest)
  if (!domain.ok) return refuse(nameDomainRule(domain.rule, rest, domain.at), end + 1 + domain.at, 'domain')
  // Both spellings of the domain may be what is sent.
  const octets = Buffer.byteLength(localPart) + 1
  const { name } = domain
  const { ascii, unicode } = name
  if (octets + Math.max(ascii.length, Buffer.byteLength(unicode)) > MAX_ADDRESS_OCTETS)
    return refuse('address_too_long', null)
  return pass(local, name, undefined)
}

const pass = (
  { oddity, localPart, content, isQuoted }: LocalPart,
  domain: DomainName | undefined,
  literal: string | undefined,
): SyntaxVerdict => ({
  ok: true,
  isDisplayForm: false,
  isBare: false,
  isMisleading: false,
  oddity,
  localPart,
  content,
  isQuoted,
  domain,
  literal,
})

const refuse = (
  rule: SyntaxRule,
  position: number | null,
  part: Refusal['part'] = 'local_part',
): Refusal => ({
  ok: false,
  part,
  rule,
  position,
})

/** A character that has no place in a domain is called by what it is. */
function nameDomainRule(rule: DomainRule, domain: string, at: number): SyntaxRule {
  if (rule !== 'domain_character') return rule
  const character = domain[at]
  if (character === '(' || character === ')') return 'comment'
  if (character === '@') return 'second_at'
  if (character === '>') return /^>\s*[,;]/.test(domain.slice(at)) ? 'several_addresses' : 'display_name'
  const isList = (character === ',' || character === ';') && domain.includes('@', at)
  return isList ? 'several_addresses' : rule
}

type LocalPart = {
  readonly ok: true
  readonly oddity: Oddity | undefined
  readonly localPart: string
  readonly content: string
  readonly isQuoted: boolean
  /** The index of its @. */
  readonly end: number
}

function readLocalPart(text: string): LocalPart | Refusal {
  if (text.startsWith('"')) return readQuoted(text)
  const end = text.indexOf('@')
  const raw = end === -1 ? text : text.slice(0, end)
  if (end !== -1 && DOT_ATOM.test(raw))
    return raw.length > MAX_LOCAL_OCTETS
      ? refuse('local_part_too_long', MAX_LOCAL_OCTETS)
      : { ok: true, oddity: undefined, localPart: raw, content: raw, isQuoted: false, end }
  if (looksLikeDisplayForm(text)) return refuse('display_name', text.indexOf('<'))
  if (/^mailto:/i.test(text)) return refuse('scheme', 0)
  const { wrong, odd } = findAtomFault(raw)
  if (wrong) return refuse(wrong.rule, wrong.position)
  if (end === -1) return refuse('no_at', null)
  if (raw === '') return refuse('local_part_empty', 0)
  // An odd local part stays as it was typed: its normal form may be another mailbox.
  const localPart = odd ? raw : raw.normalize('NFC')
  if (raw.endsWith('.')) return refuse('dot_end', raw.length - 1)
  const tooLong = overflowAt(localPart)
  if (tooLong !== undefined) return refuse('local_part_too_long', tooLong)
  return { ok: true, oddity: odd, localPart, content: localPart, isQuoted: false, end }
}

/** `Name <local@domain>`, with or without a name, as a mail program shows it. */
function looksLikeDisplayForm(text: string): boolean {
  const open = text.indexOf('<')
  return open !== -1 && text.indexOf('@', open) !== -1
}

const NAMED: Readonly<Record<string, LocalPartRule>> = {
  '(': 'comment',
  ')': 'comment',
  '"': 'quote_misplaced',
  '<': 'display_name',
  '>': 'display_name',
  // The Greek question mark becomes a semicolon, which is another mailbox or none. No other character does the like.
  '\u037E': 'normal_form',
  '\uFF20': 'at_look_alike',
  '\uFE6B': 'at_look_alike',
}

interface AtomFaults {
  /** The first that the grammar forbids. */
  readonly wrong?: Oddity
  /** The first that it allows; not looked for where something is wrong. */
  readonly odd?: Oddity
}

function findAtomFault(raw: string): AtomFaults {
  const characters = [...raw]
  let odd: Oddity | undefined
  let at = 0
  for (const [i, character] of characters.entries()) {
    const rule = faultOfAtom(characters, i, character)
    if (rule && !isMerelyOdd(rule, character)) return { wrong: { rule, position: at } }
    if (rule) odd ??= { rule, position: at }
    at += character.length
  }
  return odd ? { odd } : {}
}

/** An address without the real @ is none, whatever another character looks like. */
const isMerelyOdd = (rule: LocalPartRule, character: string) =>
  rule !== 'at_look_alike' && isInGrammar(character)

function faultOfAtom(characters: readonly string[], i: number, character: string): LocalPartRule | undefined {
  if (character === '.') {
    if (i === 0) return 'dot_start'
    return characters[i - 1] === '.' ? 'dot_twice' : undefined
  }
  const rule = NAMED[character] ?? faultOfCharacter(characters, i, false)
  if (rule) return rule
  if (character <= '\u007F') return ATEXT.test(character) ? undefined : 'local_part_character'
  const isFirst = i === 0 || characters[i - 1] === '.'
  return isFirst && beginsWithMark(character) ? 'combining_mark_first' : undefined
}

/** RFC 5321, 4.1.2: qtextSMTP and quoted-pairSMTP, plus UTF-8 (RFC 6531, 3.3). */
function readQuoted(text: string): LocalPart | Refusal {
  const characters = [...text]
  let at = 1
  let content = ''
  let oddity: Oddity | undefined
  let isEscaped = false
  let isClosed = false
  for (const [i, character] of characters.entries()) {
    if (i === 0) continue
    if (isClosed) break
    if (!isEscaped && character === '"') isClosed = true
    else if (!isEscaped && character === '\\') isEscaped = true
    else {
      const rule = character === ' ' ? undefined : faultOfCharacter(characters, i, false)
      if (rule && !isInGrammar(character)) return refuse(rule, at)
      if (rule) oddity ??= { rule, position: at }
      if (isEscaped && character > '~') return refuse('quoted_character', at)
      content += character
      isEscaped = false
    }
    at += character.length
  }
  if (!isClosed) return refuse('quote_unclosed', text.length)
  if (text[at] !== '@') {
    if (looksLikeDisplayForm(text.slice(at))) return refuse('display_name', text.indexOf('<', at))
    return at === text.length ? refuse('no_at', null) : refuse('quote_misplaced', at)
  }
  if (Buffer.byteLength(text.slice(0, at)) > MAX_LOCAL_OCTETS)
    return refuse('local_part_too_long', overflowAt(text.slice(0, at)) ?? MAX_LOCAL_OCTETS)
  const normal = content.normalize('NFC')
  return { ok: true, oddity, localPart: quoteWhereNeeded(normal), content: normal, isQuoted: true, end: at }
}

/** RFC 5321, 4.1.2: the form with the least quoting is the one to transmit. */
function quoteWhereNeeded(content: string): string {
  const { wrong, odd } = findAtomFault(content)
  const isAtom = content !== '' && !content.endsWith('.') && !wrong && !odd
  return isAtom && !content.includes('@') ? content : `"${content.replace(/["\\]/g, '\\$&')}"`
}

/** The index of the 65th octet. */
function overflowAt(part: string): number | undefined {
  let octets = 0
  let at = 0
  for (const character of part) {
    octets += Buffer.byteLength(character)
    if (octets > MAX_LOCAL_OCTETS) return at
    at += character.length
  }
  return undefined
}

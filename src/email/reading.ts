// Reads what an address says by itself: spelling, domain, lists, likely typo. Pure; nothing is asked and nothing is kept.
// Two things stay open: where its mail goes (route) and whether somebody's mailbox is there.
import { must } from '../lib/must.ts'
import { showAddress } from './characters.ts'
import { findResemblance, isConfusableLocalPart, NO_RESEMBLANCE } from './confusable.ts'
import { type DisposableFinding, type Knowledge, OPERATOR } from './lists.ts'
import { readSyntax, type Refusal, type SyntaxVerdict } from './syntax.ts'
import { findTypo } from './typo.ts'

/** The question that is open before the answer is known. */
export type RouteQuestion =
  | { readonly kind: 'domain'; readonly domain: string }
  /** This is no question to DNS: the address rules say whether it is on the public internet. */
  | { readonly kind: 'literal'; readonly address: string }

export interface AddressReading {
  /** The address as it was sent, safe to print. */
  readonly email: string
  readonly syntax: SyntaxVerdict
  /** Undefined: nothing that could be asked would change the answer. */
  readonly question: RouteQuestion | undefined
  readonly normalized: string | null
  readonly didYouMean: string | null
  readonly disposable: DisposableFinding | undefined
  readonly isTypo: boolean
  readonly isRole: boolean
  readonly isFree: boolean
  readonly isRelay: boolean
  /** Its domain reads as another one. */
  readonly isConfusable: boolean
  /** Its local part does. */
  readonly isConfusableLocalPart: boolean
  readonly isSpecialUse: boolean
  readonly subaddress: string | null
}

const NO_TEXT: Refusal = { ok: false, part: 'local_part', rule: 'not_a_string', position: null }

/** @param value anything at all; never throws */
export function readAddress(value: unknown, knowledge: Knowledge): AddressReading {
  const text = typeof value === 'string' ? value : showOther(value)
  const syntax = typeof value === 'string' ? readSyntax(value) : NO_TEXT
  const email = showAddress(text)
  const nothing = {
    email,
    syntax,
    question: undefined,
    normalized: null,
    didYouMean: null,
    disposable: undefined,
    isTypo: false,
    isRole: false,
    isFree: false,
    isRelay: false,
    isConfusable: false,
    isConfusableLocalPart: false,
    isSpecialUse: false,
    subaddress: null,
  }
  if (!syntax.ok) return { ...nothing, didYouMean: syntax === NO_TEXT ? null : repair(text) }
  const { content, domain, isBare, isMisleading, isQuoted, localPart, literal, oddity } = syntax
  const { base, tag } = splitTag(content, isQuoted)
  const person = {
    isRole: knowledge.isRole(base),
    subaddress: tag && showAddress(tag),
    isConfusableLocalPart: isConfusableLocalPart(content, domain?.unicode ?? ''),
  }
  // An address that no person typed, or that is not what it seems to be, is offered, never put in its place. A plain name is
  // no part of the address: it is left out.
  const isUsable = oddity === undefined && !isMisleading && !person.isConfusableLocalPart
  function offer(at: string): string | null {
    if (person.isConfusableLocalPart) return null
    return oddity === undefined ? `${localPart}@${at}` : repair(text)
  }
  if (domain === undefined) {
    const ip = must(literal, 'the literal of an address without a domain')
    const address = offer(ip.includes(':') ? `[IPv6:${ip}]` : `[${ip}]`)
    return {
      ...nothing,
      ...person,
      question: { kind: 'literal', address: ip },
      normalized: isUsable ? address : null,
      didYouMean: isUsable && !isBare ? null : address,
    }
  }
  const listed = knowledge.findDisposable(domain)
  const isAllowed = listed.result === 'allowed'
  const { isConfusable, imitates } = isAllowed ? NO_RESEMBLANCE : findResemblance(domain)
  const isSpecialUse = knowledge.isSpecialUse(domain)
  const isSettled = isAllowed || isSpecialUse || imitates !== undefined
  const typo = isSettled ? undefined : findTypo(domain, knowledge.isReal)
  const meant = imitates ?? typo
  const disposable = typo === undefined ? listed : soften(listed)
  return {
    email,
    syntax,
    // Whatever DNS says of a slip that a list caught, the person who typed it is asked.
    question:
      knowledge.isNeverAsked(domain) || disposable !== listed
        ? undefined
        : { kind: 'domain', domain: domain.ascii },
    normalized: isUsable ? offer(domain.ascii) : null,
    didYouMean: isUsable && !isBare && meant === undefined ? null : offer(meant ?? domain.ascii),
    disposable,
    isTypo: typo !== undefined,
    ...person,
    isFree: knowledge.isFree(domain) && disposable.result !== 'listed' && disposable.result !== 'probable',
    isRelay: knowledge.isRelay(domain) && disposable.result !== 'listed',
    isConfusable,
    isSpecialUse,
  }
}

/**
 * A slip of the finger lands where somebody waits for slips, so the list says nothing of who typed it: the person is asked
 * first. What the operator listed is no slip.
 */
const soften = (finding: DisposableFinding): DisposableFinding =>
  finding.result === 'listed' && finding.list !== OPERATOR ? { ...finding, result: 'probable' } : finding

/** A value of JSON that is no text, as an answer may show it: what an object holds is not looked at. */
function showOther(value: unknown): string {
  if (Array.isArray(value)) return '[array]'
  return typeof value === 'object' && value !== null ? '[object]' : String(value)
}

/** The tag stands behind the first +, where most servers split: `ada+shop` is `ada`. */
function splitTag(content: string, isQuoted: boolean): { base: string; tag: string | null } {
  const plus = content.indexOf('+')
  if (isQuoted || plus < 1 || plus === content.length - 1) return { base: content, tag: null }
  return { base: content.slice(0, plus), tag: content.slice(plus + 1) }
}

/** The address inside of what was pasted with something around it. Only offered: the caller decides. */
function repair(text: string): string | null {
  if (text.length > 1000) return null
  let inner = text.trim()
  // Two lines are two things that somebody put together: none of them is a slip.
  if (/\p{Cc}/u.test(inner)) return null
  const open = inner.lastIndexOf('<')
  const close = inner.indexOf('>', open)
  if (open !== -1 && close !== -1) {
    // Another address beside it: nobody knows which one was meant.
    if (`${inner.slice(0, open)}${inner.slice(close)}`.includes('@')) return null
    inner = inner.slice(open + 1, close)
  }
  inner = inner
    .replace(/^[\p{Z}\p{Cf}]+|[\p{Z}\p{Cf}]+$/gu, '')
    .replace(/^mailto:/i, '')
    .replace(/[\uFF20\uFE6B]/, '@')
  if (inner.endsWith('.')) inner = inner.slice(0, -1)
  if (inner === text || inner === '') return null
  const syntax = readSyntax(inner)
  if (!syntax.ok || !syntax.domain || syntax.oddity) return null
  return `${syntax.localPart}@${syntax.domain.ascii}`
}

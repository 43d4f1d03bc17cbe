// Reads what an address says by itself: spelling, domain, lists, likely typo. Pure; nothing is asked and nothing is kept.
// Two things stay open: where its mail goes (route) and whether somebody's mailbox is there.
import { must } from '../lib/must.ts'
import { showAddress } from './characters.ts'
import { findResemblance, NO_RESEMBLANCE } from './confusable.ts'
import type { DisposableFinding, Knowledge } from './lists.ts'
import { readSyntax, type SyntaxVerdict } from './syntax.ts'
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
  readonly isConfusable: boolean
  readonly isSpecialUse: boolean
  readonly subaddress: string | null
}

/** @param text anything at all; never throws */
export function readAddress(text: string, knowledge: Knowledge): AddressReading {
  const syntax = readSyntax(text)
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
    isSpecialUse: false,
    subaddress: null,
  }
  if (!syntax.ok) return { ...nothing, didYouMean: repair(text) }
  const { content, domain, isMisleading, isQuoted, localPart, literal, oddity } = syntax
  const { base, tag } = splitTag(content, isQuoted)
  const person = { isRole: knowledge.isRole(base), subaddress: tag && showAddress(tag) }
  // An address that no person typed, or that is not what it seems to be, is offered, never put in its place. A plain name is
  // no part of the address: it is left out.
  const isUsable = oddity === undefined && !isMisleading
  const offer = (at: string) => (oddity === undefined ? `${localPart}@${at}` : repair(text))
  if (domain === undefined) {
    const ip = must(literal, 'the literal of an address without a domain')
    const address = offer(ip.includes(':') ? `[IPv6:${ip}]` : `[${ip}]`)
    return {
      ...nothing,
      ...person,
      question: { kind: 'literal', address: ip },
      normalized: isUsable ? address : null,
      didYouMean: isUsable ? null : address,
    }
  }
  const disposable = knowledge.findDisposable(domain)
  const isAllowed = disposable.result === 'allowed'
  const { isConfusable, imitates } = isAllowed ? NO_RESEMBLANCE : findResemblance(domain)
  const isSpecialUse = knowledge.isSpecialUse(domain)
  const isSettled = isAllowed || isSpecialUse || imitates !== undefined
  const typo = isSettled ? undefined : findTypo(domain, knowledge.isReal)
  const meant = imitates ?? typo
  return {
    email,
    syntax,
    question: knowledge.isNeverAsked(domain) ? undefined : { kind: 'domain', domain: domain.ascii },
    normalized: isUsable ? offer(domain.ascii) : null,
    didYouMean: isUsable && meant === undefined ? null : offer(meant ?? domain.ascii),
    disposable,
    isTypo: typo !== undefined,
    ...person,
    isFree: knowledge.isFree(domain) && disposable.result !== 'listed' && disposable.result !== 'probable',
    isRelay: knowledge.isRelay(domain) && disposable.result !== 'listed',
    isConfusable,
    isSpecialUse,
  }
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

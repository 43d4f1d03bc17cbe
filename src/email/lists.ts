// Says what lists know about a domain, and what the operator says instead. The curated list decides; the others only
// together, since any one of them has real providers among its entries.
import { z } from 'zod'
import type { DocumentKind } from '../store/ports.ts'
import { type DomainName, readDomain } from './domain.ts'
import { openCompactSet, type CompactSet } from './compact-set.ts'
import { NEVER_ASKED, PROVIDERS, RELAYS, ROLES, SPECIAL_USE } from './providers.ts'
import { CURATED, FREE, type ListSource, type CompactLists, REFRESHED } from './sources.ts'

export interface DomainLists {
  readonly names: CompactSet
  readonly sources: readonly ListSource[]
}

/** Opens lists for lookups. */
export const openLists = ({ table, sources }: CompactLists): DomainLists => ({
  names: openCompactSet(table),
  sources,
})

const names = z.array(z.string().min(1).max(253)).max(100_000).default([])
const EmailDomainsDocument = z.strictObject({
  /** Domains whose addresses are rejected, with everything below them. */
  disposable: names,
  /** Domains that no list and no likeness to a provider speaks against, with everything below them. */
  allowed: names,
  /** Local parts that belong to a function, not a person. */
  roles: z.array(z.string().min(1).max(64)).max(10_000).default([]),
})
export type EmailDomainsDocument = z.infer<typeof EmailDomainsDocument>

/** The operator's own lists, edited by hand while the gateway runs. */
export const emailDomainsDocument: DocumentKind<EmailDomainsDocument> = {
  name: 'email-domains',
  parse: (value) => EmailDomainsDocument.parse(value),
  initial: { disposable: [], allowed: [], roles: [] },
}

export type DisposableFinding = {
  readonly result: 'listed' | 'probable' | 'not_listed' | 'allowed'
  readonly list: string | null
  readonly list_date: string | null
}

/** Everything that is known about domains and local parts by name. */
export interface Knowledge {
  findDisposable(domain: DomainName): DisposableFinding
  isFree(domain: DomainName): boolean
  isRelay(domain: DomainName): boolean
  isRole(localPart: string): boolean
  isSpecialUse(domain: DomainName): boolean
  /** A name that must not be looked up in public DNS. */
  isNeverAsked(domain: DomainName): boolean
  /** Known to be what it says, so not a typo of something else. */
  isReal(domain: string): boolean
}

const NOT_LISTED: DisposableFinding = { result: 'not_listed', list: null, list_date: null }
/** The source of what the operator's document says. */
export const OPERATOR = 'operator: email-domains'
const providers = new Set(PROVIDERS)

/** The knowledge of the rules: the lists, and the operator's document, which counts first. */
export function createKnowledge(lists: DomainLists, document: EmailDomainsDocument): Knowledge {
  const own = { disposable: toDomains(document.disposable), allowed: toDomains(document.allowed) }
  const ownRoles = new Set(document.roles.map(normaliseRole))
  const valueOf = (domain: DomainName): number => {
    let value = 0
    const isListed = eachParent(domain, (name) => {
      value = lists.names.get(name)
      return (value & ~FREE) !== 0
    })
    return isListed ? value : 0
  }
  /** A free provider, and no list says otherwise. */
  const isUndisputed = (name: string) => lists.names.get(name) === FREE

  const isRelay = (domain: DomainName) => eachParent(domain, (name) => RELAYS.has(name))

  function findDisposable(domain: DomainName): DisposableFinding {
    if (eachParent(domain, (name) => own.allowed.has(name))) return { ...NOT_LISTED, result: 'allowed' }
    if (eachParent(domain, (name) => own.disposable.has(name)))
      return { result: 'listed', list: OPERATOR, list_date: null }
    if (isRelay(domain) || providers.has(domain.ascii)) return NOT_LISTED
    const value = valueOf(domain)
    if (value === 0) return NOT_LISTED
    const deciding = lists.sources.filter(({ bit }) => (bit === CURATED || bit === REFRESHED) && value & bit)
    // A domain that another list calls a free provider is never certain: people have had their mailbox there for years.
    if (deciding.length > 0 && !(value & FREE)) return { result: 'listed', ...cite(deciding.slice(0, 1)) }
    return { result: 'probable', ...cite(lists.sources.filter(({ bit }) => value & bit)) }
  }
  return {
    findDisposable,
    isRelay,
    isFree: ({ ascii }) => providers.has(ascii) || isUndisputed(ascii),
    isRole(localPart) {
      const role = normaliseRole(localPart)
      return ROLES.has(role) || ownRoles.has(role)
    },
    isSpecialUse: ({ ascii }) => isBelow(ascii, SPECIAL_USE),
    isNeverAsked: ({ ascii }) => isBelow(ascii, NEVER_ASKED),
    isReal: (domain) => isUndisputed(domain) || RELAYS.has(domain) || own.allowed.has(domain),
  }
}

/** Several lists are cited by all their names and the oldest of their dates. */
function cite(sources: readonly ListSource[]): { list: string; list_date: string | null } {
  const dates = sources.map(({ date }) => date).filter((date) => date !== null)
  return { list: sources.map(({ name }) => name).join(', '), list_date: dates.sort()[0] ?? null }
}

/** The domain and what it is below, up to the part that somebody registered: users of one suffix are strangers. */
function eachParent({ ascii, registrable }: DomainName, visit: (name: string) => boolean): boolean {
  for (let name = ascii; ; name = name.slice(name.indexOf('.') + 1)) {
    if (visit(name)) return true
    if (registrable === null || name.length <= registrable.length) return false
  }
}

function isBelow(ascii: string, set: ReadonlySet<string>): boolean {
  const last = ascii.lastIndexOf('.')
  return set.has(ascii.slice(last + 1)) || set.has(ascii.slice(ascii.lastIndexOf('.', last - 1) + 1))
}

const normaliseRole = (localPart: string) => localPart.toLowerCase().replace(/[-_.]/g, '')

/** The domains that an operator wrote by hand, in any spelling; entries that are no domain are left out. */
function toDomains(entries: readonly string[]): ReadonlySet<string> {
  const domains = new Set<string>()
  for (const entry of entries) {
    const read = readDomain(entry.trim().replace(/^@/, ''))
    if (read.ok) domains.add(read.name.ascii)
  }
  return domains
}

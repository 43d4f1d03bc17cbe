// A domain that was probably meant to be another one. A suggestion only: nothing is ever corrected by itself.
import { distanceWithin, isBeyond, lettersOf } from '../lib/edit-distance.ts'
import type { DomainName } from './domain.ts'
import { FAMOUS } from './famous.ts'
import { PROVIDERS } from './providers.ts'

interface Provider {
  readonly domain: string
  /** Its first label. */
  readonly name: string
  readonly suffix: string
  readonly letters: number
}

const MOST_EDITS = 2

const providers: readonly Provider[] = PROVIDERS.map((domain) => {
  const dot = domain.indexOf('.')
  return { domain, name: domain.slice(0, dot), suffix: domain.slice(dot + 1), letters: lettersOf(domain) }
})
const known = new Set([...PROVIDERS, ...FAMOUS])
/** Those that are not too much longer or shorter than a domain, by its length and in their own order. */
const nearInLength = Array.from(
  { length: Math.max(...PROVIDERS.map(({ length }) => length)) + 3 },
  (_, length) => providers.filter(({ domain }) => Math.abs(domain.length - length) <= MOST_EDITS),
)

/** Top-level domains that do not exist, and what fingers meant. */
const MISTYPED_TLD: ReadonlyMap<string, string> = new Map(
  Object.entries({
    com: 'con cmo ocm comm coom ccom vom xom cpm clm coml comn cim con comcom xn cok',
    net: 'ner nte ent nett nwt bet met neet nrt',
    org: 'ogr rog orgg orh ort oeg prg',
    de: 'dee ed',
  }).flatMap(([meant, typed]) => typed.split(' ').map((one): [string, string] => [one, meant])),
)
/** Country codes next to .com and .net on the keyboard, in which providers' names are waiting for typos. */
const NEAR_TLD: ReadonlyMap<string, string> = new Map([
  ['co', 'com'],
  ['cm', 'com'],
  ['om', 'com'],
  ['ne', 'net'],
])
/** Shorter names are one letter away from too many real ones. */
const SHORTEST_EDITED_NAME = 5
const SHORTEST_TWO_EDITS = 8
/** Two letters of a shorter name leave too little of it: `goal` is not `gmail`, nor `nuvei` `naver`. */
const SHORTEST_NAME_OF_TWO = 7

/**
 * @param isReal whether this very domain is one of a provider, a relay or an organisation that is known
 * @returns the domain that was probably meant
 */
export function findTypo(domain: DomainName, isReal: (domain: string) => boolean): string | undefined {
  const { ascii, isDelegated } = domain
  if (known.has(ascii) || isReal(ascii)) return undefined
  const dot = ascii.lastIndexOf('.')
  const tld = ascii.slice(dot + 1)
  const meantTld = isDelegated ? undefined : MISTYPED_TLD.get(tld)
  const meant = meantTld && `${ascii.slice(0, dot)}.${meantTld}`
  if (meant !== undefined && (known.has(meant) || isReal(meant))) return meant
  return findProvider(meant ?? ascii, isDelegated) ?? findProvider(ascii, isDelegated) ?? meant
}

function findProvider(ascii: string, isDelegated: boolean): string | undefined {
  const dot = ascii.indexOf('.')
  const [name, suffix] = [ascii.slice(0, dot), ascii.slice(dot + 1)]
  const letters = lettersOf(ascii)
  let best: { domain: string; distance: number } | undefined
  for (const provider of nearInLength[ascii.length] ?? []) {
    // The cheap questions first: nearly every domain is far from every provider.
    const limit = editsFor(ascii, provider.domain)
    if (Math.abs(provider.domain.length - ascii.length) > limit) continue
    if (isBeyond(limit, letters, provider.letters)) continue
    const distance = distanceTo(provider, limit, ascii, name, suffix, isDelegated)
    if (distance !== undefined && distance < (best?.distance ?? Infinity))
      best = { domain: provider.domain, distance }
    if (distance === 1) break
  }
  return best?.domain
}

const editsFor = (ascii: string, domain: string): number =>
  ascii.length >= SHORTEST_TWO_EDITS && ascii[0] === domain[0] ? MOST_EDITS : 1

function distanceTo(
  provider: Provider,
  limit: number,
  ascii: string,
  name: string,
  suffix: string,
  isDelegated: boolean,
): number | undefined {
  const { domain } = provider
  if (name === provider.name) {
    // The same name below another suffix that exists is another country's site of the same company, or a company.
    if (isDelegated && NEAR_TLD.get(suffix) !== provider.suffix) return undefined
  } else if (suffix !== provider.suffix && isDelegated && NEAR_TLD.get(suffix) !== provider.suffix) {
    // "gmailcom.uk" and the like are no slip of a finger.
    return undefined
  } else if (provider.name.length < SHORTEST_EDITED_NAME && !isSwap(name, provider.name)) return undefined
  const distance = distanceWithin(limit, ascii, domain)
  if (distance > limit) return undefined
  const isShort = provider.name.length < SHORTEST_NAME_OF_TWO && !name.includes(provider.name)
  return isShort && distance === MOST_EDITS && distanceWithin(MOST_EDITS, name, provider.name) === MOST_EDITS
    ? undefined
    : distance
}

/** The same letters in another order: `lvie` for `live`. */
const isSwap = (a: string, b: string) =>
  a.length === b.length && b.length > 2 && [...a].sort().join('') === [...b].sort().join('')

// Reads what a site says about automatic readers: robots.txt (RFC 9309) with its Content-Signal lines, and tdmrep.json (TDM Reservation
// Protocol). Pure, and run in the child process: both files are a stranger's.
import untyped from 'robots-parser'
import { PRODUCT_TOKEN } from '../limits.ts'

// Its types speak of a default export, and what is exported is the function itself.
const robotsParser = untyped as unknown as typeof untyped.default

export interface SiteRules {
  readonly isAllowed: boolean
  /** A group of robots.txt names this gateway, and not just everybody. */
  readonly isNamed: boolean
  /** The line that decided, from 1; null where none speaks of this address. */
  readonly line: number | null
  /** Of `Content-Signal`, by use: `ai-input`, `ai-train`, `search`. */
  readonly signals: Readonly<Record<string, boolean>>
  /** Null where tdmrep.json says nothing about this address. */
  readonly tdmReserved: boolean | null
  readonly tdmPolicy: string | null
}

export interface SiteFiles {
  /** Null where there is none. */
  readonly robotsTxt: string | null
  readonly tdmRep: string | null
  readonly url: string
}

const MAX_PATH_CHARACTERS = 2048
/** Steps that matching may take, roughly: a file made of wildcards costs as little as any other. */
const MAX_STEPS = 50_000_000
const MAX_RESERVATIONS = 1000
const OWN = PRODUCT_TOKEN.toLowerCase()

export function readSiteRules({ robotsTxt, tdmRep, url }: SiteFiles): SiteRules {
  const target = new URL(url)
  const path = (target.pathname + target.search).slice(0, MAX_PATH_CHARACTERS)
  const shorten = createShortener(path)
  const { lines, isNamed } = pickGroups((robotsTxt ?? '').replace(/^\ufeff/, '').split(/\r\n?|\n/))
  const text = lines.map(shorten).join('\n')
  const parser = robotsParser(`${target.origin}/robots.txt`, text)
  const address = target.origin + path
  const line = parser.getMatchingLineNumber(address, PRODUCT_TOKEN)
  return {
    isAllowed: parser.isAllowed(address, PRODUCT_TOKEN) ?? true,
    isNamed,
    line: line > 0 ? line : null,
    signals: readSignals(text),
    ...readReservation(tdmRep, path, shorten),
  }
}

/**
 * The lines of the groups for everybody and for this gateway, each at its place and each name once a group: a parser keeps every rule
 * for every name before it, and a file of as many names as rules would cost their product.
 */
function pickGroups(all: readonly string[]): { lines: string[]; isNamed: boolean } {
  const agents = new Set<string>()
  let isOpen = false
  let isNamed = false
  const lines = all.map((line) => {
    const [key, value] = readField(line)
    if (key !== 'user-agent') {
      if (key !== '') isOpen = false
      return agents.size > 0 ? line : ''
    }
    if (!isOpen) agents.clear()
    isOpen = true
    const agent = value.split('/', 1)[0]?.trim().toLowerCase() ?? ''
    if ((agent !== '*' && agent !== OWN) || agents.has(agent)) return ''
    agents.add(agent)
    isNamed ||= agent === OWN
    return line
  })
  return { lines, isNamed }
}

/** The name of a line in lower case, and its value without a comment; empty where the line has none. */
function readField(line: string): readonly [key: string, value: string] {
  const [, name = '', value = ''] = /^[ \t]*([a-z-]{1,40})[ \t]*:([^#]*)/i.exec(line) ?? []
  return [name.toLowerCase(), value]
}

/**
 * Cuts patterns to what may be matched with a path: each character behind a wildcard may be compared with every one of the path. Once that
 * is too much, patterns are read up to their first wildcard.
 */
function createShortener(path: string): (line: string) => string {
  let left = MAX_STEPS
  return (line) => {
    const cut = line.slice(0, MAX_PATH_CHARACTERS)
    const wildcard = cut.indexOf('*')
    if (wildcard < 0) return cut
    // Patterns are matched with their bytes in percent signs.
    const steps = 3 * Buffer.byteLength(cut.slice(wildcard)) * path.length
    if (steps > left) return cut.slice(0, wildcard + 1)
    left -= steps
    return cut
  }
}

/** The signals of the group that names this gateway, else of the one for everybody (contentsignals.org). */
function readSignals(text: string): Record<string, boolean> {
  const found = { own: {} as Record<string, boolean>, all: {} as Record<string, boolean> }
  let agents: string[] = []
  let isOpen = false
  for (const line of text.split('\n')) {
    const [key, value] = readField(line)
    if (key === 'user-agent') {
      if (!isOpen) agents = []
      isOpen = true
      agents.push(value.split('/', 1)[0]?.trim().toLowerCase() ?? '')
    } else if (key !== '') isOpen = false
    // One with a path in front speaks of a part of the site: it is left to people.
    if (key !== 'content-signal' || value.trim().startsWith('/')) continue
    const signals = Object.fromEntries(
      [...value.matchAll(/(search|ai-input|ai-train)[ \t]{0,9}=[ \t]{0,9}(yes|no)/gi)].map(
        ([, use = '', answer = '']) => [use.toLowerCase(), answer.toLowerCase() === 'yes'],
      ),
    )
    if (agents.includes(OWN)) Object.assign(found.own, signals)
    else if (agents.includes('*')) Object.assign(found.all, signals)
  }
  return Object.keys(found.own).length > 0 ? found.own : found.all
}

/** The first entry for a path counts (TDM Reservation Protocol, 7). What is not readable says nothing. */
function readReservation(
  tdmRep: string | null,
  path: string,
  shorten: (line: string) => string,
): Pick<SiteRules, 'tdmReserved' | 'tdmPolicy'> {
  const nothing = { tdmReserved: null, tdmPolicy: null }
  if (tdmRep === null) return nothing
  let entries: unknown
  try {
    entries = JSON.parse(tdmRep)
  } catch {
    return nothing
  }
  if (!Array.isArray(entries)) return nothing
  for (const entry of entries.slice(0, MAX_RESERVATIONS) as readonly unknown[]) {
    if (typeof entry !== 'object' || entry === null) continue
    const {
      location,
      'tdm-reservation': reservation,
      'tdm-policy': policy,
    } = entry as Record<string, unknown>
    if (typeof location !== 'string' || !covers(shorten(location), path)) continue
    return {
      tdmReserved: Number(reservation) === 1,
      tdmPolicy: typeof policy === 'string' && URL.canParse(policy) ? policy.slice(0, 500) : null,
    }
  }
  return nothing
}

/** Patterns of robots.txt: `*` for anything, `$` for the end. */
function covers(location: string, path: string): boolean {
  const rule = `user-agent: *\ndisallow: ${location.replace(/[\r\n#]/g, '')}`
  const origin = 'https://site.invalid'
  return robotsParser(`${origin}/robots.txt`, rule).isAllowed(origin + path, PRODUCT_TOKEN) === false
}

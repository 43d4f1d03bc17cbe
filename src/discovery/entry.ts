// Reads one listed resource as this gateway holds it: rebuilt member by member from what a catalogue says, never passed on.
import { createHash } from 'node:crypto'
import type { SeenTerms } from '../../schemas/discovery.ts'
import { isObject } from '../lib/json.ts'
import { priceOf, readAccepts, termsOf } from './accepts.ts'
import { cleanText, memberOf } from './data.ts'
import {
  isPublicHost,
  readExtensions,
  readIcon,
  readLabel,
  readMimeType,
  readTags,
  readTime,
  readUrl,
  readWord,
} from './fields.ts'
import { weighWords } from '../lib/search-words.ts'

export interface Entry {
  /** Same key, same resource: method and normalised URL; for MCP the URL and the tool's name. */
  readonly key: string
  readonly id: string
  readonly resource: string
  readonly type: string
  readonly method: string | null
  readonly x402Version: 1 | 2
  readonly accepts: readonly Readonly<Record<string, unknown>>[]
  /** `accepts` in one form, whatever the version. */
  readonly terms: readonly SeenTerms[]
  /** The part of `terms` that is compared and remembered. */
  readonly price: string
  /** A search finds it by these words, each with the weight of the best field that it stands in. */
  readonly words: ReadonlyMap<string, number>
  readonly lastUpdated: string
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly serviceName?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly iconUrl?: string | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
  /** One of the resources that a template names, which can be asked where the template cannot. */
  readonly probeUrl?: string | undefined
  /** What our own facilitator has seen, of entries that come from it. */
  readonly settled?: SettledFacts | undefined
}

/** Payments to one payee for one resource; times in milliseconds. */
export interface SettledFacts {
  readonly network: string
  readonly payTo: string
  readonly settlements: number
  readonly payers: number
  readonly firstSettled: number
  readonly lastSettled: number
}

/** The member that keeps an entry from being listed; `shape` is the entry as a whole. */
export type EntryRefusal = 'shape' | 'resource' | 'not_public' | 'version' | 'accepts'
export type EntryVerdict =
  { readonly ok: true; readonly entry: Entry } | { readonly ok: false; readonly reason: EntryRefusal }

const MAX_PRICE_TERMS = 5
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** @param fetchedAt stands for a `lastUpdated` that is missing or not a time */
export function readEntry(item: unknown, fetchedAt: number): EntryVerdict {
  if (!isObject(item)) return { ok: false, reason: 'shape' }
  const resource = memberOf(item, 'resource')
  const url = typeof resource === 'string' ? readUrl(resource) : undefined
  if (!url || url.protocol !== 'https:') return { ok: false, reason: 'resource' }
  if (!isPublicHost(url)) return { ok: false, reason: 'not_public' }
  const version = memberOf(item, 'x402Version')
  if (version !== 1 && version !== 2) return { ok: false, reason: 'version' }
  const accepts = readAccepts(memberOf(item, 'accepts'), version)
  const [accept] = accepts
  if (!accept) return { ok: false, reason: 'accepts' }

  const extensions = readExtensions(memberOf(item, 'extensions'))
  const input = memberOf(extensions, 'bazaar', 'info', 'input') ?? memberOf(accept, 'outputSchema', 'input')
  const said = memberOf(input, 'method')
  const method = typeof said === 'string' && METHODS.has(said.toUpperCase()) ? said.toUpperCase() : null
  const type = readWord(memberOf(item, 'type')) ?? 'http'
  const toolName =
    type === 'mcp' ? cleanText(memberOf(input, 'toolName') ?? memberOf(input, 'tool'), 128) : undefined
  const description = cleanText(
    memberOf(item, 'description') ?? memberOf(item, 'metadata', 'description') ?? accept['description'],
    1024,
  )
  return {
    ok: true,
    entry: makeEntry({
      resource: url.href,
      type,
      method,
      toolName,
      x402Version: version,
      accepts,
      lastUpdated: readTime(memberOf(item, 'lastUpdated'), fetchedAt),
      description,
      mimeType: readMimeType(memberOf(item, 'mimeType') ?? accept['mimeType']),
      serviceName: readLabel(memberOf(item, 'serviceName')),
      tags: readTags(memberOf(item, 'tags')),
      iconUrl: readIcon(memberOf(item, 'iconUrl')),
      extensions,
    }),
  }
}

interface Given {
  readonly resource: string
  readonly type: string
  readonly method: string | null
  readonly toolName?: string | undefined
  /** Tells apart what one address sells, in our own list only. */
  readonly variant?: string | undefined
  readonly x402Version: 1 | 2
  readonly accepts: readonly Readonly<Record<string, unknown>>[]
  readonly lastUpdated: string
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly serviceName?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly iconUrl?: string | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
}

/** Fills in what is derived. */
export function makeEntry({ toolName, variant, ...given }: Given): Entry {
  const url = normaliseUrl(given.resource)
  const address = given.type === 'mcp' ? `MCP ${url} ${toolName ?? ''}` : `${given.method ?? 'GET'} ${url}`
  const key = variant === undefined ? address : `${address} ${variant}`
  const terms = given.accepts.map(termsOf)
  return {
    ...given,
    key,
    id: createHash('sha256').update(key).digest('base64url'),
    terms,
    price: priceOf(terms.slice(0, MAX_PRICE_TERMS)),
    words: weighWords({
      name: given.serviceName ?? '',
      tags: given.tags ?? [],
      description: given.description ?? '',
      url: given.resource,
    }),
  }
}

/**
 * One spelling of a URL: what WHATWG makes equal (case of the host, default port, dot segments), plus escapes of
 * characters that need none and the case of the others.
 */
export function normaliseUrl(text: string): string {
  const url = new URL(text)
  url.hash = ''
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  return url.href.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9\-._~]/.test(char) ? char : escape.toUpperCase()
  })
}

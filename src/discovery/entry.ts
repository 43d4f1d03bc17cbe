// One listed resource as this gateway holds it: rebuilt member by member from what a catalogue says, never passed on.
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { SeenTerms } from '../../schemas/discovery.ts'
import { PaymentRequirements, PaymentRequirementsV1 } from '../../schemas/x402.ts'
import { isLocalName } from '../egress/target.ts'
import { createNetworks } from '../payments/networks.ts'
import { cleanText, copyData, isObject, memberOf } from './data.ts'
import { weighWords } from './words.ts'

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
  /** What is compared and remembered of `terms`. */
  readonly price: string
  /** What a search finds it by: the weight of the best field that each word stands in. */
  readonly words: ReadonlyMap<string, number>
  readonly lastUpdated: string
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly serviceName?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly iconUrl?: string | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
}

export type EntryVerdict =
  | { readonly ok: true; readonly entry: Entry }
  | { readonly ok: false; readonly reason: 'shape' | 'resource' | 'not_public' | 'version' | 'accepts' }

const MAX_URL = 2048
const MAX_ACCEPTS = 10
const MAX_DATA = 8192
const MAX_EXTRA = 1024
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
  if (accepts.length === 0) return { ok: false, reason: 'accepts' }

  const extensions = readExtensions(memberOf(item, 'extensions'))
  const input =
    memberOf(extensions, 'bazaar', 'info', 'input') ?? memberOf(accepts[0], 'outputSchema', 'input')
  const said = memberOf(input, 'method')
  const method = typeof said === 'string' && METHODS.has(said.toUpperCase()) ? said.toUpperCase() : null
  const type = readWord(memberOf(item, 'type')) ?? 'http'
  const toolName = type === 'mcp' ? cleanText(memberOf(input, 'toolName'), 128) : undefined
  const description = cleanText(
    memberOf(item, 'description') ?? memberOf(item, 'metadata', 'description') ?? accepts[0]!['description'],
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
      mimeType: readMimeType(memberOf(item, 'mimeType') ?? accepts[0]!['mimeType']),
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
export function makeEntry({ toolName, ...given }: Given): Entry {
  const url = normaliseUrl(given.resource)
  const key = given.type === 'mcp' ? `MCP ${url} ${toolName ?? ''}` : `${given.method ?? 'GET'} ${url}`
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

/** The same prices, the same text, in whatever order they are listed. */
function priceOf(terms: readonly SeenTerms[]): string {
  const texts = terms.map(({ scheme, network, asset, amount, payTo }) =>
    JSON.stringify({ amount, asset, network, payTo, scheme }),
  )
  return `[${texts.sort().join()}]`
}

export function termsOf(accept: Readonly<Record<string, unknown>>): SeenTerms {
  return {
    scheme: String(accept['scheme']),
    network: networkId(String(accept['network'])),
    asset: String(accept['asset']),
    amount: String(accept['amount'] ?? accept['maxAmountRequired']),
    payTo: String(accept['payTo']),
  }
}

const V1_CHAINS = createNetworks([8453, 84532, 137, 43114])
/** CAIP-2 for the names of v1; anything else as it is. */
export const networkId = (name: string): string => V1_CHAINS.find(name)?.network ?? name

export function readAccepts(value: unknown, version: 1 | 2): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, MAX_ACCEPTS).flatMap((item) => {
    const found = version === 2 ? readAcceptV2(item) : readAcceptV1(item)
    return found === undefined ? [] : [found]
  })
}

function readAcceptV2(item: unknown): Record<string, unknown> | undefined {
  const parsed = PaymentRequirements.safeParse(item)
  if (!parsed.success || !areWords(parsed.data)) return undefined
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds } = parsed.data
  const extra = copyData(parsed.data.extra, MAX_EXTRA)
  return {
    scheme,
    network,
    amount,
    asset,
    payTo,
    maxTimeoutSeconds,
    ...(isObject(extra) && { extra }),
  }
}

function readAcceptV1(item: unknown): Record<string, unknown> | undefined {
  const parsed = PaymentRequirementsV1.safeParse(item)
  if (!parsed.success || !areWords(parsed.data)) return undefined
  const { scheme, network, maxAmountRequired, payTo, maxTimeoutSeconds, asset } = parsed.data
  const resource = readUrl(parsed.data.resource)?.href
  if (resource === undefined) return undefined
  const outputSchema = copyData(parsed.data.outputSchema, MAX_DATA)
  const extra = copyData(parsed.data.extra, MAX_EXTRA)
  return {
    scheme,
    network,
    maxAmountRequired,
    resource,
    description: cleanText(parsed.data.description, 1024) ?? '',
    mimeType: readMimeType(parsed.data.mimeType) ?? '',
    payTo,
    maxTimeoutSeconds,
    asset,
    ...(isObject(outputSchema) && { outputSchema }),
    ...(isObject(extra) && { extra }),
  }
}

/** Schemes, addresses and assets are printable words in every family of chains. */
const areWords = ({
  scheme,
  asset,
  payTo,
  network,
}: Record<'scheme' | 'asset' | 'payTo' | 'network', string>) =>
  [scheme, asset, payTo, network].every((text) => /^[!-~]+$/.test(text))

function readExtensions(value: unknown): Record<string, unknown> | undefined {
  if (!isObject(value)) return undefined
  const found: Record<string, unknown> = {}
  for (const [name, raw] of Object.entries(value).slice(0, 16)) {
    if (!/^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/.test(name) || name === 'constructor' || name === 'prototype')
      continue
    const data = copyData(raw, MAX_DATA)
    if (isObject(data)) found[name] = name === 'bazaar' ? withSafeTemplate(data) : data
  }
  return Object.keys(found).length === 0 ? undefined : found
}

/** A template that leads out of its own path would make one seller's listing speak for another's. */
function withSafeTemplate({ routeTemplate, ...rest }: Readonly<Record<string, unknown>>) {
  return isRouteTemplate(routeTemplate) ? { ...rest, routeTemplate } : rest
}

export function isRouteTemplate(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 512 || !/^\/[a-zA-Z0-9_/:.\-~%]+$/.test(value)) return false
  try {
    const decoded = decodeURIComponent(value)
    return !decoded.includes('..') && !decoded.includes('://')
  } catch {
    return false
  }
}

function readUrl(text: string): URL | undefined {
  if (text.length > MAX_URL || !/^[!-~]+$/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  // WHATWG drops an empty userinfo: the raw authority is what has to be looked at.
  if (/^[a-z]+:\/\/[^/?#\\]*@/i.test(text) || text.includes('#')) return undefined
  return url
}

/** By its spelling: as in egress, hosts have names, and no local ones. Where a name leads is asked before a look. */
const isPublicHost = ({ hostname }: URL): boolean =>
  !hostname.startsWith('[') && isIP(hostname) === 0 && !isLocalName(hostname)

const readWord = (value: unknown) =>
  typeof value === 'string' && /^[a-z][a-z0-9_-]{0,15}$/.test(value) ? value : undefined

/** Printable ASCII, at most 32 characters; anything else is left out, as the extension says. */
const readLabel = (value: unknown) =>
  typeof value === 'string' && /^[ -~]{1,32}$/.test(value) && value.trim() !== '' ? value : undefined

function readTags(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const tags = value.slice(0, 32).flatMap((tag) => readLabel(tag) ?? [])
  return tags.length === 0 ? undefined : [...new Set(tags)].slice(0, 5)
}

function readIcon(value: unknown): string | undefined {
  const url = typeof value === 'string' ? readUrl(value) : undefined
  return url && /^https?:$/.test(url.protocol) && isPublicHost(url) ? url.href : undefined
}

const readMimeType = (value: unknown) =>
  typeof value === 'string' && /^[\w.+-]{1,63}\/[\w.+*-]{1,63}(?:; ?[\w=.+"-]{1,64})?$/.test(value)
    ? value
    : undefined

const A_DAY_MS = 24 * 3600 * 1000

/** ISO text or seconds or milliseconds since the epoch; a time that has yet to come is not believed. */
function readTime(value: unknown, fetchedAt: number): string {
  const at =
    typeof value === 'string' && value.length <= 40
      ? Date.parse(value)
      : typeof value === 'number'
        ? value < 1e11
          ? value * 1000
          : value
        : Number.NaN
  const isTime = Number.isFinite(at) && at > 0 && at <= fetchedAt + A_DAY_MS
  return toTimestamp(isTime ? at : fetchedAt)
}

export const toTimestamp = (at: number): string => new Date(at).toISOString()

// Reads single members of a listing, each taken in the form it should have or left out. Nothing is fetched to judge one.
import { isIP } from 'node:net'
import { isLocalName } from '../egress/target.ts'
import { isObject } from '../lib/json.ts'
import { copyData } from './data.ts'
import { toTimestamp } from '../lib/timestamp.ts'

const MAX_URL = 2048
/** The size of one extension or schema, in characters. */
export const MAX_DATA = 8192

/** Copies at most 16 extensions, each bounded; undefined when none is left. */
export function readExtensions(value: unknown): Record<string, unknown> | undefined {
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

/** Whether a template stays below its own path: no `..` and no scheme, also behind an escape of an escape. */
export function isRouteTemplate(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 512 || !/^\/[a-zA-Z0-9_/:.\-~%]+$/.test(value)) return false
  const decoded = decodeFully(value)
  return decoded !== undefined && !decoded.includes('..') && !decoded.includes('://')
}

const MAX_DECODINGS = 5
/** Undefined where the escapes are broken, or still there after so many turns. */
function decodeFully(value: string): string | undefined {
  let decoded = value
  for (let turn = 0; turn < MAX_DECODINGS; turn++) {
    let next: string
    try {
      next = decodeURIComponent(decoded)
    } catch {
      return undefined
    }
    if (next === decoded) return decoded
    decoded = next
  }
  return undefined
}

/** A printable URL without user name, password and fragment; undefined for anything else. */
export function readUrl(text: string): URL | undefined {
  if (text.length > MAX_URL || !/^[!-~]+$/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  // WHATWG drops an empty userinfo: the raw authority is what has to be looked at.
  if (/^[a-z]+:\/\/[^/?#\\]*@/i.test(text) || text.includes('#')) return undefined
  return url
}

/**
 * Judges a host by its spelling: as in egress, hosts have names, and no local ones. Where a name leads is asked before a
 * probe.
 */
export const isPublicHost = ({ hostname }: URL): boolean =>
  !hostname.startsWith('[') && isIP(hostname) === 0 && !isLocalName(hostname)

/** A lower-case word of at most 16 characters; undefined for anything else. */
export const readWord = (value: unknown) =>
  typeof value === 'string' && /^[a-z][a-z0-9_-]{0,15}$/.test(value) ? value : undefined

/** Printable ASCII, at most 32 characters; anything else is left out, as the extension says. */
export const readLabel = (value: unknown) =>
  typeof value === 'string' && /^[ -~]{1,32}$/.test(value) && value.trim() !== '' ? value : undefined

/** Keeps at most five different labels; undefined when none is left. */
export function readTags(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const tags = value.slice(0, 32).flatMap((tag) => readLabel(tag) ?? [])
  return tags.length === 0 ? undefined : [...new Set(tags)].slice(0, 5)
}

/** The address of an icon on a public host; it is never fetched here. */
export function readIcon(value: unknown): string | undefined {
  const url = typeof value === 'string' ? readUrl(value) : undefined
  return url && /^https?:$/.test(url.protocol) && isPublicHost(url) ? url.href : undefined
}

/** A media type with at most one parameter; undefined for anything else. */
export const readMimeType = (value: unknown) =>
  typeof value === 'string' && /^[\w.+-]{1,63}\/[\w.+*-]{1,63}(?:; ?[\w=.+"-]{1,64})?$/.test(value)
    ? value
    : undefined

const A_DAY_MS = 24 * 3600 * 1000

/** ISO text or seconds or milliseconds since the epoch; a time that has yet to come is not believed. */
export function readTime(value: unknown, fetchedAt: number): string {
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

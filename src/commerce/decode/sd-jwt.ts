// SD-JWT and the chains AP2 makes of them (`open~~closed`): issuer JWT, disclosures, digests recomputed. No signature is
// verified. Places inside: `#/<token>/header|payload`, `#/<token>/disclosures/<n>/<1 or 2>`.
import { hash } from 'node:crypto'
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import { readBase64Json } from './json.ts'
import { readJws } from './jws.ts'
import { inside, isObject, member, pointer } from './value.ts'

export interface Disclosure {
  /** Place of its value. */
  readonly at: Place
  readonly name: string | null
  readonly value: Json
  readonly digest: string
}

export interface SdJwt {
  readonly at: Place
  readonly header: Found<JsonObject>
  readonly payload: Found<JsonObject>
  readonly signature: string
  readonly disclosures: readonly Disclosure[]
  readonly unreadableDisclosures: number
  /** The token with its disclosures and the closing `~`, as `sd_hash` of the next one is computed over it. */
  readonly presented: string
  /** Key binding JWT of a plain SD-JWT+KB, where one follows the last `~`. */
  readonly keyBinding: Found<JsonObject> | null
}

const JWT_START = /^[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/

/** Cheap: whether the text may be an SD-JWT at all. */
export const looksLikeSdJwt = (text: string): boolean => text.startsWith('ey') && text.includes('~')

/** Undefined where it is none, or any token of the chain cannot be read. */
export function readSdJwtChain(text: string, at: Place): readonly SdJwt[] | undefined {
  const tokens: SdJwt[] = []
  for (const part of text.split('~~')) {
    const token = readSdJwt(part, pointer(inside(at), tokens.length))
    if (token === undefined) return undefined
    tokens.push(token)
  }
  return tokens
}

function readSdJwt(text: string, at: Place): SdJwt | undefined {
  const [jwt = '', ...rest] = text.split('~')
  if (!JWT_START.test(jwt)) return undefined
  const jws = readJws(jwt, at)
  if (jws?.payload == null) return undefined
  let keyBinding: Found<JsonObject> | null = null
  const last = rest.at(-1)
  if (last !== undefined && last.includes('.')) {
    const binding = readJws(last, at)
    if (binding?.payload == null) return undefined
    keyBinding = { value: binding.payload.value, at: pointer(at, 'key_binding') }
    rest.pop()
  }
  const algorithm = nameHash(member(jws.payload.value, '_sd_alg'))
  const disclosures: Disclosure[] = []
  let unreadableDisclosures = 0
  for (const [index, encoded] of rest.entries()) {
    if (encoded === '') continue
    const read = readBase64Json(encoded)
    const parts = read.ok && Array.isArray(read.value) ? (read.value as readonly Json[]) : []
    const disclosed = readDisclosure(parts)
    if (disclosed === undefined) unreadableDisclosures++
    else
      disclosures.push({
        ...disclosed,
        at: pointer(at, 'disclosures', index, parts.length - 1),
        digest: hash(algorithm, encoded, 'base64url'),
      })
  }
  return {
    at,
    header: { value: jws.header.value, at: pointer(at, 'header') },
    payload: { value: jws.payload.value, at: pointer(at, 'payload') },
    signature: jws.signature,
    disclosures,
    unreadableDisclosures,
    presented: `${[jwt, ...rest.filter((part) => part !== '')].join('~')}~`,
    keyBinding,
  }
}

/** Salt, name and value of a member, or salt and value of an item of a list. */
function readDisclosure(parts: readonly Json[]): Pick<Disclosure, 'name' | 'value'> | undefined {
  const [, second, third] = parts
  if (parts.length === 2 && second !== undefined) return { name: null, value: second }
  return parts.length === 3 && typeof second === 'string' && third !== undefined
    ? { name: second, value: third }
    : undefined
}

/** Name of the hash in node:crypto; the default where it is not one of the three. */
export const nameHash = (name: unknown): string =>
  name === 'sha-384' ? 'sha384' : name === 'sha-512' ? 'sha512' : 'sha256'

export interface Resolution {
  /** The mandate that the token carries, disclosures filled in. */
  readonly mandate: Found<JsonObject> | null
  readonly undisclosed: number
  readonly unmatched: number
}

/**
 * Puts disclosed values where their digests stand. Each disclosure is used once, so the work is bounded by the size of the token.
 */
export function resolveMandate(token: SdJwt): Resolution {
  const byDigest = new Map(token.disclosures.map((disclosure) => [disclosure.digest, disclosure]))
  const used = new Set<string>()
  let undisclosed = 0

  const open = (digest: Json | undefined): Disclosure | undefined => {
    const disclosure = typeof digest === 'string' && !used.has(digest) ? byDigest.get(digest) : undefined
    if (disclosure === undefined) undisclosed++
    else used.add(disclosure.digest)
    return disclosure
  }
  // Depth is that of parsed JSON (at most 32) for every disclosure that opens inside another one, and no chain of them is
  // longer than this.
  const fill = (value: Json, nesting: number): Json => {
    if (nesting > MAX_NESTING) return value
    if (Array.isArray(value)) {
      const items: Json[] = []
      for (const item of value as readonly Json[]) {
        const digest = member(item, '...')
        if (digest === undefined) items.push(fill(item, nesting + 1))
        else {
          const disclosed = open(digest)
          if (disclosed !== undefined) items.push(fill(disclosed.value, nesting + 1))
        }
      }
      return items
    }
    if (!isObject(value)) return value
    const filled = Object.create(null) as Record<string, Json>
    for (const [key, inner] of Object.entries(value))
      if (key !== '_sd') filled[key] = fill(inner, nesting + 1)
    const digests = member(value, '_sd')
    if (Array.isArray(digests))
      for (const digest of digests as readonly Json[]) {
        const disclosed = open(digest)
        if (disclosed?.name != null && !(disclosed.name in filled))
          filled[disclosed.name] = fill(disclosed.value, nesting + 1)
      }
    return filled
  }

  const payload = token.payload.value
  const delegated = member(payload, 'delegate_payload')
  let mandate: Found<JsonObject> | null = null
  if (Array.isArray(delegated)) {
    for (const item of delegated as readonly Json[]) {
      const digest = member(item, '...')
      const disclosed = digest === undefined ? undefined : open(digest)
      const value = disclosed === undefined ? (digest === undefined ? item : null) : disclosed.value
      if (mandate === null && isObject(value))
        mandate = {
          value: fill(value, 0) as JsonObject,
          at: disclosed?.at ?? pointer(token.payload.at, 'delegate_payload'),
        }
    }
  } else if (member(payload, 'vct') !== undefined)
    mandate = { value: fill(payload, 0) as JsonObject, at: token.payload.at }
  return { mandate, undisclosed, unmatched: token.disclosures.length - used.size }
}

const MAX_NESTING = 96

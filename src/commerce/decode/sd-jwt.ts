// SD-JWT and the chains AP2 makes of them (`open~~closed`): issuer JWT, disclosures, digests recomputed. No signature is
// verified here. Places inside: `#/<token>/header|payload`, `#/<token>/disclosures/<n>/<1 or 2>`.
import { hash } from 'node:crypto'
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import { readBase64Json } from './json.ts'
import { type Jws, readJws } from './jws.ts'
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
  /** Digest input of `issuer_jwt_hash`: the JWT without its disclosures. */
  readonly issuerJwt: string
  /** Payload of the key binding JWT of a plain SD-JWT+KB, where one follows the last `~`. */
  readonly keyBinding: Found<JsonObject> | null
  /** That JWT itself, with its header and signature. */
  readonly binder: { readonly jwt: string; readonly header: JsonObject; readonly signature: string } | null
}

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

/**
 * A JWT whose signature is missing or is no base64url, with that signature as it stands: what cannot be verified still says what it
 * says, and a reader who took it for nothing would judge it more mildly than a signed one.
 */
function readLoosely(text: string, at: Place): Omit<Jws, 'at'> | undefined {
  const [head = '', body = '', ...rest] = text.split('.')
  const jws = body === '' ? undefined : readJws(`${head}.${body}.`, at)
  return jws && { header: jws.header, payload: jws.payload, signature: rest.join('.') }
}

function readSdJwt(text: string, at: Place): SdJwt | undefined {
  const [jwt = '', ...rest] = text.split('~')
  const jws = readLoosely(jwt, at)
  if (jws?.payload == null) return undefined
  let keyBinding: Found<JsonObject> | null = null
  let binder: SdJwt['binder'] = null
  const last = rest.at(-1)
  if (last !== undefined && last.includes('.')) {
    const binding = readLoosely(last, at)
    if (binding?.payload == null) return undefined
    keyBinding = { value: binding.payload.value, at: pointer(at, 'key_binding') }
    binder = { jwt: last, header: binding.header.value, signature: binding.signature }
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
    issuerJwt: jwt,
    keyBinding,
    binder,
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
  /** The mandate that the token carries, disclosures filled in; the first of several. */
  readonly mandate: Found<JsonObject> | null
  /** Mandates behind the first: who signs a token agrees to all that is delegated in it. */
  readonly others: readonly Found<JsonObject>[]
  readonly undisclosed: number
  readonly unmatched: number
  /** Disclosures that RFC 9901, 7.1 refuses: of a name that is there, of a reserved one, of the other arity, or used twice. */
  readonly irregular: number
}

const RESERVED: ReadonlySet<string> = new Set(['_sd', '...'])

/**
 * Puts disclosed values where their digests stand. Each disclosure is used once, so the work is bounded by the size of the token.
 * Items of lists that were not disclosed stay as `{"...": digest}`, so that whoever reads the list knows that it is not all of it.
 */
export function resolveMandate(token: SdJwt): Resolution {
  const byDigest = new Map(token.disclosures.map((disclosure) => [disclosure.digest, disclosure]))
  const used = new Set<string>()
  let undisclosed = 0
  let irregular = 0

  const open = (digest: Json | undefined): Disclosure | undefined => {
    const known = typeof digest === 'string' ? byDigest.get(digest) : undefined
    if (known === undefined || used.has(known.digest)) {
      undisclosed++
      if (known !== undefined) irregular++
      return undefined
    }
    used.add(known.digest)
    return known
  }
  const isKnown = (digest: Json) => typeof digest === 'string' && byDigest.has(digest)
  // Depth is that of parsed JSON (at most 32) for every disclosure that opens inside another one, and no chain of them is
  // longer than this.
  const fill = (value: Json, nesting: number): Json => {
    if (nesting > MAX_NESTING) return value
    if (Array.isArray(value)) {
      const items: Json[] = []
      for (const item of value as readonly Json[]) {
        const digest = member(item, '...')
        if (digest === undefined) {
          items.push(fill(item, nesting + 1))
          continue
        }
        const disclosed = open(digest)
        if (disclosed !== undefined) {
          if (disclosed.name !== null) irregular++
          items.push(fill(disclosed.value, nesting + 1))
        } else if (!isKnown(digest)) items.push(item)
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
        if (disclosed === undefined) continue
        const { name } = disclosed
        if (name === null || RESERVED.has(name) || name in filled) irregular++
        else filled[name] = fill(disclosed.value, nesting + 1)
      }
    return filled
  }

  const found: Found<JsonObject>[] = []
  const readDelegated = (from: Found<JsonObject>): boolean => {
    const delegated = member(from.value, 'delegate_payload')
    if (!Array.isArray(delegated)) return false
    for (const item of delegated as readonly Json[]) {
      // Wallets write the digest itself where the draft has an object around it.
      const digest = typeof item === 'string' ? item : member(item, '...')
      const disclosed = digest === undefined ? undefined : open(digest)
      const value = disclosed === undefined ? (digest === undefined ? item : null) : disclosed.value
      if (isObject(value))
        found.push({
          value: fill(value, 0) as JsonObject,
          at: disclosed?.at ?? pointer(from.at, 'delegate_payload'),
        })
    }
    return true
  }
  const { payload, keyBinding } = token
  if (!readDelegated(payload)) {
    // A wallet's own credential discloses claims of its own beside the mandates that its key binding delegates.
    const own = fill(payload.value, 0) as JsonObject
    const isDelegated = keyBinding !== null && readDelegated(keyBinding)
    if (!isDelegated && member(own, 'vct') !== undefined) found.push({ value: own, at: payload.at })
  } else if (keyBinding !== null) readDelegated(keyBinding)
  const [mandate = null, ...others] = found
  return { mandate, others, undisclosed, unmatched: token.disclosures.length - used.size, irregular }
}

const MAX_NESTING = 96

/** Whether an item of a list is the digest of something that was not disclosed. */
export const isHidden = (item: Found<Json>): boolean => member(item.value, '...') !== undefined

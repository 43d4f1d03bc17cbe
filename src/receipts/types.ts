// The kinds of signed documents and how anyone verifies one offline. A document's kind is its `typ` header: a verifier
// that expects a receipt never accepts a quote, however valid its signature.
import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose'
import serialize from 'canonicalize'

export const JWS_TYPES = {
  receipt: 'gw-receipt+jws',
  permit: 'gw-permit+jws',
  quote: 'gw-quote+jws',
  offer: 'gw-offer+jws',
  evidence: 'gw-evidence+jws',
  /** Receipt of the x402 extension `offer-receipt`: who paid for which resource, nothing else. */
  x402Receipt: 'gw-x402-receipt+jws',
  topUp: 'gw-top-up+jws',
  mcpSession: 'gw-mcp-session+jws',
} as const
export type JwsType = (typeof JWS_TYPES)[keyof typeof JWS_TYPES]

/** RFC 8785 bytes of a JSON document: what is signed and what is hashed. */
export function toCanonicalJson(document: unknown): string {
  // RFC 8785 takes texts and numbers from JSON.stringify; all that it adds is the order of the members.
  const text = isInOrder(document)
    ? JSON.stringify(document)
    : (serializePlain(document) ?? serialize(document))
  if (text === undefined) throw new TypeError('not a JSON document')
  return text
}

/** Whether the members of a plain document stand in canonical order already, as those of our own do. */
function isInOrder(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed()
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return true
    case 'object':
      if (value === null) return true
      return Array.isArray(value) ? areItemsInOrder(value) : areMembersInOrder(value)
    default:
      return false
  }
}

function areItemsInOrder(list: readonly unknown[]): boolean {
  // By number: a hole is no item that JSON has.
  for (let i = 0; i < list.length; i++) if (!isInOrder(list[i])) return false
  return true
}

function areMembersInOrder(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return false
  let before: string | undefined
  for (const name in object) {
    if ((before !== undefined && name <= before) || !name.isWellFormed()) return false
    before = name
    const member = (object as Readonly<Record<string, unknown>>)[name]
    if (member !== undefined && !isInOrder(member)) return false
  }
  return true
}

/**
 * The same text for what documents are made of: plain objects and lists of text, numbers and booleans. Twice as fast, and
 * it is on the path of every signature. A method such as `toJSON` is for the library.
 * @returns undefined for anything else, which is then judged by the library
 */
function serializePlain(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      return Number.isFinite(value) ? `${value}` : undefined
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? serializeList(value) : serializeMembers(value)
    default:
      return undefined
  }
}

/** Printable ASCII without the two characters that are escaped stands as it is. */
const quote = (text: string): string | undefined =>
  /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text)
    ? `"${text}"`
    : text.isWellFormed()
      ? JSON.stringify(text)
      : undefined

function serializeList(list: readonly unknown[]): string | undefined {
  let text = '['
  for (const item of list) {
    const inner = serializePlain(item)
    if (inner === undefined) return undefined
    text += text === '[' ? inner : `,${inner}`
  }
  return `${text}]`
}

function serializeMembers(object: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const members = object as Readonly<Record<string, unknown>>
  let text = '{'
  for (const name of sortNames(Object.keys(members))) {
    const member = members[name]
    if (member === undefined) continue
    const key = quoteName(name)
    const inner = serializePlain(member)
    if (key === undefined || inner === undefined) return undefined
    text += text === '{' ? key + inner : `,${key}${inner}`
  }
  return `${text}}`
}

/** Few and often in order already: the library's sort takes copies of them first. */
const FEW_NAMES = 32

/** By UTF-16 code units, as RFC 8785 wants it; that is how `<` and the default order of sort compare. */
function sortNames(names: string[]): string[] {
  if (names.length > FEW_NAMES) return names.sort()
  for (let i = 1; i < names.length; i++) {
    const name = names[i]!
    let at = i
    for (; at > 0 && names[at - 1]! > name; at--) names[at] = names[at - 1]!
    names[at] = name
  }
  return names
}

/** Documents have the same few members again and again; names of strangers only fill what is left. */
const knownNames = new Map<string, string>()
const MAX_KNOWN_NAMES = 500
const MAX_KNOWN_CHARACTERS = 64

/** With the colon behind it. */
function quoteName(name: string): string | undefined {
  const known = knownNames.get(name)
  if (known !== undefined) return known
  const quoted = quote(name)
  if (quoted === undefined) return undefined
  if (knownNames.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_CHARACTERS)
    knownNames.set(name, `${quoted}:`)
  return `${quoted}:`
}

export type JwsVerdict =
  | { readonly ok: true; readonly kid: string; readonly payload: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false
      readonly reason:
        'malformed' | 'wrong_type' | 'wrong_algorithm' | 'unknown_key' | 'bad_signature' | 'not_canonical'
    }

/**
 * Needs nothing but the published keys (`/.well-known/gateway-egress-key.json`).
 * @param expectedTyp one of JWS_TYPES
 */
export async function verifyJws(
  jws: string,
  jwks: { readonly keys: readonly object[] },
  expectedTyp: string,
): Promise<JwsVerdict> {
  let header: ReturnType<typeof decodeProtectedHeader>
  try {
    header = decodeProtectedHeader(jws)
  } catch {
    return { ok: false, reason: 'malformed' }
  }
  if (header.typ !== expectedTyp) return { ok: false, reason: 'wrong_type' }
  if (header.alg !== 'EdDSA') return { ok: false, reason: 'wrong_algorithm' }
  const key = (jwks.keys as readonly JWK[]).find(
    ({ kid, kty, crv, use }) =>
      kid === header.kid && kty === 'OKP' && crv === 'Ed25519' && (use === undefined || use === 'sig'),
  )
  if (key?.kid === undefined) return { ok: false, reason: 'unknown_key' }

  let bytes: Uint8Array
  try {
    const { kty, crv, x } = key
    const imported = await importJWK({ kty, crv, x } as JWK, 'EdDSA')
    ;({ payload: bytes } = await compactVerify(jws, imported, { algorithms: ['EdDSA'] }))
  } catch {
    return { ok: false, reason: 'bad_signature' }
  }
  const text = Buffer.from(bytes).toString('utf8')
  try {
    const payload: unknown = JSON.parse(text)
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
      return { ok: false, reason: 'malformed' }
    if (toCanonicalJson(payload) !== text) return { ok: false, reason: 'not_canonical' }
    return { ok: true, kid: key.kid, payload: payload as Record<string, unknown> }
  } catch {
    return { ok: false, reason: 'malformed' }
  }
}

/** Reads what a document says without judging it; for showing one that was stored by ourselves. */
export function decodeJws(jws: string): {
  header: Readonly<Record<string, unknown>>
  payload: Readonly<Record<string, unknown>>
} {
  const [header, payload] = jws.split('.').map((part) => Buffer.from(part, 'base64url').toString('utf8'))
  return { header: JSON.parse(header ?? '{}'), payload: JSON.parse(payload ?? '{}') }
}

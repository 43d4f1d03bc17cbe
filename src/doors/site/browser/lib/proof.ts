// Verifies what gateways sign, with the browser's own cryptography and the published keys alone: no word of a server counts. The
// verdict is the one of `verifyJws` (src/receipts/types.ts), which the command line asks; a test gives both the same documents.
import canonicalize from 'canonicalize'
import { isObject } from '../../../../lib/json.ts'
import { didOf } from '../../../../payments/did.ts'
import { JWS_TYPES } from '../../../../receipts/kinds.ts'
import type { KeyDocument } from '../../../../receipts/types.ts'
import { findInvalidity, toMoment } from '../../../../receipts/validity.ts'
import type { StateName } from '../../components/state.tsx'
import { fromBase64url, toBase64url } from './base64url.ts'

type Json = Readonly<Record<string, unknown>>

/** What a signed document is. `card`: an agent card, whose signature stands in it. */
export type ProofKind = keyof typeof JWS_TYPES | 'card'

const KIND_OF: ReadonlyMap<unknown, ProofKind> = new Map<unknown, ProofKind>([
  ...Object.entries(JWS_TYPES).map(([kind, typ]) => [typ, kind as ProofKind] as const),
  ['JOSE', 'card'],
])

/** Whoever holds one of these can act with it, so none of them belongs into a link. */
export const BEARER_KINDS: ReadonlySet<ProofKind> = new Set(['permit', 'topUp', 'mcpSession', 'call'])

/** One thing that was looked at; texts/proof.ts has the words of each `code`. */
export interface Check {
  readonly name:
    | 'form'
    | 'kind'
    | 'algorithm'
    | 'key'
    | 'signature'
    | 'time'
    | 'lifetime'
    | 'issuer'
    | 'environment'
    | 'contents'
  readonly is: StateName
  readonly code: string
  /** Ids, moments (RFC 3339) and texts of the document, for the words. */
  readonly detail?: Readonly<Record<string, string>>
}

/**
 * `genuine`: signed as it stands. `expired`: the same, and its time is over. `false`: altered, forged, or signed with a key that proves
 * nothing any more. `unknown`: this browser or these keys cannot tell.
 */
export type Verdict = 'genuine' | 'expired' | 'false' | 'unknown'

export interface Proof {
  readonly jws: string
  readonly kind: ProofKind | undefined
  /** Undefined where it cannot be read. */
  readonly header: Json | undefined
  readonly payload: Json | undefined
  readonly checks: readonly Check[]
  readonly verdict: Verdict
}

/** Keys, and whose they are. */
export interface Keys {
  readonly document: KeyDocument
  /** Address of the gateway that publishes them; undefined where somebody pasted them. */
  readonly baseUrl: string | undefined
}

/** Where every gateway publishes its keys, those that were revoked included. */
export const KEYS_PATH = '/.well-known/gateway-egress-key.json'

const MAX_KEYS_CHARACTERS = 1024 * 1024
/** A signed push notification is the longest there is: 256 KB as base64url. */
const MAX_CHARACTERS = 512 * 1024

/**
 * Fetches the keys that this gateway publishes.
 * @param api what stands before the path: nothing, a path, or another origin
 * @returns undefined where there is no answer, or one that is no key document
 */
export async function fetchKeys(
  { api, baseUrl }: { readonly api: string; readonly baseUrl: string },
  signal?: AbortSignal,
): Promise<Keys | undefined> {
  try {
    // A key may have been revoked a moment ago.
    const response = await fetch(`${api}${KEYS_PATH}`, {
      credentials: 'omit',
      cache: 'no-cache',
      ...(signal && { signal }),
    })
    const document = response.ok ? readKeys(await response.text()) : undefined
    return document && { document, baseUrl }
  } catch {
    return undefined
  }
}

/** Reads a key document or a JWK Set (RFC 7517, section 5). */
export function readKeys(text: string): KeyDocument | undefined {
  if (text.length > MAX_KEYS_CHARACTERS) return undefined
  const document = parse(text)
  const isList = (value: unknown) => Array.isArray(value) && value.every((key) => isObject(key))
  if (!isObject(document) || !isList(document['keys'])) return undefined
  if (document['revoked_keys'] !== undefined && !isList(document['revoked_keys'])) return undefined
  return document as unknown as KeyDocument
}

/**
 * Looks at everything that makes a signed document good.
 * @param jws compact, its payload in it
 * @param options.keys undefined where there are none to be had
 * @param options.expected the only kind that is taken; any where it is left out
 * @param options.now milliseconds since the epoch
 */
export async function verifyProof(
  jws: string,
  options: {
    readonly keys: Keys | undefined
    readonly now: number
    readonly expected?: ProofKind
  },
): Promise<Proof> {
  const read = readJws(jws)
  if (read.fault !== undefined) {
    const { header, payload } = read
    const kind = KIND_OF.get(header?.['typ'])
    const checks: Check[] = [{ name: 'form', is: 'failed', code: read.fault }]
    if (header) checks.push(checkAlgorithm(header))
    return { jws, kind, header, payload, checks, verdict: 'false' }
  }
  const { header, payload, signed, signature } = read
  const { keys, now, expected } = options
  const kind = KIND_OF.get(header['typ'])
  const found = findKey(header, keys)
  const algorithm = checkAlgorithm(header)
  const checks: (Check | undefined)[] = [
    { name: 'form', is: 'done', code: 'canonical' },
    checkKind(kind, header, expected),
    algorithm,
    found.check,
    algorithm.is === 'failed' ? undefined : await checkSignature(found.key, signed, signature),
    checkTime(found.key, header, payload, now),
    checkLifetime(payload, now),
    checkIssuer(header, payload, keys),
    checkEnvironment(payload),
  ]
  const made = checks.filter((check) => check !== undefined)
  return { jws, kind, header, payload, checks: made, verdict: judge(made) }
}

function judge(checks: readonly Check[]): Verdict {
  if (checks.some(({ is }) => is === 'failed')) return 'false'
  const isOpen = checks.some(
    ({ name, is }) => is === 'unknown' && ['kind', 'key', 'signature'].includes(name),
  )
  if (isOpen) return 'unknown'
  return checks.some(({ code }) => code === 'expired') ? 'expired' : 'genuine'
}

type Read =
  | {
      readonly fault: string
      readonly header?: Json | undefined
      readonly payload?: Json | undefined
    }
  | {
      readonly fault?: undefined
      readonly header: Json
      readonly payload: Json
      readonly signed: Uint8Array<ArrayBuffer>
      readonly signature: Uint8Array<ArrayBuffer>
    }

/** Header and payload in the one spelling that gateways write: RFC 8785 in base64url. Repeated members do not survive it. */
function readJws(jws: string): Read {
  if (jws.length > MAX_CHARACTERS) return { fault: 'too_long' }
  const [head, body, end, ...rest] = jws.split('.')
  if (head === undefined || body === undefined || end === undefined || rest.length > 0)
    return { fault: 'not_three_parts' }
  const [headBytes, bodyBytes, signature] = [head, body, end].map(fromBase64url)
  const header = headBytes && readObject(headBytes)
  const payload = bodyBytes && readObject(bodyBytes)
  const shown = { header: header?.value, payload: payload?.value }
  if (!headBytes || !bodyBytes || !signature) return { fault: 'not_base64url', ...shown }
  if (!header) return { fault: 'header_not_json', ...shown }
  if (!payload) return { fault: 'payload_not_json', ...shown }
  if (!header.isCanonical || !payload.isCanonical) return { fault: 'not_canonical', ...shown }
  const signed = new TextEncoder().encode(`${head}.${body}`)
  return { header: header.value, payload: payload.value, signed, signature }
}

function readObject(bytes: Uint8Array): { readonly value: Json; readonly isCanonical: boolean } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { value, isCanonical: canonicalize(value) === text } : undefined
  } catch {
    return undefined
  }
}

function checkKind(kind: ProofKind | undefined, header: Json, expected: ProofKind | undefined): Check {
  const detail = { typ: textOf(header['typ']) }
  if (kind === undefined) return { name: 'kind', is: 'unknown', code: 'unknown_type', detail }
  const isWanted = expected === undefined || kind === expected
  return {
    name: 'kind',
    is: isWanted ? 'done' : 'failed',
    code: isWanted ? 'known_type' : 'other_type',
    detail,
  }
}

/** RFC 7515, section 4.1.11: whatever a header calls critical and a reader does not know makes the document void. */
function checkAlgorithm(header: Json): Check {
  const detail = { alg: textOf(header['alg']) }
  if (header['alg'] !== 'EdDSA') return { name: 'algorithm', is: 'failed', code: 'wrong_algorithm', detail }
  if ('crit' in header || 'b64' in header)
    return { name: 'algorithm', is: 'failed', code: 'critical_extension', detail }
  return { name: 'algorithm', is: 'done', code: 'eddsa', detail }
}

interface FoundKey {
  readonly check: Check
  readonly key?: Json
}

function findKey(header: Json, keys: Keys | undefined): FoundKey {
  const named = textOf(header['kid'])
  // Offers name their key by a DID URL.
  const kid = named.startsWith('did:') ? named.slice(named.lastIndexOf('#') + 1) : named
  const detail = { kid }
  if (!keys) return { check: { name: 'key', is: 'unknown', code: 'no_keys', detail } }
  const { revoked_keys: ended = [], keys: published } = keys.document
  const gone = (ended as readonly Json[]).find((key) => key['kid'] === kid)
  if (gone) {
    const told = { kid, at: textOf(gone['revoked_at']), reason: textOf(gone['reason']) }
    return { check: { name: 'key', is: 'failed', code: 'key_revoked', detail: told } }
  }
  const key = (published as readonly Json[]).find(
    (each) =>
      each['kid'] === kid &&
      each['kty'] === 'OKP' &&
      each['crv'] === 'Ed25519' &&
      (each['use'] === undefined || each['use'] === 'sig'),
  )
  if (!key || kid === '') return { check: { name: 'key', is: 'unknown', code: 'unknown_key', detail } }
  const revoked = key['revoked_at']
  if (toMoment(revoked) !== null)
    return { check: { name: 'key', is: 'failed', code: 'key_revoked', detail: { kid, at: textOf(revoked) } } }
  const retired = key['retired_at']
  return {
    key,
    check:
      typeof retired === 'string'
        ? { name: 'key', is: 'done', code: 'retired_key', detail: { kid, at: retired } }
        : { name: 'key', is: 'done', code: 'published_key', detail },
  }
}

async function checkSignature(
  key: Json | undefined,
  signed: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<Check> {
  const name = 'signature'
  if (!key) return { name, is: 'unknown', code: 'no_key' }
  // Pages that came over plain HTTP from another machine have none.
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined
  if (!subtle) return { name, is: 'unknown', code: 'no_web_crypto' }
  let imported: CryptoKey
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: textOf(key['x']) }
    imported = await subtle.importKey('jwk', jwk, { name: 'Ed25519' }, false, ['verify'])
  } catch (thrown) {
    const isUnsupported = thrown instanceof Error && thrown.name === 'NotSupportedError'
    return isUnsupported
      ? { name, is: 'unknown', code: 'no_ed25519' }
      : { name, is: 'failed', code: 'bad_key' }
  }
  const isRight = await subtle.verify({ name: 'Ed25519' }, imported, signature, signed).catch(() => false)
  return { name, is: isRight ? 'done' : 'failed', code: isRight ? 'good_signature' : 'bad_signature' }
}

/** A clock may be wrong by so much before it is worth a word. */
const CLOCK_SKEW_MS = 5 * 60 * 1000

function checkTime(key: Json | undefined, header: Json, payload: Json, now: number): Check | undefined {
  const seconds = payload['iat'] ?? payload['issuedAt'] ?? header['iat']
  const at = toText(seconds)
  if (at === undefined) return undefined
  const detail = { at }
  const validity = { retiredAt: toMoment(key?.['retired_at']), revokedAt: null }
  const invalidity = key && findInvalidity(validity, payload)
  if (invalidity) return { name: 'time', is: 'failed', code: invalidity, detail }
  if (Date.parse(at) > now + CLOCK_SKEW_MS)
    return { name: 'time', is: 'unknown', code: 'from_the_future', detail }
  return { name: 'time', is: 'done', code: 'issued', detail }
}

function checkLifetime(payload: Json, now: number): Check | undefined {
  const until = toText(payload['exp'] ?? payload['validUntil'])
  if (until === undefined) return undefined
  const isOver = Date.parse(until) <= now
  return {
    name: 'lifetime',
    is: isOver ? 'waiting' : 'done',
    code: isOver ? 'expired' : 'holds_until',
    detail: { at: until },
  }
}

/** A member that ought to be a text. Not every object of JSON becomes one by itself: `{"toString":1}` does not. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** Seconds since the epoch as RFC 3339; undefined for what is no moment. */
function toText(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(Math.abs(seconds) < 8.64e12)) return undefined
  return new Date(seconds * 1000).toISOString()
}

/** A signature says whose keys made it. That the document names the same one is another thing. */
function checkIssuer(header: Json, payload: Json, keys: Keys | undefined): Check | undefined {
  const named = textOf(header['kid'])
  const did = named.startsWith('did:') ? named.slice(0, named.lastIndexOf('#')) : undefined
  const issuer = did ?? payload['iss'] ?? header['iss'] ?? header['jku']
  if (typeof issuer !== 'string' || !keys) return undefined
  const detail = { issuer, keys: keys.baseUrl ?? '' }
  if (keys.baseUrl === undefined) return { name: 'issuer', is: 'unknown', code: 'pasted_keys', detail }
  const own = did === undefined ? keys.baseUrl : didOf(keys.baseUrl)
  const isOwn =
    issuer === own || (did === undefined && issuer === header['jku'] && issuer.startsWith(`${own}/`))
  return {
    name: 'issuer',
    is: isOwn ? 'done' : 'unknown',
    code: isOwn ? 'this_gateway' : 'other_issuer',
    detail,
  }
}

/** The document's own word on where it comes from, before anything is verified. */
export function readEnvironment(jws: string): Check | undefined {
  const { payload } = readJws(jws)
  return payload && checkEnvironment(payload)
}

function checkEnvironment(payload: Json): Check | undefined {
  const environment = payload['environment']
  if (environment === 'sandbox' || environment === 'test')
    return { name: 'environment', is: 'waiting', code: environment }
  return environment === 'production' ? { name: 'environment', is: 'done', code: 'production' } : undefined
}

/** Compact JWS over a document that stands beside its signature (RFC 7515, appendix F). */
export function attachPayload(header: string, payload: string, signature: string): string {
  return `${header}.${toBase64url(new TextEncoder().encode(payload))}.${signature}`
}

/** @returns undefined for what is no JSON */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

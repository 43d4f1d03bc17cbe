// A redaction tells where something stands that must not be shown, its kind, and enough of a digest to tell two apart. And the last
// gate of every answer: no text leaves that holds any of it.
import { hash } from 'node:crypto'
import { placeOf } from '../decode/outline.ts'
import { unescape } from '../decode/percent.ts'
import { member } from '../decode/value.ts'
import { GUESSABLE_KINDS } from '../secrets/patterns.ts'
import { hideName, hideNames } from '../secrets/places.ts'
import { jsonBody } from '../message.ts'
import type { Json, Message, Place } from '../ports.ts'
import type { Subject } from './model.ts'

export interface Redaction {
  readonly path: Place
  readonly kind: string
  /** Eight hexadecimal digits; null where the value could be guessed from them. */
  readonly sha256_prefix: string | null
  /** The last four digits of a card number. */
  readonly last4: string | null
}

/** More of them say nothing new. */
const MAX_REDACTIONS = 100
/** Shorter values could be guessed. */
const HASH_MIN_CHARS = 24

const prefixOf = (value: string): string => hash('sha256', value.toWellFormed()).slice(0, 8)

/** Values that are never shown wherever they stand, by their places; undefined inside something that is encoded. */
type Credentials = ReadonlyMap<Place, string | undefined>

export const readCredentials = ({ message, detection }: Subject): Credentials =>
  new Map(
    [...new Set([...detection.facts.credentials, ...listHeaders(message)])].map((place) => [
      place,
      valueAt(message, place),
    ]),
  )

/** Sorted by place, one of a place, at most 100. */
export function listRedactions(subject: Subject, credentials: Credentials): Redaction[] {
  const { primary, secrets, cards } = subject
  const found = new Map<string, Redaction>()
  const add = (redaction: Redaction) => {
    const key = keyOf(redaction.path)
    if (!found.has(key)) found.set(key, redaction)
  }
  // A number of few digits first: no digest of it may be told under another name.
  for (const { kind, text, last4 } of cards) add({ path: placeOf(text), kind, sha256_prefix: null, last4 })
  const places = [...credentials.keys()]
  for (const [path, value] of credentials) {
    if (isInside(path, places)) continue
    const kind = kindOf(path, value, primary?.protocol.policy.credentialKind)
    add({
      path,
      kind,
      sha256_prefix: value !== undefined && mayHash(kind, value) ? prefixOf(value) : null,
      last4: last4Of(kind, value),
    })
  }
  for (const { kind, text, value } of secrets) {
    const path = placeOf(text)
    if (places.some((place) => path === place || isInside(path, places))) continue
    add({ path, kind, sha256_prefix: GUESSABLE_KINDS.has(kind) ? null : prefixOf(value), last4: null })
  }
  return [...found.values()]
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .slice(0, MAX_REDACTIONS)
}

/**
 * Texts that are longer than this V8 tells apart by their lengths, and then by reading both: the places of what stands under one
 * long name would each be held against all others.
 */
const INDEXED_CHARS = 16_000
const keyOf = (place: Place): string => (place.length > INDEXED_CHARS ? hash('sha256', place) : place)

const isInside = (path: Place, places: readonly Place[]) =>
  places.some((outer) => (path[outer.length] === '#' || path[outer.length] === '/') && path.startsWith(outer))

const PRIVATE_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'payment-authorization',
  'payment-signature',
  'x-payment',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
])

const listHeaders = (message: Message): Place[] =>
  message.headers.filter(({ name }) => PRIVATE_HEADERS.has(name)).map(({ at }) => at)

function kindOf(path: Place, value: string | undefined, otherwise = 'payment_credential'): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (path.startsWith('/headers/')) {
    const header = path
      .replace(/^\/headers\/([^/#]*).*$/s, '$1')
      .trim()
      .toLowerCase()
    if (header === 'cookie' || header === 'set-cookie') return 'cookie'
    if (header === 'x-api-key' || header === 'api-key') return 'api_key'
    if (header === 'payment-signature' || header === 'x-payment' || header === 'payment-authorization')
      return 'payment_credential'
    if (header === 'signature') return 'signature'
    if (/^payment[ \t]/i.test(value ?? '')) return 'payment_credential'
    return 'authorization'
  }
  if (name === 'number') return 'card_number'
  if (name === 'cvc') return 'card_verification_code'
  if (name === 'cryptogram') return 'card_cryptogram'
  if (/mandate|authorization/.test(name)) return 'mandate'
  if (name === 'signature') return 'signature'
  return otherwise
}

function mayHash(kind: string, value: string): boolean {
  if (value.length < HASH_MIN_CHARS || kind.startsWith('card_')) return false
  // User name and password, cookies: as guessable as whoever made them up.
  return !(kind === 'cookie' || /^basic[ \t]/i.test(value))
}

const last4Of = (kind: string, value: string | undefined): string | null =>
  kind === 'card_number' && value !== undefined && /^\d{12,19}$/.test(value.replaceAll(/[ -]/g, ''))
    ? value.slice(-4)
    : null

/** The value at a place that is not inside something encoded. */
function valueAt(message: Message, place: Place): string | undefined {
  if (place.startsWith('/headers/')) return message.headers.find(({ at }) => at === place)?.value
  const body = jsonBody(message)
  if (body === null || !place.startsWith(`${body.at}/`)) return undefined
  let value: Json | undefined = body.value
  for (const key of place.slice(body.at.length + 1).split('/')) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    value = Array.isArray(value) ? (value as readonly Json[])[Number(name)] : member(value, name)
  }
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}

/** Shorter ones are words that may stand anywhere. */
const NEEDLE_MIN_CHARS = 8
const HIDDEN = '[redacted]'

/**
 * The gate: gives every text of an answer back, or a mark in its place where it holds a secret of the message or looks like one.
 */
export function createGate(
  { secrets, cards }: Pick<Subject, 'secrets' | 'cards'>,
  credentials: Credentials,
): (text: string) => string {
  const needles = new Set<string>()
  const add = (value: string | undefined) => {
    if (value !== undefined && value.length >= NEEDLE_MIN_CHARS) needles.add(value)
  }
  for (const { value } of secrets) add(value)
  for (const { value } of cards) add(value)
  for (const value of credentials.values()) {
    add(value)
    // The scheme may be left out where it is said again.
    add(value?.replace(/^[A-Za-z\d-]{1,32}[ \t]+/, ''))
  }
  return (text) => {
    const plain = unescape(text)
    const isHidden = holdsSecret(text, needles) || (plain !== undefined && holdsSecret(plain, needles))
    return isHidden ? HIDDEN : text.toWellFormed()
  }
}

function holdsSecret(text: string, needles: ReadonlySet<string>): boolean {
  if (text.length < NEEDLE_MIN_CHARS) return false
  for (const needle of needles) if (text.includes(needle)) return true
  return false
}

/** The names in a place that could be more than names are left out, and what the gate hides. */
export function createPlaceGate(gate: (text: string) => string): (place: Place) => Place {
  // The places of one answer are made of the same few names.
  const known = new Map<string, string>()
  const show = (segment: string): string => {
    const shown = known.get(segment) ?? gate(hideName(segment))
    known.set(segment, shown)
    return shown
  }
  return (place) =>
    place.length <= SHORT_PLACE_CHARS ? gate(hideNames(place)) : place.split('/').map(show).join('/')
}

/** Most places: asked about as a whole. */
const SHORT_PLACE_CHARS = 24

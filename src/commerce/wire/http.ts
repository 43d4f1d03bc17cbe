// Any HTTP message may carry keys, digests and RFC 9421 signatures: they are read by their form, nothing is verified.
import { readChallenges, readDictionary, type AuthChallenge, type BareItem } from '../decode/fields.ts'
import { isPlaceholder } from '../decode/jws.ts'
import { decodeBase64 } from '../decode/json.ts'
import { inside, pointer } from '../decode/value.ts'
import { headersNamed, isOversize } from '../message.ts'
import type { Found, HeaderField, Message, Place } from '../ports.ts'

/** RFC 9421, one label of it. */
export interface HttpSignature {
  readonly label: string
  /** Component names, lower case, in order, parameters cut off. */
  readonly components: readonly string[]
  readonly created: Found<number> | null
  readonly expires: Found<number> | null
  readonly nonce: Found<string> | null
  readonly keyId: Found<string> | null
  readonly tag: Found<string> | null
  /** Place in Signature-Input. */
  readonly at: Place
  /** Bytes of the label in `Signature`; null where there is none. `isPlaceholder`: elided in an example. */
  readonly value: { readonly at: Place; readonly bytes: number; readonly isPlaceholder: boolean } | null
}

/** Facts that any HTTP message may carry. */
export interface HttpFacts {
  readonly idempotencyKey: Found<string> | null
  readonly requestId: Found<string> | null
  readonly traceparent: Found<string> | null
  /** Scheme of Authorization in lower case. */
  readonly authorization: Found<string> | null
  readonly host: Found<string> | null
  /** Content-Digest (and MPP-style) members: algorithm -> base64 value. */
  readonly contentDigests: readonly (Found<string> & { readonly algorithm: string })[]
  readonly signatures: readonly HttpSignature[]
  /** Fields `WWW-Authenticate`, in order, each with its challenges. */
  readonly challenges: readonly {
    readonly field: HeaderField
    readonly challenges: readonly AuthChallenge[]
  }[]
  /** `Signature-Input` or `Content-Digest` that cannot be parsed. */
  readonly unreadable: readonly Place[]
}

/** Never throws; what cannot be parsed is listed in `unreadable`. */
export function readHttp(message: Message): HttpFacts {
  const unreadable: Place[] = []
  const signatures = readSignatures(message, unreadable)
  return {
    idempotencyKey: readField(message, 'idempotency-key'),
    requestId: readField(message, 'request-id') ?? readField(message, 'x-request-id'),
    traceparent: readField(message, 'traceparent'),
    authorization: readScheme(message),
    host: readField(message, 'host'),
    contentDigests: readDigests(message, unreadable),
    signatures,
    challenges: headersNamed(message, 'www-authenticate').map((field) => ({
      field,
      challenges: readAuth(field),
    })),
    unreadable,
  }
}

/** A field's value, where it has one that is not too large. */
export function readField(message: Message, name: string): Found<string> | null {
  const field = message.header(name)
  return field === undefined || field.value === '' || isOversize(field)
    ? null
    : { value: field.value, at: field.at }
}

function readScheme(message: Message): Found<string> | null {
  const field = readField(message, 'authorization')
  if (field === null) return null
  const scheme = /^[\w!#$%&'*+.^`|~-]+/.exec(field.value)?.[0]
  return scheme === undefined ? null : { value: scheme.toLowerCase(), at: field.at }
}

/** `sha-256=:BASE64:` (RFC 9530) and `sha-256=BASE64` (as some MPP clients write it). */
export function readDigestText(text: string): { algorithm: string; value: string }[] | undefined {
  const found: { algorithm: string; value: string }[] = []
  for (const part of text.split(',')) {
    const match = /^\s*([A-Za-z][\w-]{0,31})\s*=\s*(?::([^:\s]*):|([A-Za-z\d+/_=-]+))\s*$/.exec(part)
    if (match === null) return undefined
    const [, algorithm = '', inColons, bare = ''] = match
    found.push({ algorithm: algorithm.toLowerCase(), value: inColons ?? bare })
  }
  return found
}

function readDigests(message: Message, unreadable: Place[]): HttpFacts['contentDigests'] {
  return headersNamed(message, 'content-digest').flatMap((field) => {
    const digests = isOversize(field) ? undefined : readDigestText(field.value)
    if (digests === undefined) unreadable.push(field.at)
    return (digests ?? []).map(({ algorithm, value }) => ({
      algorithm,
      value,
      at: pointer(inside(field.at), algorithm),
    }))
  })
}

function readSignatures(message: Message, unreadable: Place[]): HttpSignature[] {
  const values = new Map<string, NonNullable<HttpSignature['value']>>()
  const inputs = headersNamed(message, 'signature-input')
  // ACP has a `Signature` of its own: without Signature-Input it is none of RFC 9421.
  for (const field of inputs.length === 0 ? [] : headersNamed(message, 'signature')) {
    for (const [label, value] of parse(field, unreadable) ?? [])
      if (value.kind === 'item' && value.item.kind === 'bytes') {
        const text = value.item.value
        values.set(label, {
          at: pointer(inside(field.at), label),
          bytes: decodeBase64(text)?.length ?? Math.floor((text.length * 3) / 4),
          isPlaceholder: isPlaceholder(text),
        })
      }
  }
  return inputs.flatMap((field) => {
    const found: HttpSignature[] = []
    for (const [label, value] of parse(field, unreadable) ?? []) {
      if (value.kind !== 'list') continue
      const at = pointer(inside(field.at), label)
      found.push({
        label,
        components: value.items.flatMap(({ item }) =>
          item.kind === 'string' ? [item.value.toLowerCase()] : [],
        ),
        created: number(value.params.get('created'), pointer(at, 'created')),
        expires: number(value.params.get('expires'), pointer(at, 'expires')),
        nonce: text(value.params.get('nonce'), pointer(at, 'nonce')),
        keyId: text(value.params.get('keyid'), pointer(at, 'keyid')),
        tag: text(value.params.get('tag'), pointer(at, 'tag')),
        at,
        value: values.get(label) ?? null,
      })
    }
    return found
  })
}

function parse(field: HeaderField, unreadable: Place[]) {
  const members = isOversize(field) ? undefined : readDictionary(field.value)
  if (members === undefined) unreadable.push(field.at)
  return members
}

const number = (item: BareItem | undefined, at: Place): Found<number> | null =>
  item?.kind === 'integer' ? { value: item.value, at } : null

const text = (item: BareItem | undefined, at: Place): Found<string> | null =>
  item?.kind === 'string' && item.value !== '' ? { value: item.value, at } : null

/** Every challenge or credential of a field, e.g. of `Authorization`; none where it is too large. */
export const readAuth = (field: HeaderField): readonly AuthChallenge[] =>
  isOversize(field) ? [] : readChallenges(field.value)

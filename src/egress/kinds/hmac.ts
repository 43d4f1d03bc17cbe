// Signatures by template: what is signed and where the signature goes is said by the operator, in the words of the provider's page.
import { createHash, createHmac, createSecretKey, randomUUID } from 'node:crypto'
import type { KindOf } from '../../../schemas/credential-kinds.ts'
import { GatewayError } from '../../core/errors.ts'
import { Secret } from '../../lib/secret.ts'
import type { SecretParts } from '../ports.ts'
import type { RequestToSign, Signature } from './kind.ts'
import { coversRequest, fillTemplate, type Values } from './hmac-template.ts'
import { readPart } from './key-parts.ts'

/** A name for each request, for those who refuse one that they have seen. */
type NewNonce = () => string

/** @throws {GatewayError} target_invalid where the caller's query brings a parameter that the signature adds */
export function signHmac(
  kind: KindOf<'hmac'>,
  parts: SecretParts,
  request: RequestToSign,
  now: number,
  newNonce: NewNonce = () => randomUUID().replaceAll('-', ''),
): Signature {
  const { headers = {}, query = {} } = kind
  const added = Object.entries(query)
  const nonce = newNonce()
  const timestamp = TIMESTAMPS[kind.timestamp ?? 'seconds'](now)
  const common = { parts, request, timestamp, nonce }
  const isSigned = ([, template]: readonly [string, string]) => !template.includes('{signature}')

  const url = new URL(request.url)
  refuseTaken(url, Object.keys(query))
  appendQuery(url, added.filter(isSigned), { ...common, url })
  const values: Values = { ...common, url }
  const prehash = kind.prehash === undefined ? undefined : sha256(fillTemplate(kind.prehash, values))
  const value = createHmac(kind.algorithm, createSecretKey(keyOf(kind, parts)))
    .update(fillTemplate(kind.message, { ...values, prehash }))
    .digest(kind.encoding)

  const signed: Values = { ...values, prehash, signature: value }
  const sentUrl = new URL(url)
  appendQuery(
    sentUrl,
    added.filter((entry) => !isSigned(entry)),
    signed,
  )
  return {
    headers: Object.entries(headers).map(
      ([name, template]) => [name, fillTemplate(template, signed).toString('latin1')] as const,
    ),
    ...(added.length === 0 ? {} : { url: sentUrl }),
    value,
    encoding: kind.encoding,
    opensOthers: !coversRequest(kind),
    ...(isDecoded(kind) && {
      derived: { day: 'any', keys: () => bytesOfKeys(kind, [new Secret(readPart(parts, 'key'))]) },
    }),
  }
}

const isDecoded = ({ key_encoding = 'utf8' }: KindOf<'hmac'>) => key_encoding !== 'utf8'

/**
 * Keys themselves, where a stored text is only one way to write one: an upstream shows its bytes in another.
 * @returns each byte as a character; empty where the texts are the keys
 */
export const bytesOfKeys = (
  kind: KindOf<'hmac'>,
  texts: readonly Secret<string>[],
): readonly Secret<string>[] =>
  isDecoded(kind)
    ? texts.map((text) => text.use((key) => new Secret(decodeKey(kind, key).toString('latin1'))))
    : []

const TIMESTAMPS = {
  seconds: (now: number) => String(Math.floor(now / 1000)),
  milliseconds: (now: number) => String(now),
  iso8601: (now: number) => new Date(now).toISOString(),
} as const

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()

/** The key as bytes. What no decoder would give back is refused when it is stored (rules.ts). */
export const keyOf = (kind: KindOf<'hmac'>, parts: SecretParts): Buffer =>
  decodeKey(kind, readPart(parts, 'key'))

const decodeKey = ({ key_encoding = 'utf8', key_prefix = '' }: KindOf<'hmac'>, text: string): Buffer =>
  Buffer.from(text.startsWith(key_prefix) ? text.slice(key_prefix.length) : text, key_encoding)

/** A parameter that stands twice is read as the first by one server and as the last by another. */
function refuseTaken(url: URL, names: readonly string[]): void {
  const taken = names.find((name) => url.searchParams.has(name))
  if (taken === undefined) return
  throw new GatewayError(
    'target_invalid',
    `Leave the parameter ${taken} out of the query: the gateway adds it with the signature.`,
    { reason: 'query_parameter_taken' },
  )
}

/** Appended as text: what the caller wrote is signed and sent as it is. */
function appendQuery(url: URL, entries: readonly (readonly [string, string])[], values: Values): void {
  const text = entries
    .map(([name, template]) => `${name}=${encodeURIComponent(fillTemplate(template, values).toString())}`)
    .join('&')
  if (text !== '') url.search = url.search === '' ? text : `${url.search}&${text}`
}

// A credential of several texts: how they become the one text that is sealed, and which of them answers are searched for.
// Where they go in a request is place.ts.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { isObject } from '../../lib/json.ts'
import { Secret } from '../../lib/secret.ts'
import { MIN_SECRET_BYTES } from '../leak/search.ts'
import { readSealedText } from '../leak/previous-secrets.ts'
import type { SecretParts } from '../ports.ts'
import { CLIENT_CERTIFICATE, CLIENT_KEY } from '../reach/tls-identity.ts'

/** Name of the part of a credential that is one text. */
export const ONLY_PART = 'secret'

/**
 * In UTF-8: of one secret, and of all of a credential together. Each byte that is sought takes time and memory at every answer. A key file of RSA
 * with 4096 bits has 3.3 KB, a long token of Entra 4 KB.
 */
const MAX_SECRET_BYTES = 8 * 1024
const MAX_BYTES_TOGETHER = 16 * 1024
const MAX_PARTS = 16

/**
 * The secret of a credential as an operator sends it: one text, or several by name.
 * @throws {GatewayError} input_missing_field, input_invalid where it is neither, or both
 */
export function readParts({
  secret,
  parts,
}: {
  readonly secret?: string | undefined
  readonly parts?: Readonly<Record<string, string>> | undefined
}): SecretParts {
  if (parts !== undefined) {
    if (secret !== undefined) throw refused(ONLY_PART, 'send either `secret` or `parts`, not both')
    return new Map(Object.entries(parts).map(([name, text]) => [name, new Secret(text)]))
  }
  if (secret !== undefined) return new Map([[ONLY_PART, new Secret(secret)]])
  throw refused(ONLY_PART, 'send the secret, or its `parts` by name', 'input_missing_field')
}

/**
 * Which parts are secret, where the operator does not say. A user name is public: it is in every answer about the account. Beside
 * no password it is the key itself.
 */
export function describeParts(
  parts: SecretParts,
  given: CredentialSettings['parts'],
): CredentialSettings['parts'] {
  if (given !== undefined) return given
  if (isSingle(parts)) return undefined
  const entries = [...parts.keys()].map((name) => {
    const isPublic =
      (name === 'user' && parts.has('password')) || (name === CLIENT_CERTIFICATE && parts.has(CLIENT_KEY))
    return [name, isPublic ? 'public' : 'secret'] as const
  })
  return Object.fromEntries(entries)
}

const isSingle = (parts: SecretParts) => parts.size === 1 && parts.has(ONLY_PART)

/**
 * Refuses texts that settings do not name, and secrets that are too short to be told from chance in an answer, or too long to be looked for.
 * @throws {GatewayError} input_invalid
 */
export function checkParts(parts: SecretParts, described: CredentialSettings['parts']): void {
  const named = described ? Object.keys(described) : [ONLY_PART]
  const missing = named.find((name) => !parts.has(name))
  if (missing !== undefined)
    throw refused(missing, `the credential needs ${list(named)}: send this part, too`)
  const stranger = [...parts.keys()].find((name) => !named.includes(name))
  if (stranger !== undefined)
    throw refused(stranger, `the credential is made of ${list(named)}: leave this part out`)
  if (parts.size > MAX_PARTS)
    throw refused([...parts.keys()][MAX_PARTS] ?? '', `a credential has at most ${MAX_PARTS} parts`)
  let together = 0
  for (const [name, secret] of parts) {
    if (described && !secret.use((text) => text.isWellFormed()))
      throw refused(name, 'it is no valid text: it holds half a surrogate pair')
    if (described && secret.use(hasBreakAtEnd))
      throw refused(name, 'it begins or ends with a line break, which no upstream takes: send it without')
    if (described?.[name] === 'public') continue
    const bytes = secret.use((text) => Buffer.byteLength(text))
    if (bytes < MIN_SECRET_BYTES)
      throw refused(
        name,
        `a secret shorter than ${MIN_SECRET_BYTES} characters cannot be told from chance in a response`,
      )
    if (bytes > MAX_SECRET_BYTES) throw refused(name, `a secret is at most ${MAX_SECRET_BYTES} bytes`)
    together += bytes
    if (together > MAX_BYTES_TOGETHER)
      throw refused(name, `the secrets of a credential are at most ${MAX_BYTES_TOGETHER} bytes together`)
  }
  if (described && !Object.values(described).includes('secret'))
    throw refused(named[0] ?? ONLY_PART, 'one part at least has to be secret')
}

/** As an editor or `echo` leaves it. A key file is meant to end with one. */
const hasBreakAtEnd = (text: string) => /^[\r\n]|[\r\n]$/.test(text) && !/^\s*-----BEGIN /.test(text)

const list = (names: readonly string[]) => names.join(' and ')

function refused(
  name: string,
  message: string,
  code: 'input_invalid' | 'input_missing_field' = 'input_invalid',
): GatewayError {
  const pointer = name === ONLY_PART ? '/secret' : `/parts/${name}`
  return new GatewayError(code, `${pointer}: ${message}.`, {
    extras: { fields: [{ pointer, message }] },
  })
}

/** The text that is sealed: one text as it is, several as the canonical JSON object of them. */
export function joinParts(parts: SecretParts, settings: CredentialSettings): Secret<string> {
  const only = parts.get(ONLY_PART)
  if (settings.parts === undefined && only !== undefined) return only
  const texts: Record<string, string> = {}
  for (const [name, secret] of parts) secret.use((text) => void (texts[name] = text))
  return new Secret(toCanonicalJson(texts))
}

/** @throws where what was sealed is not made of the parts that settings name */
export function splitParts(sealed: Secret<string>, settings: CredentialSettings): SecretParts {
  const { current } = readSealedText(sealed)
  if (settings.parts === undefined) return new Map([[ONLY_PART, current]])
  const texts = current.use(parseQuietly)
  if (!isObject(texts)) throw new Error('sealed parts: not an object')
  const parts = Object.keys(settings.parts).map((name) => {
    const text = texts[name]
    if (typeof text !== 'string') throw new Error('sealed parts: one is missing')
    return [name, new Secret(text)] as const
  })
  return new Map(parts)
}

/** The words of a parser's error quote what it was given. */
function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What must not come back in an answer. */
export const secretParts = (parts: SecretParts, settings: CredentialSettings): readonly Secret<string>[] =>
  [...parts].filter(([name]) => settings.parts?.[name] !== 'public').map(([, secret]) => secret)

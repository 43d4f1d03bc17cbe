// The file of the signing key: a JWK, or a JWK Set while a rotation is under way, whose first key signs. Readable by its
// owner alone.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { ConfigError } from '../../core/errors.ts'
import { digestCanonical } from '../../lib/canonical-json.ts'
import { isObject } from '../../lib/json.ts'
import { OperatorJsonFault, parseOperatorJson } from '../../lib/operator-json.ts'
import { isPrivateFile } from '../../lib/private-file.ts'
import { shellQuote } from '../../lib/shell-quote.ts'
import type { OkpKey } from '../ed25519.ts'
import { createFile, describeUnreadable, replaceFile } from './key-file.ts'

export interface SigningKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string
  readonly jwk: OkpKey
}

/** The key that signs, and those it has replaced that are not retired yet. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]]

/**
 * @returns undefined where there is no file
 * @throws {ConfigError} saying what is wrong with the file, never what is in it
 */
export async function readSigningKeys(file: string): Promise<SigningKeys | undefined> {
  let text: string
  try {
    if (!isPrivateFile(await stat(file)))
      throw new ConfigError([
        `${file} holds the signing key: only its owner may read it (chmod 600 ${shellQuote(file)})`,
      ])
    text = await readFile(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw thrown
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw new ConfigError([describeUnreadable(file, thrown)])
  }
  const keys = parseKeys(text)
  if (typeof keys === 'string')
    throw new ConfigError([`${file} is not an Ed25519 private key (JWK): restore it from a backup${keys}`])
  return keys
}

/** Generates the file; whoever of two starting processes comes first keeps it, and both then use that key. */
export async function createSigningKey(file: string): Promise<SigningKeys> {
  const key = generateSigningKey()
  await createFile(file, serialise([key]))
  return (await readSigningKeys(file)) ?? [key]
}

export const replaceSigningKeys = (file: string, keys: SigningKeys) => replaceFile(file, serialise(keys))

export function generateSigningKey(): SigningKey {
  const { kty, crv, x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const key = identify({ kty, crv, x, d } as OkpKey)
  // A command line would take the key id for an option.
  return key.kid.startsWith('-') ? generateSigningKey() : key
}

const identify = (jwk: OkpKey): SigningKey => {
  const { kty, crv, x } = jwk
  // RFC 7638 thumbprint: its JSON is canonical.
  return { kid: digestCanonical({ crv, kty, x }), jwk }
}

/** One key is written as it always was: an earlier release reads it. */
function serialise([first, ...others]: SigningKeys): string {
  return `${JSON.stringify(others.length === 0 ? first.jwk : { keys: [first, ...others].map(({ jwk }) => jwk) })}\n`
}

/** @returns the keys, or a sentence more for whoever reads that these are none */
function parseKeys(text: string): SigningKeys | string {
  try {
    const document: unknown = parseOperatorJson(text)
    const jwks: unknown[] =
      isObject(document) && Array.isArray(document['keys']) ? document['keys'] : [document]
    const [first, ...others] = jwks.map(parseKey)
    if (!first || !others.every((key) => key !== undefined)) return ''
    return [first, ...others]
  } catch (thrown) {
    return thrown instanceof OperatorJsonFault ? `. It ${thrown.message}` : ''
  }
}

function parseKey(document: unknown): SigningKey | undefined {
  const jwk = document as OkpKey
  if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519') return undefined
  // The public half is recomputed: a file whose halves differ would sign what nobody can verify.
  const derived = createPrivateKey({ key: { ...jwk }, format: 'jwk' }).export({ format: 'jwk' })
  return derived.x === jwk.x ? identify(jwk) : undefined
}

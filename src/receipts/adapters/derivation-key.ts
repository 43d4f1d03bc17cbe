// The installation's derivation key: every keyed digest that outlives a call (who may fetch a stored result, which challenge
// is ours) hangs on it and not on the signing key, which may be rotated or revoked at any time.
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { ConfigError } from '../../core/errors.ts'
import { isObject } from '../../lib/json.ts'
import { OperatorJsonFault, parseOperatorJson } from '../../lib/operator-json.ts'
import { isPrivateFile } from '../../lib/private-file.ts'
import { shellQuote } from '../../lib/shell-quote.ts'
import { createFile, describeUnreadable } from './key-file.ts'

const KEY_BYTES = 32

/** HKDF-SHA256 from the derivation key: the same installation, the same key; another purpose, another key. */
export type DeriveKey = (purpose: string) => KeyObject

/**
 * Opens the key file (JWK `oct`, 0600), making it when it is absent.
 * @param options.inherited the bytes that keys were derived from before there was this file: an installation that was begun
 *   then goes on with them, and what it stored stays readable
 * @throws {ConfigError} saying what is wrong with the file, never what is in it
 */
export async function openDerivationKey(options: {
  file: string
  inherited: () => Promise<Buffer | undefined>
}): Promise<DeriveKey> {
  const { file, inherited } = options
  let bytes = await readKey(file)
  if (!bytes) {
    const first = (await inherited()) ?? randomBytes(KEY_BYTES)
    await createFile(file, `${JSON.stringify({ kty: 'oct', k: first.toString('base64url') })}\n`)
    // Another process may have been first.
    bytes = (await readKey(file)) ?? first
  }
  const root = bytes
  return (purpose) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', root, '', `agent-gateway ${purpose}`, KEY_BYTES)))
}

async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string
  try {
    if (!isPrivateFile(await stat(file)))
      throw new ConfigError([
        `${file} holds the derivation key: only its owner may read it (chmod 600 ${shellQuote(file)})`,
      ])
    text = await readFile(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw thrown
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw new ConfigError([describeUnreadable(file, thrown)])
  }
  const key = parseKey(text)
  if (typeof key !== 'string' && key.length === KEY_BYTES) return key
  throw new ConfigError([
    `${file} is not a derivation key (JWK of kty oct, 256 bits): restore it from a backup${typeof key === 'string' ? key : ''}`,
  ])
}

/** @returns the key, or a sentence more for whoever reads that it is none */
function parseKey(text: string): Buffer | string {
  try {
    const jwk = parseOperatorJson(text)
    const k = isObject(jwk) && jwk['kty'] === 'oct' ? jwk['k'] : undefined
    return typeof k === 'string' ? Buffer.from(k, 'base64url') : ''
  } catch (thrown) {
    return thrown instanceof OperatorJsonFault ? `. It ${thrown.message}` : ''
  }
}

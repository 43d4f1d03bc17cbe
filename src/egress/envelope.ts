// Secrets at rest: a fresh AES-256-GCM key per record, that key wrapped to the authority. Both layers authenticate
// everything the secret is bound to, so a record whose column was changed or swapped does not open.
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { toCanonicalJson } from '../lib/canonical-json.ts'
import { Secret } from '../lib/secret.ts'
import type { SecretBinding, UnwrapAuthority, Vault } from './ports.ts'

const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** Seals and opens secrets: a record key for each, wrapped by the authority and bound to its row. */
export function createVault(authority: UnwrapAuthority): Vault {
  return {
    async seal(secret, binding) {
      const bound = wrapBinding(binding)
      const recordKey = randomBytes(KEY_BYTES)
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', createSecretKey(recordKey), iv)
      cipher.setAAD(bound)
      const ciphertext = Buffer.concat([
        secret.use((value) => cipher.update(value, 'utf8')),
        cipher.final(),
      ]).toString('base64url')
      const wrap = await authority.wrap(recordKey, bound)
      recordKey.fill(0)
      return {
        ciphertext,
        iv: iv.toString('base64url'),
        tag: cipher.getAuthTag().toString('base64url'),
        wrap,
      }
    },

    async open(sealed, binding) {
      const bound = wrapBinding(binding)
      const recordKey = await authority.unwrap(sealed.wrap, bound)
      const decipher = createDecipheriv(
        'aes-256-gcm',
        createSecretKey(recordKey),
        decodeExactly(sealed.iv, IV_BYTES),
        { authTagLength: TAG_BYTES },
      )
      recordKey.fill(0)
      decipher.setAAD(bound)
      decipher.setAuthTag(decodeExactly(sealed.tag, TAG_BYTES))
      const plain = Buffer.concat([decipher.update(decodeExactly(sealed.ciphertext)), decipher.final()])
      const secret = new Secret(plain.toString('utf8'))
      plain.fill(0)
      return secret
    },
  }
}

/**
 * The additional data of both layers. Without `kid`: wrapping the record key to another authority must leave the
 * ciphertext and everything it authenticates as they are. A credential without settings has the text of before there were any,
 * so that what was sealed then still opens.
 */
export function wrapBinding(binding: SecretBinding): Buffer {
  const {
    credentialId,
    accountId,
    provider,
    hosts,
    pathPrefixes,
    methods,
    header,
    scheme,
    version,
    settings,
  } = binding
  const hasSettings = Object.keys(settings).length > 0
  return Buffer.from(
    toCanonicalJson({
      v: hasSettings ? 2 : 1,
      credential_id: credentialId,
      account_id: accountId,
      provider,
      hosts,
      path_prefixes: pathPrefixes,
      methods,
      header,
      scheme,
      version,
      ...(hasSettings ? { settings } : {}),
    }),
  )
}

/**
 * base64url in its one spelling: Node's decoder skips what it does not know and ignores spare bits, and then a changed
 * column would open.
 * @throws on any other spelling or length
 */
export function decodeExactly(text: string, bytes?: number): Buffer {
  const decoded = Buffer.from(text, 'base64url')
  if (decoded.toString('base64url') !== text || (bytes !== undefined && decoded.length !== bytes))
    throw new Error('sealed record: not canonical base64url of the expected length')
  return decoded
}

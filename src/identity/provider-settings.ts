// What the operator says of an identity provider, as a document of the data directory. The client's secret is in it sealed.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { IdentityProviderSettings } from '../../schemas/identity-provider.ts'
import { GatewayError } from '../core/errors.ts'
import { Secret } from '../lib/secret.ts'
import type { DocumentKind } from '../store/ports.ts'

const Stored = z.strictObject({
  ...IdentityProviderSettings.shape,
  /** base64url of nonce, tag and ciphertext; null: a public client. */
  sealed_client_secret: z.string().max(8192).nullable(),
})
export type StoredProvider = z.infer<typeof Stored>
const Document = z.strictObject({ provider: Stored.nullable() })

export const providerDocument: DocumentKind<z.infer<typeof Document>> = {
  name: 'identity-provider',
  parse: (value) => Document.parse(value),
  initial: { provider: null },
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The secret belongs to one client of one issuer: a document that names others opens nothing. */
const boundTo = ({ issuer, client_id }: Pick<StoredProvider, 'issuer' | 'client_id'>) =>
  Buffer.from(`${issuer} ${client_id}`)

export function sealClientSecret(
  key: KeyObject,
  provider: Pick<StoredProvider, 'issuer' | 'client_id'>,
  secret: string,
): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(provider))
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
}

/** @throws {GatewayError} credential_unavailable where another installation, or another document, sealed it */
export function openClientSecret(key: KeyObject, provider: StoredProvider): Secret<string> | undefined {
  if (provider.sealed_client_secret === null) return undefined
  const bytes = Buffer.from(provider.sealed_client_secret, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(boundTo(provider))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    return new Secret(text.toString('utf8'))
  } catch (cause) {
    throw new GatewayError(
      'credential_unavailable',
      'The secret of the identity provider cannot be opened. An owner stores it again, under Identity provider.',
      { cause },
    )
  }
}

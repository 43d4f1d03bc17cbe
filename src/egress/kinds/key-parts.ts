// The texts and keys among the parts of a credential.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { importPKCS8, type SignJWT } from 'jose'
import type { CredentialKind } from '../../../schemas/credential-kinds.ts'
import type { SecretParts } from '../ports.ts'

/** Text of a part that the rules of its kind require. */
export function readPart(parts: SecretParts, name: string): string {
  const secret = parts.get(name)
  if (!secret) throw new Error(`the credential has no part ${name}`)
  return secret.use((text) => text)
}

export type KeyAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA'

/** Algorithm of what the private key signs. */
export function algorithmOf(kind: CredentialKind): KeyAlgorithm {
  if (kind.type === 'oauth2_jwt_bearer') return kind.algorithm ?? 'RS256'
  return ('key_algorithm' in kind && kind.key_algorithm) || 'RS256'
}

/** PKCS#8, PKCS#1 (as GitHub gives it) and SEC 1. The errors of the parser may quote the key, so none is passed on. */
export function readPrivateKey(parts: SecretParts): KeyObject | undefined {
  try {
    return createPrivateKey(readPart(parts, 'private_key'))
  } catch {
    return undefined
  }
}

/** Undefined where the key is none, or of another algorithm. */
export async function importSigningKey(
  parts: SecretParts,
  algorithm: KeyAlgorithm,
): Promise<CryptoKey | undefined> {
  const key = readPrivateKey(parts)
  if (!key) return undefined
  try {
    return await importPKCS8(key.export({ type: 'pkcs8', format: 'pem' }).toString(), algorithm)
  } catch {
    return undefined
  }
}

/** Undefined where the key cannot sign that, which some keys show only when they are asked to: RSA keys that are too short. */
export async function signJwt(
  jwt: SignJWT,
  parts: SecretParts,
  header: { readonly alg: KeyAlgorithm; readonly kid?: string },
): Promise<string | undefined> {
  const key = await importSigningKey(parts, header.alg)
  if (!key) return undefined
  try {
    return await jwt.setProtectedHeader({ typ: 'JWT', ...header }).sign(key)
  } catch {
    return undefined
  }
}

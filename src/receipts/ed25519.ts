// Ed25519 signatures (RFC 8032) of the installation's key: libsodium where it loads, which takes a third less CPU than
// OpenSSL, and node:crypto elsewhere. A signature is determined by key and message, so both give the same bytes.
import { createPrivateKey, sign as signWithOpenSsl } from 'node:crypto'
import { createRequire } from 'node:module'

export interface OkpKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly d: string
}
/** @returns the 64 bytes of the signature, base64url */
export type Sign = (message: string) => string

/** The one function of libsodium that is needed, as `sodium-native` binds it. */
export interface Sodium {
  /** @returns 0 where it signed */
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): number
}

const SELF_TEST = 'agent-gateway: Ed25519 self-test'

/** Signs with the native addon where it agrees with OpenSSL on a sample, else with OpenSSL. */
export function createSign(key: OkpKey, sodium: Sodium | undefined = loadSodium()): Sign {
  const portable = createPortableSign(key)
  if (!sodium) return portable
  const native = createNativeSign(key, sodium)
  try {
    return native(SELF_TEST) === portable(SELF_TEST) ? native : portable
  } catch {
    return portable
  }
}

/** Signs with OpenSSL: Ed25519 (RFC 8032), base64url. */
export function createPortableSign(key: OkpKey): Sign {
  const privateKey = createPrivateKey({ key: { ...key }, format: 'jwk' })
  return (message) => signWithOpenSsl(null, Buffer.from(message), privateKey).toString('base64url')
}

/** Signs with libsodium, in a third less CPU than OpenSSL: Ed25519 (RFC 8032), base64url. */
export function createNativeSign({ d, x }: OkpKey, sodium: Sodium): Sign {
  const secretKey = Buffer.alloc(64)
  secretKey.write(d, 0, 32, 'base64url')
  secretKey.write(x, 32, 32, 'base64url')
  const signature = Buffer.alloc(64)
  return (message) => {
    // Else it would be the signature of the message before.
    if (sodium.crypto_sign_detached(signature, Buffer.from(message), secretKey) !== 0)
      throw new Error('libsodium did not sign')
    return signature.toString('base64url')
  }
}

/** @returns undefined where the addon is missing or made for another machine */
export function loadSodium(): Sodium | undefined {
  try {
    // The package's entry point is avoided: it wraps two hundred functions that nobody calls here, 3 MB.
    return createRequire(import.meta.url)('sodium-native/binding.js') as Sodium
  } catch {
    return undefined
  }
}

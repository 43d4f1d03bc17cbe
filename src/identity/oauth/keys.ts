// The keys of the authorization server, derived from the installation's: replicas that share it share these.
import { createECDH, type KeyObject } from 'node:crypto'

export type DeriveKey = (purpose: string) => KeyObject

/** The order of P-256, less one: a private key is one of 1..this. */
const P256_ORDER_LESS_ONE = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550n

export interface SigningJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly alg: 'ES256'
  readonly use: 'sig'
  readonly kid: string
  readonly x: string
  readonly y: string
  readonly d: string
}

/** Two blocks of 256 bits reduced to a private key: the bias of the remainder is below 2^-128 (FIPS 186-5, A.2.1). */
export function signingKey(deriveKey: DeriveKey): SigningJwk {
  const bytes = Buffer.concat([
    deriveKey('sign-in signing key 1').export(),
    deriveKey('sign-in signing key 2').export(),
  ])
  const scalar = (BigInt(`0x${bytes.toString('hex')}`) % P256_ORDER_LESS_ONE) + 1n
  const d = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(d)
  const point = pair.getPublicKey()
  const [x, y] = [point.subarray(1, 33), point.subarray(33, 65)].map((half) => half.toString('base64url'))
  return {
    kty: 'EC',
    crv: 'P-256',
    alg: 'ES256',
    use: 'sig',
    kid: `agw-${(x ?? '').slice(0, 11)}`,
    x: x ?? '',
    y: y ?? '',
    d: d.toString('base64url'),
  }
}

/** What signs its cookies. */
export const cookieKey = (deriveKey: DeriveKey): string =>
  deriveKey('sign-in cookies').export().toString('base64url')

/** What seals its rows. */
export const rowKey = (deriveKey: DeriveKey): KeyObject => deriveKey('sign-in rows')

// Forms of what stands in a JWT: whether it can be what it says it is. Nothing is verified, and no key is known.
import type { Json } from '../ports.ts'
import { readJws } from './jws.ts'
import { isObject, member } from './value.ts'

/** Names of asymmetric algorithms (RFC 7518, 8037, 8812, 9864): whoever verifies with a shared secret can sign as well. */
const ASYMMETRIC = /^(?:(?:ES|RS|PS)(?:256|384|512)|ES256K|EdDSA|Ed25519|Ed448|ML-DSA-(?:44|65|87))$/

/** `alg` of a token that somebody else verifies. */
export const isAsymmetric = (value: Json): boolean => typeof value === 'string' && ASYMMETRIC.test(value)

/** Signature of a JWS: base64url, and not shorter than the shortest token that could be one. */
export const isJwsSignature = (value: Json): boolean =>
  typeof value === 'string' && value.length >= 16 && /^[\w-]+$/.test(value)

/** Compact JWS with a JSON payload. */
export const isJws = (value: Json): boolean =>
  typeof value === 'string' && readJws(value, '')?.payload != null

const LAST_INSTANT = 8.64e12
/** NumericDate of RFC 7519: seconds since the epoch. */
export const isInstant = (value: Json): boolean =>
  typeof value === 'number' && value >= 0 && value <= LAST_INSTANT

const isText = (value: Json): boolean => typeof value === 'string' && value !== ''

/** `aud`: one audience, or a list of them. */
export const isAudience = (value: Json): boolean =>
  isText(value) || (Array.isArray(value) && value.length > 0 && (value as readonly Json[]).every(isText))

/** Public members of the keys that sign (RFC 7518, 6; RFC 8037, 2). */
const KEY_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
  RSA: ['n', 'e'],
  AKP: ['alg', 'pub'],
}

/** `cnf` (RFC 7800): a public key, or a reference to one. A private or shared key in it is everybody's. */
export function isConfirmation(value: Json): boolean {
  const jwk = member(value, 'jwk')
  if (jwk === undefined)
    return ['jwe', 'kid', 'jku', 'jkt'].some((name) => isText(member(value, name) ?? null))
  const type = member(jwk, 'kty')
  const names = typeof type === 'string' && Object.hasOwn(KEY_MEMBERS, type) ? KEY_MEMBERS[type] : undefined
  return (
    names !== undefined &&
    names.every((name) => isText(member(jwk, name) ?? null)) &&
    ['d', 'k', 'p', 'priv'].every((name) => member(jwk, name) === undefined)
  )
}

/** A merchant or payee: an object that says who by an id or a name. */
export const isParty = (value: Json): boolean =>
  isObject(value) && (isText(member(value, 'id') ?? null) || isText(member(value, 'name') ?? null))

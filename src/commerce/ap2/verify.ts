// AP2: signatures whose key stands in the message. Who closes a mandate is named in the open one (`cnf.jwk`, RFC 7800), so that a closed
// one of another key is told with no key of ours. A signature of which no key came along is left to whoever takes the mandate.
import { constants, type JsonWebKey, verify } from 'node:crypto'
import { toPublicKey } from '../../lib/public-keys.ts'
import { bind } from '../compare.ts'
import { toDerSignature } from '../decode/ecdsa.ts'
import { isPlaceholder } from '../decode/jws.ts'
import { isJwsSignature } from '../decode/jwt-forms.ts'
import { isObject, member } from '../decode/value.ts'
import type { Binding, Json, JsonObject, Place } from '../ports.ts'
import type { Ap2Sights, ChainToken } from './detect.ts'
import type { Grant } from './grants.ts'

/** A message holds more than this only to keep us busy: the others are not verified, and somebody has to look. */
const MAX_SIGNATURES = 8
/** Keys that are tried for all of them: a token may delegate several mandates, each with a key of its own. */
const MAX_TRIES = 16
const MAX_TOKEN_CHARS = 64 * 1024
/** RSA of 4096 bits, and the exponents that are in use: the cost of a check grows with both. */
const MAX_MODULUS_CHARS = 684
const MAX_EXPONENT_CHARS = 6

interface Algorithm {
  /** As node:crypto calls it; null where it is part of the algorithm. */
  readonly digest: string | null
  readonly curve: string
  /** Length of a signature of ECDSA. Bytes. */
  readonly bytes?: number
}

/** Algorithms of JWS (RFC 7518, 8037, 8812, 9864) with a public key on a curve. */
const ON_CURVES: ReadonlyMap<Json, Algorithm> = new Map([
  ['ES256', { digest: 'sha256', curve: 'P-256', bytes: 64 }],
  ['ES384', { digest: 'sha384', curve: 'P-384', bytes: 96 }],
  ['ES512', { digest: 'sha512', curve: 'P-521', bytes: 132 }],
  ['ES256K', { digest: 'sha256', curve: 'secp256k1', bytes: 64 }],
  ['EdDSA', { digest: null, curve: 'Ed25519' }],
  ['Ed25519', { digest: null, curve: 'Ed25519' }],
])

/** A signed JWT, and the tokens that say whose key may sign it. */
interface Signed {
  readonly jwt: string
  readonly header: JsonObject
  readonly signature: string
  readonly at: Place
  readonly holders: readonly ChainToken[]
}

/** Every token behind another, and the key binding of a token, held against the key that its holder was named by. */
export function bindSignatures(sights: Ap2Sights, grants: readonly Grant[]): Binding[] {
  let left = MAX_TRIES
  return listSigned(sights, grants).map((signed, index): Binding => {
    const { at, holders } = signed
    const [holder] = holders
    const other = holder?.mandate?.at ?? holder?.token.at ?? at
    const keys = index < MAX_SIGNATURES ? namedKeys(signed) : []
    const outcome = keys.length <= left ? verifyAny(keys, signed) : 'unverifiable'
    left -= Math.min(left, keys.length)
    return bind('signature', outcome, at, other, WORDS[outcome])
  })
}

const WORDS = {
  match: 'The signature is by the key that the holder of the mandate was named by.',
  mismatch:
    'The signature is not by the key that the holder was named by: sign with the private key of `cnf.jwk` in the token before.',
  unverifiable:
    'The signature could not be verified: put a public key of its algorithm into `cnf.jwk` of the token before.',
} as const

function listSigned({ chains }: Ap2Sights, grants: readonly Grant[]): Signed[] {
  return chains.flatMap(({ tokens }) => {
    const distinct = tokens.filter(({ token }, index) => tokens[index - 1]?.token !== token)
    return distinct.flatMap(({ token }, index): Signed[] => {
      const of = (wanted: ChainToken | undefined) => tokens.filter((one) => one.token === wanted?.token)
      const before = of(distinct[index - 1])
      const elsewhere = grants.find(({ closed }) => closed.token === token)?.opens ?? []
      const own: Signed = {
        jwt: token.issuerJwt,
        header: token.header.value,
        signature: token.signature,
        at: token.at,
        holders: before.length > 0 ? before : elsewhere,
      }
      const { binder, keyBinding } = token
      const bound =
        binder === null || keyBinding === null
          ? []
          : [{ ...binder, at: keyBinding.at, holders: tokens.filter((one) => one.token === token) }]
      // What is missing or an example's is said where the members are looked for.
      return [own, ...bound].filter(
        ({ holders, signature }) =>
          holders.length > 0 && isJwsSignature(signature) && !isPlaceholder(signature),
      )
    })
  })
}

/** The keys that the holders were named by, each once: a mandate that is a whole payload names its key twice. */
function namedKeys({ holders }: Signed): JsonObject[] {
  const named = holders.flatMap(({ mandate, token }) => [
    member(member(mandate?.value, 'cnf'), 'jwk'),
    member(member(token.payload.value, 'cnf'), 'jwk'),
  ])
  return [...new Map(named.filter(isObject).map((jwk) => [JSON.stringify(publicOf(jwk)), jwk])).values()]
}

/** Whether any of the keys made the signature. */
function verifyAny(keys: readonly JsonObject[], signed: Signed): Binding['verdict'] & keyof typeof WORDS {
  const outcomes: (keyof typeof WORDS)[] = []
  for (const jwk of keys) {
    const outcome = verifyWith(jwk, signed)
    if (outcome === 'match') return 'match'
    outcomes.push(outcome)
  }
  // One key that could not be tried may be the one.
  return outcomes.length === 0 || outcomes.includes('unverifiable') ? 'unverifiable' : 'mismatch'
}

function verifyWith(jwk: JsonObject, { jwt, header, signature }: Signed): keyof typeof WORDS {
  const known = ON_CURVES.get(member(header, 'alg') ?? null)
  const algorithm = known ?? rsaOf(member(header, 'alg') ?? null)
  if (algorithm === undefined || jwt.length > MAX_TOKEN_CHARS) return 'unverifiable'
  if (known !== undefined ? jwk['crv'] !== known.curve : !isBoundedRsa(jwk)) return 'unverifiable'
  try {
    const text = Buffer.from(jwt.slice(0, jwt.lastIndexOf('.')))
    const key = toPublicKey(publicOf(jwk))
    const bytes = Buffer.from(signature, 'base64url')
    const isValid =
      known?.bytes === bytes.length
        ? verify(known.digest, text, key, toDerSignature(bytes))
        : verify(
            algorithm.digest,
            text,
            { key, dsaEncoding: 'ieee-p1363', ...('padding' in algorithm && algorithm) },
            bytes,
          )
    return isValid ? 'match' : 'mismatch'
  } catch {
    // A key that is no point of its curve.
    return 'unverifiable'
  }
}

/** RSASSA-PKCS1 and PSS, by the names of RFC 7518. */
function rsaOf(name: Json): { digest: string; padding: number; saltLength?: number } | undefined {
  const match = typeof name === 'string' ? /^([RP])S(256|384|512)$/.exec(name) : null
  if (match === null) return undefined
  const digest = `sha${match[2]}`
  return match[1] === 'R'
    ? { digest, padding: constants.RSA_PKCS1_PADDING }
    : { digest, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
}

const isText = (value: Json | undefined, max: number) => typeof value === 'string' && value.length <= max

const isBoundedRsa = (jwk: JsonObject): boolean =>
  jwk['kty'] === 'RSA' && isText(jwk['n'], MAX_MODULUS_CHARS) && isText(jwk['e'], MAX_EXPONENT_CHARS)

/** Its public members alone: a private one in a message is told elsewhere. */
const publicOf = ({ kty, crv, x, y, n, e }: JsonObject): JsonWebKey =>
  Object.fromEntries(
    Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => typeof value === 'string'),
  ) as JsonWebKey

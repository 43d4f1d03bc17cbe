// RFC 9180 HPKE, base mode, single shot, DHKEM(P-256, HKDF-SHA256) with HKDF-SHA256: the curve whose private half a
// KMS or HSM can hold. Over node:crypto key objects; bytes in, bytes out.
import {
  type KeyObject,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
} from 'node:crypto'
import { createHmacSha256 } from '../lib/hmac.ts'
import { keepNewest } from '../lib/keep-newest.ts'

/** The AEAD half of a cipher suite: RFC 9180 section 7.3. */
export interface Aead {
  readonly id: number
  readonly name: 'aes-128-gcm' | 'aes-256-gcm'
  readonly keyBytes: number
}
export const AES_128_GCM: Aead = { id: 1, name: 'aes-128-gcm', keyBytes: 16 }
export const AES_256_GCM: Aead = { id: 2, name: 'aes-256-gcm', keyBytes: 32 }

const KEM_ID = 0x0010
const KDF_ID = 0x0001
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Of an uncompressed point, as an encapsulated key is. */
export const POINT_BYTES = 65
/** DER in front of an uncompressed P-256 point in a SubjectPublicKeyInfo. */
const SPKI_PREFIX = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex')

const VERSION = Buffer.from('HPKE-v1')
const EMPTY = Buffer.alloc(0)
const ONE = Buffer.from([1])

const i2osp2 = (value: number) => Buffer.from([value >> 8, value & 0xff])
const KEM_SUITE = Buffer.concat([Buffer.from('KEM'), i2osp2(KEM_ID)])
const hpkeSuite = (aead: Aead) =>
  Buffer.concat([Buffer.from('HPKE'), i2osp2(KEM_ID), i2osp2(KDF_ID), i2osp2(aead.id)])

export interface Sealed {
  /** Encapsulated key: an uncompressed P-256 point. */
  readonly enc: Buffer
  /** Ciphertext with the tag behind it. */
  readonly ciphertext: Buffer
}

/**
 * @param ephemeral for the RFC's test vectors only
 */
export function sealBase(
  recipient: KeyObject,
  parts: { readonly info: Buffer; readonly aad: Buffer; readonly plaintext: Buffer },
  aead: Aead = AES_256_GCM,
  ephemeral: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  }),
): Sealed {
  const enc = exportPoint(ephemeral.publicKey)
  const dh = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipient })
  const { key, nonce } = scheduleKey(dh, enc, exportPoint(recipient), parts.info, aead)
  const cipher = createCipheriv(aead.name, key, nonce)
  cipher.setAAD(parts.aad)
  const body = cipher.update(parts.plaintext)
  cipher.final()
  return { enc, ciphertext: Buffer.concat([body, cipher.getAuthTag()]) }
}

/**
 * @param recipient private key, and its public point as `exportPoint` gives it (kept beside it, it never changes)
 * @throws on any byte that is not as sealed
 */
export function openBase(
  recipient: { readonly privateKey: KeyObject; readonly point: Buffer },
  parts: { readonly enc: Buffer; readonly info: Buffer; readonly aad: Buffer; readonly ciphertext: Buffer },
  aead: Aead = AES_256_GCM,
): Buffer {
  const dh = diffieHellman({ privateKey: recipient.privateKey, publicKey: importPoint(parts.enc) })
  return openAgreed({ dh, point: recipient.point }, parts, aead)
}

/**
 * The rest of `openBase`, where the private key is held by somebody who does nothing but agree (RFC 9180, 4.1: `DH(skR, pkE)`).
 * @param agreed what that gave for `parts.enc`, which `importPoint` has to find on the curve before it is asked for; and its public point
 * @throws on any byte that is not as sealed
 */
export function openAgreed(
  agreed: { readonly dh: Buffer; readonly point: Buffer },
  parts: { readonly enc: Buffer; readonly info: Buffer; readonly aad: Buffer; readonly ciphertext: Buffer },
  aead: Aead = AES_256_GCM,
): Buffer {
  const { enc, ciphertext } = parts
  if (ciphertext.length < TAG_BYTES) throw new Error('HPKE: the ciphertext is too short')
  const { key, nonce } = scheduleKey(agreed.dh, enc, agreed.point, parts.info, aead)
  const decipher = createDecipheriv(aead.name, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(parts.aad)
  decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES))
  const body = decipher.update(ciphertext.subarray(0, -TAG_BYTES))
  decipher.final()
  return body
}

/** The public key as an uncompressed point. */
export function exportPoint(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(-POINT_BYTES)
}

/** Importing a point costs as much as the agreement itself, and points are public: the imported ones are kept by their bytes. */
const points = new Map<string, KeyObject>()
const MAX_POINTS = 1_024

/** @throws when the bytes are not a point on the curve */
export function importPoint(point: Buffer): KeyObject {
  const name = point.toString('latin1')
  const known = points.get(name)
  if (known) return known
  if (point.length !== POINT_BYTES || point[0] !== 4) throw new Error('HPKE: not an uncompressed P-256 point')
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, point]), format: 'der', type: 'spki' })
  points.set(name, key)
  keepNewest(points, MAX_POINTS)
  return key
}

function scheduleKey(
  dh: Buffer,
  enc: Buffer,
  recipientPoint: Buffer,
  info: Buffer,
  aead: Aead,
): { key: KeyObject; nonce: Buffer } {
  // RFC 9180, 4.1: ExtractAndExpand
  const eaePrk = labeledExtract(KEM_SUITE, EMPTY, 'eae_prk', dh)
  const kemContext = Buffer.concat([enc, recipientPoint])
  const sharedSecret = labeledExpand(KEM_SUITE, eaePrk, 'shared_secret', kemContext, 32)
  // RFC 9180, 5.1: KeySchedule in base mode, so psk and psk_id are empty
  const suite = hpkeSuite(aead)
  const context = scheduleContext(suite, info)
  const secret = labeledExtract(suite, sharedSecret, 'secret', EMPTY)
  return {
    key: createSecretKey(labeledExpand(suite, secret, 'key', context, aead.keyBytes)),
    nonce: labeledExpand(suite, secret, 'base_nonce', context, NONCE_BYTES),
  }
}

/** The context depends on nothing that is secret or per record, so the last one serves nearly every call. */
let lastContext: Record<'suite' | 'info' | 'context', Buffer> = { suite: EMPTY, info: EMPTY, context: EMPTY }
function scheduleContext(suite: Buffer, info: Buffer): Buffer {
  if (!lastContext.suite.equals(suite) || !lastContext.info.equals(info)) {
    const context = Buffer.concat([
      Buffer.from([0]),
      labeledExtract(suite, EMPTY, 'psk_id_hash', EMPTY),
      labeledExtract(suite, EMPTY, 'info_hash', info),
    ])
    lastContext = { suite, info: Buffer.from(info), context }
  }
  return lastContext.context
}

function labeledExtract(suite: Buffer, salt: Buffer, label: string, ikm: Buffer): Buffer {
  return createHmacSha256(salt)([VERSION, suite, Buffer.from(label), ikm])
}

/** Every length here is at most one block of HMAC-SHA256, so HKDF-Expand is one HMAC. */
function labeledExpand(suite: Buffer, prk: Buffer, label: string, info: Buffer, bytes: number): Buffer {
  const parts = [i2osp2(bytes), VERSION, suite, Buffer.from(label), info, ONE]
  return createHmacSha256(prk)(parts).subarray(0, bytes)
}

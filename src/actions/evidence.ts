// The request that people approved, kept sealed as long as its permit: `iv | tag | ciphertext` of AES-256-GCM over the deflated facts, bound to
// the permit and to the digest of the request. It is read again with that digest computed anew, so that what is shown is what was approved.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { digestRequest } from '../egress/digest.ts'
import type { Permit } from '../store/ports.ts'
import type { Facts } from './summary.ts'

const IV_BYTES = 12
const TAG_BYTES = 16

type SealedFor = Pick<Permit, 'id' | 'requestDigest'>
const contextOf = ({ id, requestDigest }: SealedFor) => Buffer.from(`${id} ${requestDigest}`)

/** @param facts of the request as they stood while it waited (summary.ts) */
export function sealEvidence(key: KeyObject, permit: SealedFor, facts: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(contextOf(permit))
  const ciphertext = Buffer.concat([cipher.update(deflateRawSync(facts)), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext])
}

/** @throws {Error} where the bytes are not those that were sealed for this permit */
export function openEvidence(key: KeyObject, permit: SealedFor, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  const start = IV_BYTES + TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
  decipher.setAAD(contextOf(permit))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, start))
  return inflateRawSync(Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()])).toString(
    'utf8',
  )
}

/** base64url SHA-256 over the canonical request, computed from what is kept: it equals the permit's `request_digest`. */
export const digestFacts = ({ method, url, headers, body, credential }: Facts): string =>
  digestRequest({
    method,
    url,
    headers,
    body: body === null ? undefined : Buffer.from(body, 'base64'),
    credentialId: credential.credential_id,
    secretVersion: credential.version,
  })

// The address of a receiver, which may be a secret of theirs: sealed with AES-256-GCM, bound to its row, and opened when it is used.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { Secret } from '../lib/secret.ts'
import type { NotificationTarget } from '../store/ports.ts'

const IV_BYTES = 12
const TAG_BYTES = 16

type Bound = Pick<NotificationTarget, 'id' | 'accountId' | 'host'>
const contextOf = ({ id, accountId, host }: Bound) => Buffer.from(`${id} ${accountId} ${host}`)

export function sealAddress(key: KeyObject, row: Bound, url: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(contextOf(row))
  const ciphertext = Buffer.concat([cipher.update(url, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext])
}

/** @throws {Error} where the row is not what was sealed, or another key sealed it */
export function openAddress(key: KeyObject, row: Bound, sealed: Uint8Array): Secret<string> {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  const start = IV_BYTES + TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES)).setAAD(contextOf(row))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, start))
  return new Secret(
    Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString('utf8'),
  )
}

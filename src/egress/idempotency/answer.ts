// An answer as it is kept: status, released headers and body in one AES-256-GCM record, `iv | tag | ciphertext`. Within the
// ciphertext: the length of the head in four bytes, the head as JSON, then the body as it came.
import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'
import { z } from 'zod'
import type { HeaderPairs } from '../headers.ts'

/** What a caller gets of an upstream's answer. */
export interface Answer {
  readonly status: number
  /** Those that are passed on, in their order, repeated ones apart. */
  readonly headers: HeaderPairs
  /** Names of those that are not. */
  readonly dropped: readonly string[]
  readonly body: Buffer
}

/** The key of one record, and what it is bound to. */
export interface Sealing {
  readonly key: KeyObject
  readonly context: string
}

/** The largest body that is kept: what a fetch accepts unless its credential allows more. */
export const MAX_KEPT_BYTES = 1024 * 1024

const Head = z.strictObject({
  status: z.int(),
  headers: z.union([z.record(z.string(), z.string()), z.array(z.tuple([z.string(), z.string()]))]),
  dropped: z.array(z.string()).readonly(),
})

/**
 * As an object wherever that says the same. The release before reads nothing else, and gives each answer the length of its body: of one that
 * it would give otherwise than it came it says that it is gone, where both serve the same database.
 */
function toHead(headers: HeaderPairs): z.input<typeof Head>['headers'] {
  const names = new Set(headers.map(([name]) => name))
  return names.size === headers.length && !names.has('content-length')
    ? Object.fromEntries(headers)
    : headers.map(([name, value]): [string, string] => [name, value])
}

const IV_BYTES = 12
const TAG_BYTES = 16
const LENGTH_BYTES = 4

/** IVs are cut out of bytes that were drawn for many of them: a call of the system for each costs 2 to 6 us, a slice 0.05. */
const ivs = Buffer.alloc(IV_BYTES * 256)
let usedIvs = ivs.length

function nextIv(): Buffer {
  if (usedIvs === ivs.length) {
    randomFillSync(ivs)
    usedIvs = 0
  }
  usedIvs += IV_BYTES
  return ivs.subarray(usedIvs - IV_BYTES, usedIvs)
}

/** @returns undefined where the body is larger than MAX_KEPT_BYTES */
export function sealAnswer(answer: Answer, { key, context }: Sealing): Buffer | undefined {
  const { status, headers, dropped, body } = answer
  if (body.length > MAX_KEPT_BYTES) return undefined
  const head = Buffer.from(
    JSON.stringify({ status, headers: toHead(headers), dropped } satisfies z.input<typeof Head>),
  )
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  const iv = nextIv()
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(context))
  const ciphertext = cipher.update(Buffer.concat([length, head, body]))
  cipher.final()
  // Memory of its own: whoever sends a view of Node's pool to another thread sends all 8 KiB of the pool, for 11 us.
  const start = IV_BYTES + TAG_BYTES
  const sealed = Buffer.allocUnsafeSlow(start + ciphertext.length)
  sealed.set(iv)
  sealed.set(cipher.getAuthTag(), IV_BYTES)
  sealed.set(ciphertext, start)
  return sealed
}

/** @throws {Error} where the bytes are not those that were sealed with this key in this context */
export function openAnswer(sealed: Uint8Array, { key, context }: Sealing): Answer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  const start = IV_BYTES + TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, start))
  const plain = Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()])
  const end = LENGTH_BYTES + plain.readUInt32BE(0)
  const head: unknown = JSON.parse(plain.toString('utf8', LENGTH_BYTES, end))
  const { status, headers, dropped } = Head.parse(head)
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers)
  return { status, headers: pairs, dropped, body: plain.subarray(end) }
}

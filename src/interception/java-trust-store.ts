// Certificates to trust in the form that every Java reads: a "JKS" store of certificates alone (written before PKCS12 knew a mark for what is trusted).
import { createHash, X509Certificate } from 'node:crypto'

const MAGIC = 0xfeedfeed
const VERSION = 2
const TRUSTED_CERTIFICATE = 2
/** What Java's own store of roots is sealed with, everywhere: the digest guards against damage, nothing in here is secret. */
export const JAVA_STORE_PASSWORD = 'changeit'
/** The word that the format mixes into its digest. */
const WHITENER = 'Mighty Aphrodite'

/** @param pems certificates, each one PEM block; those that are no certificate are left out */
export function javaTrustStore(pems: readonly string[], now: number): Buffer {
  const certificates = pems.flatMap((pem) => {
    try {
      return [new X509Certificate(pem).raw]
    } catch {
      return []
    }
  })
  const store = Buffer.concat([
    u32(MAGIC),
    u32(VERSION),
    u32(certificates.length),
    ...certificates.flatMap((der, at) => [
      u32(TRUSTED_CERTIFICATE),
      text(`root-${at}`),
      u64(now),
      text('X.509'),
      u32(der.length),
      der,
    ]),
  ])
  const digest = createHash('sha1')
    // Two bytes a character, the higher one first.
    .update(Buffer.from(JAVA_STORE_PASSWORD, 'utf16le').swap16())
    .update(WHITENER)
    .update(store)
    .digest()
  return Buffer.concat([store, digest])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

/** ASCII with its length in two bytes. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

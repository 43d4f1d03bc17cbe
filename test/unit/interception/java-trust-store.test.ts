import { createHash, X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { javaTrustStore } from '../../../src/interception/java-trust-store.ts'

describe('a trust store for Java', () => {
  const [one, two] = rootCertificates as [string, string]
  const store = javaTrustStore([one, 'no certificate', two], 1_700_000_000_000)

  it('has each certificate as an entry that is trusted', () => {
    expect(store.subarray(0, 8).toString('hex')).toBe('feedfeed00000002')
    expect(store.readUInt32BE(8)).toBe(2)
    let at = 12
    for (const [index, pem] of [one, two].entries()) {
      const name = `root-${index === 0 ? 0 : 1}`
      expect(store.readUInt32BE(at)).toBe(2)
      expect(store.readUInt16BE(at + 4)).toBe(name.length)
      expect(store.subarray(at + 6, at + 6 + name.length).toString()).toBe(name)
      at += 6 + name.length
      expect(store.readBigUInt64BE(at)).toBe(1_700_000_000_000n)
      expect(store.subarray(at + 8, at + 15).toString()).toBe('\0\u0005X.509')
      const length = store.readUInt32BE(at + 15)
      const der = store.subarray(at + 19, at + 19 + length)
      expect(der).toEqual(new X509Certificate(pem).raw)
      at += 19 + length
    }
    expect(store.length - at).toBe(20)
  })

  it('ends with the digest by which Java knows that it is whole', () => {
    const password = Buffer.from([...'changeit'].flatMap((letter) => [0, letter.charCodeAt(0)]))
    const digest = createHash('sha1')
      .update(password)
      .update('Mighty Aphrodite')
      .update(store.subarray(0, -20))
    expect(store.subarray(-20)).toEqual(digest.digest())
  })
})

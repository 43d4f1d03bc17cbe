import { createPublicKey, X509Certificate } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type TLSSocket } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createRoot,
  createRunAuthority,
  LEAF_MS,
  newPrivateKey,
} from '../../../src/interception/authority.ts'
import { createLeafCertificate } from '../../../src/interception/certificates.ts'
import * as der from '../../../src/interception/der.ts'

const NOW = Date.now()
const HOST = 'api.example.com'

describe('DER', () => {
  it.each([
    ['a short length', der.octetString(Buffer.alloc(127)).subarray(0, 2), '047f'],
    ['the first long length', der.octetString(Buffer.alloc(128)).subarray(0, 3), '048180'],
    ['a length of two bytes', der.octetString(Buffer.alloc(256)).subarray(0, 4), '04820100'],
    ['zero', der.integer(Buffer.from([0, 0])), '020100'],
    ['an integer without leading zeros', der.integer(Buffer.from([0, 0, 5])), '020105'],
    ['an integer that needs one to stay positive', der.integer(Buffer.from([0x80])), '02020080'],
    ['an object identifier', der.objectIdentifier('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['a bit string', der.bitString(Buffer.from([0x80]), 7), '03020780'],
    [
      'the last year of two digits',
      der.time(Date.UTC(2049, 11, 31, 23, 59, 59)),
      `170d${ascii('491231235959Z')}`,
    ],
    ['the first year of four digits', der.time(Date.UTC(2050, 0, 1)), `180f${ascii('20500101000000Z')}`],
  ])('writes %s', (_, bytes, expected) => {
    expect(bytes.toString('hex')).toBe(expected)
  })
})

describe('certificates', () => {
  it('make a chain that OpenSSL takes: the root signs the leaf, and the leaf is for its host alone', () => {
    const authority = createRunAuthority(() => NOW)
    const leaf = authority.issue(HOST)
    const root = new X509Certificate(authority.trusted())
    const certificate = new X509Certificate(leaf.certificate)

    expect(certificate.verify(root.publicKey)).toBe(true)
    expect(certificate.checkIssued(root)).toBe(true)
    expect(root.ca).toBe(true)
    expect(certificate.ca).toBe(false)
    expect(certificate.checkHost(HOST)).toBe(HOST)
    expect(certificate.checkHost('example.com')).toBeUndefined()
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(Date.parse(certificate.validTo) - NOW).toBeGreaterThan(LEAF_MS - 1000)
    expect(Date.parse(certificate.validTo) - NOW).toBeLessThanOrEqual(LEAF_MS)
  })

  it('are issued by the root of a run for as long as a run may take', () => {
    let now = NOW
    const authority = createRunAuthority(() => now)
    now += 390 * 86_400_000
    const leaf = new X509Certificate(authority.issue(HOST).certificate)
    const root = new X509Certificate(authority.trusted())
    expect(leaf.verify(root.publicKey)).toBe(true)
    expect(Date.parse(root.validTo)).toBeGreaterThanOrEqual(Date.parse(leaf.validTo))
    expect(Date.parse(leaf.validTo) - now).toBeGreaterThan(LEAF_MS - 1000)
  })

  it('give every leaf another serial number, and names too long for a common name are in the alternative name', () => {
    const authority = createRunAuthority(() => NOW)
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`
    const [one, other] = [authority.issue(long), authority.issue(long)].map(
      ({ certificate }) => new X509Certificate(certificate),
    )
    expect(one!.serialNumber).not.toBe(other!.serialNumber)
    expect(one!.checkHost(long)).toBe(long)
  })

  it('are refused by OpenSSL where another root of the same name signed', () => {
    const root = createRoot('same name', newPrivateKey(), NOW, LEAF_MS)
    const other = createRoot('same name', newPrivateKey(), NOW, LEAF_MS)
    const pem = createLeafCertificate(other.issuer, HOST, createPublicKey(newPrivateKey()), {
      notBefore: NOW,
      notAfter: NOW + 1000,
    })
    expect(new X509Certificate(pem).verify(new X509Certificate(root.certificate).publicKey)).toBe(false)
    expect(new X509Certificate(pem).verify(new X509Certificate(other.certificate).publicKey)).toBe(true)
  })

  it('pass the strict checks of the openssl command, where the machine has it', () => {
    const authority = createRunAuthority(() => NOW)
    const folder = mkdtempSync(join(tmpdir(), 'agent-gateway-'))
    try {
      writeFileSync(join(folder, 'root.pem'), authority.trusted())
      writeFileSync(join(folder, 'leaf.pem'), authority.issue(HOST).certificate)
      const args = ['verify', '-x509_strict', '-CAfile', 'root.pem', '-verify_hostname', HOST, 'leaf.pem']
      const said = tryCommand('openssl', args, folder)
      // A machine without the command has the OpenSSL inside Node, which the tests around this one ask.
      expect(said).toMatch(/^leaf\.pem: OK|^no such command/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('are taken by a TLS client that trusts the root, and refused by one that does not, and for another name', async () => {
    const authority = createRunAuthority(() => NOW)
    const { certificate, key } = authority.issue(HOST)
    const server = createServer({ cert: certificate, key }, (socket) => socket.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const ask = (options: { ca?: string; servername: string }) =>
      new Promise<string>((resolve) => {
        const socket: TLSSocket = connect({ port, host: '127.0.0.1', ...options }, () => resolve('trusted'))
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
        socket.on('close', () => socket.destroy())
      })
    try {
      const ca = authority.trusted()
      expect(await ask({ ca, servername: HOST })).toBe('trusted')
      expect(await ask({ ca, servername: 'other.example.com' })).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
      expect(await ask({ servername: HOST })).toMatch(/UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/)
      const stranger = createRunAuthority(() => NOW).trusted()
      expect(await ask({ ca: stranger, servername: HOST })).toMatch(
        /UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_SIGNATURE/,
      )
    } finally {
      server.close()
    }
  })
})

function ascii(text: string): string {
  return Buffer.from(text).toString('hex')
}

function tryCommand(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (thrown) {
    const { code, stderr } = thrown as { code?: string; stderr?: string }
    return code === 'ENOENT' ? 'no such command' : (stderr ?? String(thrown))
  }
}

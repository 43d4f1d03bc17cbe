// What is wrong with a certificate or a key is told when it is stored, in words that quote no key.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CredentialSettings } from '../../../../schemas/credential-settings.ts'
import { tryTls } from '../../../../src/egress/adapters/tls-context.ts'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { createLeakSearch } from '../../../../src/egress/leak/search.ts'
import {
  certificateEndOf,
  CertificateExpired,
  checkCertificateEnd,
  checkTlsIdentity,
  privateTexts,
  tlsIdentityOf,
} from '../../../../src/egress/reach/tls-identity.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { createTestCa, type Leaf, type TestCa } from '../../../support/ca.ts'

const DAY_MS = 86_400_000
const NOW = Date.now()
let ca: TestCa
let otherCa: TestCa
let client: Leaf
let other: Leaf
beforeAll(async () => {
  ;[ca, otherCa] = await Promise.all([createTestCa(), createTestCa()])
  ;[client, other] = await Promise.all([ca.client('worker-1'), ca.client('worker-2')])
})

const partsOf = (texts: Readonly<Record<string, string>>) =>
  new Map(Object.entries(texts).map(([name, text]) => [name, new Secret(text)]))
const pair = (cert: string, key: string) => partsOf({ client_certificate: cert, client_key: key })

function whyRefused(settings: CredentialSettings, texts: Readonly<Record<string, string>>): unknown {
  try {
    checkTlsIdentity(settings, partsOf(texts), { now: NOW, tryTls })
    return 'accepted'
  } catch (thrown) {
    const { code, message, extras } = thrown as {
      code: string
      message: string
      extras: { fields: object[] }
    }
    expect(code).toBe('input_invalid')
    for (const text of Object.values(texts))
      for (const line of text.split('\n').filter((each) => each.length > 20))
        expect(message).not.toContain(line)
    expect(extras.fields).toHaveLength(1)
    return message
  }
}

describe('what is stored for handshakes', () => {
  it('may be an authority, a client certificate with its key, both or neither', async () => {
    const both = { client_certificate: client.cert, client_key: client.key }
    expect(whyRefused({}, { secret: 'upstream-secret-1' })).toBe('accepted')
    expect(whyRefused({ tls: { ca: ca.pem } }, { secret: 'upstream-secret-1' })).toBe('accepted')
    expect(whyRefused({}, both)).toBe('accepted')
    expect(whyRefused({ tls: { ca: `${ca.pem}\n${otherCa.pem}` } }, both)).toBe('accepted')
    const anyUse = await ca.client('worker-3', { usage: 'none' })
    expect(whyRefused({}, { client_certificate: `${anyUse.cert}\n${ca.pem}`, client_key: anyUse.key })).toBe(
      'accepted',
    )
  })

  it.each<[string, () => Promise<[CredentialSettings, Record<string, string>]>, RegExp]>([
    [
      'a certificate that is no authority',
      async () => [{ tls: { ca: client.cert } }, {}],
      /tls\/ca: CN=worker-1 is no certificate authority: send the certificate that issued it \(CN=Agent Gateway test root\)/,
    ],
    [
      'an authority that is no PEM',
      async () => [{ tls: { ca: 'MIIB' } }, {}],
      /tls\/ca: send certificates as PEM/,
    ],
    [
      'half an authority',
      async () => [{ tls: { ca: ca.pem.replace(/\n.*\n/, '\n') } }, {}],
      /tls\/ca: one of the certificates cannot be read/,
    ],
    [
      'a private key where it would be shown',
      async () => [{ tls: { ca: `${ca.pem}\n${client.key}` } }, {}],
      /tls\/ca: there is a private key in it: send that as the part client_key/,
    ],
    [
      'a private key in the part that is public',
      async () => [{}, { client_certificate: `${client.key}\n${client.cert}`, client_key: client.key }],
      /client_certificate: there is a private key in it/,
    ],
    [
      'an expired client certificate',
      async () => {
        const dates = { notBefore: new Date(NOW - 3 * DAY_MS), notAfter: new Date(NOW - DAY_MS) }
        const old = await ca.client('worker-old', dates)
        return [{}, { client_certificate: old.cert, client_key: old.key }]
      },
      /CN=worker-old expired at \d{4}-\d\d-\d\dT.*: send one that is valid/,
    ],
    [
      'a client certificate of tomorrow',
      async () => {
        const early = await ca.client('worker-new', { notBefore: new Date(NOW + DAY_MS / 2) })
        return [{}, { client_certificate: early.cert, client_key: early.key }]
      },
      /CN=worker-new is not valid before/,
    ],
    [
      'a key of another certificate',
      async () => [{}, { client_certificate: client.cert, client_key: other.key }],
      /client_key: this is not the key of the client certificate \(CN=worker-1\)/,
    ],
    [
      'a certificate without its key',
      async () => [{}, { client_certificate: client.cert }],
      /client_key: send the private key/,
    ],
    [
      'a key without its certificate',
      async () => [{}, { client_key: client.key }],
      /client_certificate: send the certificate/,
    ],
    [
      'an encrypted key',
      async () => {
        const key = createPrivateKey(client.key).export({
          format: 'pem',
          type: 'pkcs8',
          cipher: 'aes-256-cbc',
          passphrase: 'x',
        })
        return [{}, { client_certificate: client.cert, client_key: String(key) }]
      },
      /client_key: the key is encrypted: decrypt it first/,
    ],
    [
      'a key that is none',
      async () => [{}, { client_certificate: client.cert, client_key: 'not a key at all, really' }],
      /client_key: send one private key as PEM/,
    ],
    [
      'a certificate of a server',
      async () => {
        const server = await ca.client('server-1', { usage: 'server' })
        return [{}, { client_certificate: server.cert, client_key: server.key }]
      },
      /CN=server-1 was not issued for client authentication/,
    ],
    [
      'a chain in the wrong order',
      async () => [{}, { client_certificate: `${ca.pem}\n${client.cert}`, client_key: client.key }],
      /put the client's own first/,
    ],
    [
      'a chain of strangers',
      async () => [{}, { client_certificate: `${client.cert}\n${otherCa.pem}`, client_key: client.key }],
      /certificate 2 .* did not issue the one before it/,
    ],
    [
      'a key that is called public',
      async () => [
        { parts: { client_certificate: 'public', client_key: 'public' } },
        { client_certificate: client.cert, client_key: client.key },
      ],
      /client_key is secret, always/,
    ],
    [
      'a key that is too short for OpenSSL',
      async () => {
        const weak = await ca.client('worker-weak', { rsaBits: 1024 })
        return [{}, { client_certificate: weak.cert, client_key: weak.key }]
      },
      /client_certificate: OpenSSL does not take it \(ERR_SSL_EE_KEY_TOO_SMALL\)/,
    ],
  ])('is not %s', async (_what, make, words) => {
    const [settings, texts] = await make()
    expect(whyRefused(settings, texts)).toMatch(words)
  })
})

describe('a handshake', () => {
  it("is everybody's where a credential brings nothing", () => {
    expect(tlsIdentityOf({}, partsOf({ secret: 'upstream-secret-1' }))).toBeUndefined()
  })

  it('is not tried with a certificate that has expired since it was stored', () => {
    const identity = tlsIdentityOf({}, pair(client.cert, client.key))
    expect(identity).toMatchObject({ certificate: client.cert, ca: undefined })
    const endsAt = certificateEndOf(identity)
    expect(() => checkCertificateEnd(endsAt, NOW)).not.toThrow()
    expect(() => checkCertificateEnd(endsAt, NOW + 30 * DAY_MS)).toThrow(CertificateExpired)
  })
})

describe('a private key in an answer', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const ed25519 = generateKeyPairSync('ed25519').privateKey
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const pemOf = (key: typeof rsa, type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8') =>
    String(key.export({ format: 'pem', type: type as 'pkcs8' }))
  const inspect = (pem: string, body: string | Buffer) =>
    createLeakSearch({ secrets: privateTexts(partsOf({ client_key: pem })), scheme: '' }).inspect(
      { statusText: 'OK', headers: [], body: Buffer.from(body) },
      createBudget(1e9),
    )

  it.each([
    ['RSA', rsa, 'pkcs8'],
    ['RSA in PKCS #1', rsa, 'pkcs1'],
    ['P-256', p256, 'pkcs8'],
    ['P-256 in SEC 1', p256, 'sec1'],
    ['Ed25519', ed25519, 'pkcs8'],
  ] as const)('is found as PEM, as PEM in JSON, as JWK and as bytes: %s', (_kind, key, type) => {
    const pem = pemOf(key, type)
    for (const body of [pem, JSON.stringify({ key: pem }), JSON.stringify(key.export({ format: 'jwk' }))])
      expect(inspect(pem, body)).toMatchObject({ ok: false, reason: 'reflected' })
    expect(inspect(pem, pem.replace(/-----[^-]+-----|\s/g, ''))).toMatchObject({ ok: false })
  })

  it('is not taken for another key of its kind, nor for its own certificate', () => {
    for (const [key, make] of [
      [rsa, () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
      [p256, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
      [ed25519, () => generateKeyPairSync('ed25519').privateKey],
    ] as const)
      expect(inspect(pemOf(key), pemOf(make()))).toEqual({ ok: true })
    expect(inspect(client.key, client.cert)).toEqual({ ok: true })
  })
})

// A certificate authority for one test run: a fresh root, and leaf certificates for whatever names a test needs.
import 'reflect-metadata'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as x509 from '@peculiar/x509'

export interface Leaf {
  /** PEM, as tls.createServer takes them. */
  readonly key: string
  readonly cert: string
}

export interface TestCa {
  /** PEM of the root: what a client must trust. */
  readonly pem: string
  /** A leaf for the given DNS names and IP addresses; the first name is also the common name. */
  leaf(...names: string[]): Promise<Leaf>
  /** A certificate for a client of this name. */
  client(name: string, options?: ClientOptions): Promise<Leaf>
  /** An authority below this one; the certificates of its leaves bring its own along. */
  below(): Promise<Pick<TestCa, 'pem' | 'leaf'>>
  /** Writes the root to `<directory>/ca.pem`, for NODE_EXTRA_CA_CERTS of a child process. */
  write(directory: string): Promise<string>
}

export interface ClientOptions {
  readonly notBefore?: Date
  readonly notAfter?: Date
  readonly usage?: 'client' | 'server' | 'none'
  /** An RSA key of this length instead of P-256. */
  readonly rsaBits?: number
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const HOUR_MS = 3_600_000
const IP = /^[\d.]+$|:/

export async function createTestCa(): Promise<TestCa> {
  x509.cryptoProvider.set(crypto)
  const rootKeys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const validity = {
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + 24 * HOUR_MS),
  }
  const root = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serial(),
      name: 'CN=Agent Gateway test root',
      ...validity,
      signingAlgorithm: ALGORITHM,
      keys: rootKeys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 1, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(rootKeys.publicKey, false, crypto),
      ],
    },
    crypto,
  )
  const pem = root.toString('pem')

  async function issue(
    subject: string,
    extensions: x509.Extension[],
    dates = validity,
    rsaBits?: number,
    by = { issuer: root.subject, signingKey: rootKeys.privateKey },
  ): Promise<Leaf> {
    const publicExponent = new Uint8Array([1, 0, 1])
    const keys = await crypto.subtle.generateKey(
      rsaBits === undefined
        ? ALGORITHM
        : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: rsaBits, publicExponent },
      true,
      ['sign', 'verify'],
    )
    const cert = await x509.X509CertificateGenerator.create(
      {
        serialNumber: serial(),
        subject: `CN=${subject}`,
        ...by,
        ...dates,
        signingAlgorithm: ALGORITHM,
        publicKey: keys.publicKey,
        extensions,
      },
      crypto,
    )
    const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
    return { key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'), cert: cert.toString('pem') }
  }

  return {
    pem,
    leaf: (...names) => issue(IP.test(names[0]!) ? 'test' : names[0]!, extensionsOf(names)),
    client(name, { usage = 'client', rsaBits, ...dates } = {}) {
      const uses = { client: x509.ExtendedKeyUsage.clientAuth, server: x509.ExtendedKeyUsage.serverAuth }
      const extensions = usage === 'none' ? [] : [new x509.ExtendedKeyUsageExtension([uses[usage]])]
      return issue(name, extensions, { ...validity, ...dates }, rsaBits)
    },
    async below() {
      const { key, cert } = await issue('Agent Gateway test authority', [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ])
      const signingKey = await crypto.subtle.importKey(
        'pkcs8',
        x509.PemConverter.decodeFirst(key),
        ALGORITHM,
        true,
        ['sign'],
      )
      const { subject: issuer } = new x509.X509Certificate(cert)
      return {
        pem: cert,
        async leaf(...names) {
          const leaf = await issue(names[0]!, extensionsOf(names), validity, undefined, {
            issuer,
            signingKey,
          })
          return { ...leaf, cert: `${leaf.cert}\n${cert}` }
        },
      }
    },
    async write(directory) {
      const file = join(directory, 'ca.pem')
      await writeFile(file, pem)
      return file
    },
  }
}

/** Of a server of these names. */
const extensionsOf = (names: readonly string[]): x509.Extension[] => [
  new x509.SubjectAlternativeNameExtension(
    names.map((value) => ({ type: IP.test(value) ? ('ip' as const) : ('dns' as const), value })),
  ),
  new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
]

/** Positive and without a leading zero byte, which DER would not allow. */
const serial = () => `01${Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')}`

// A throw-away certificate authority for the sample site. Its key never leaves the process, and nothing but the
// sandbox's own sender trusts it.
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

export interface ServerCertificate {
  /** PEM: the authority that signed it. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 86_400_000

/**
 * A new authority and a certificate of it for this host, both good for 30 days.
 * @param now milliseconds
 */
export async function issueCertificate(host: string, now: number): Promise<ServerCertificate> {
  x509.cryptoProvider.set(crypto)
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + 30 * DAY_MS) }
  const caKeys = await generateKeys()
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Agent Gateway sandbox',
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  })
  const keys = await generateKeys()
  const leaf = await x509.X509CertificateGenerator.create({
    subject: `CN=${host}`,
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  })
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    ca: ca.toString('pem'),
    cert: leaf.toString('pem'),
    key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'),
  }
}

const generateKeys = () =>
  crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<CryptoKeyPair>

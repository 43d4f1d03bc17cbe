// X.509 certificates (RFC 5280) of the two kinds that interception needs: a root that signs nothing but leaves, and a leaf for one host.
// Both hold P-256 keys and are signed with ECDSA and SHA-256. Strict clients (Python 3.13, Go) want every extension that is here.
import { createPrivateKey, createPublicKey, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import * as der from './der.ts'

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
} as const

/** From the left: digital signature 0, signing of certificates 5, of revocation lists 6 (RFC 5280, 4.2.1.3). */
const DIGITAL_SIGNATURE = der.bitString(Buffer.from([0b1000_0000]), 7)
const SIGNS_CERTIFICATES = der.bitString(Buffer.from([0b0000_0110]), 1)

const SERIAL_BYTES = 16
/** RFC 5280, A.1: the upper bound of a common name. */
const MAX_COMMON_NAME = 64

/** Milliseconds since the epoch. */
export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

export interface Issuer {
  readonly commonName: string
  readonly privateKey: KeyObject
}

/** @returns a self-signed certificate in PEM that may sign leaves, and no further authority */
export function createRootCertificate({ commonName, privateKey }: Issuer, validity: Validity): string {
  const publicKey = createPublicKey(privateKey)
  return signCertificate({
    issuer: { commonName, privateKey },
    subject: commonName,
    publicKey,
    validity,
    extensions: [
      extension(OID.basicConstraints, true, der.sequence(der.boolean(true), der.integer(Buffer.from([0])))),
      extension(OID.keyUsage, true, SIGNS_CERTIFICATES),
      extension(OID.subjectKeyIdentifier, false, der.octetString(keyIdentifier(publicKey))),
    ],
  })
}

/**
 * @param host a name in lower-case ASCII
 * @returns a certificate in PEM with which a server speaks for this host alone
 */
export function createLeafCertificate(
  issuer: Issuer,
  host: string,
  publicKey: KeyObject,
  validity: Validity,
): string {
  return signCertificate({
    issuer,
    // Clients look at the alternative name; this is what people see.
    subject: host.length > MAX_COMMON_NAME ? 'intercepted host' : host,
    publicKey,
    validity,
    extensions: [
      extension(OID.basicConstraints, true, der.sequence()),
      extension(OID.keyUsage, true, DIGITAL_SIGNATURE),
      extension(OID.extendedKeyUsage, false, der.sequence(der.objectIdentifier(OID.serverAuthentication))),
      extension(OID.subjectAlternativeName, false, der.sequence(der.value(DNS_NAME, Buffer.from(host)))),
      extension(OID.subjectKeyIdentifier, false, der.octetString(keyIdentifier(publicKey))),
      extension(
        OID.authorityKeyIdentifier,
        false,
        der.sequence(der.value(KEY_IDENTIFIER, keyIdentifier(createPublicKey(issuer.privateKey)))),
      ),
    ],
  })
}

/** `dNSName [2]` of a general name, and `keyIdentifier [0]`. */
const DNS_NAME = 0x82
const KEY_IDENTIFIER = 0x80

function signCertificate(parts: {
  readonly issuer: Issuer
  readonly subject: string
  readonly publicKey: KeyObject
  readonly validity: Validity
  readonly extensions: readonly Buffer[]
}): string {
  const { issuer, subject, publicKey, validity, extensions } = parts
  const algorithm = der.sequence(der.objectIdentifier(OID.ecdsaWithSha256))
  const toBeSigned = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))), // version 3
    der.integer(newSerial()),
    algorithm,
    nameOf(issuer.commonName),
    der.sequence(der.time(validity.notBefore), der.time(validity.notAfter)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...extensions)),
  )
  const signature = sign('sha256', toBeSigned, issuer.privateKey)
  return toPem(der.sequence(toBeSigned, algorithm, der.bitString(signature)))
}

/** Random, positive and never zero (RFC 5280, 4.1.2.2). */
function newSerial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = 0x40 | ((bytes[0] ?? 0) & 0x3f)
  return bytes
}

const nameOf = (commonName: string) =>
  der.sequence(der.set(der.sequence(der.objectIdentifier(OID.commonName), der.utf8String(commonName))))

/** An extension that is not critical leaves the word out: false is the default, and DER has no defaults. */
const extension = (oid: string, isCritical: boolean, content: Buffer) =>
  der.sequence(
    der.objectIdentifier(oid),
    ...(isCritical ? [der.boolean(true)] : []),
    der.octetString(content),
  )

/** RFC 7093, 2: the first 160 bits of a SHA-256 digest. */
const keyIdentifier = (publicKey: KeyObject) =>
  hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'buffer').subarray(0, 20)

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

/** @returns the private key, from what `exportPrivateKey` gave */
export const importPrivateKey = (base64: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'pkcs8' })

export const exportPrivateKey = (key: KeyObject): string =>
  key.export({ type: 'pkcs8', format: 'der' }).toString('base64')

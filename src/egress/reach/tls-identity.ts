// What a credential brings to the TLS handshake: an authority of its own, a client certificate with its key. Mistakes in them are
// told when they are stored, in words, instead of by a handshake that fails at every request.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { Secret } from '../../lib/secret.ts'
import type { SecretParts, TlsIdentity, TlsTrial } from '../ports.ts'

/** Parts of a credential that go into the handshake and never into a request. The certificate is renewed with its key. */
export const CLIENT_CERTIFICATE = 'client_certificate'
export const CLIENT_KEY = 'client_key'

export const isTlsPart = (name: string) => name === CLIENT_CERTIFICATE || name === CLIENT_KEY

/** The parts that go into a request. */
export const withoutTlsParts = (parts: SecretParts): SecretParts =>
  new Map([...parts].filter(([name]) => !isTlsPart(name)))

/** The settings as those see them who put parts into a request. */
export function withoutTlsSettings(settings: CredentialSettings): CredentialSettings {
  const { parts, ...others } = settings
  if (!parts) return settings
  const left = Object.entries(parts).filter(([name]) => !isTlsPart(name))
  return left.length === 0 ? others : { ...others, parts: Object.fromEntries(left) }
}

/** Whether the client certificate is all that there is: nothing is put into a request then. */
export const isTlsAlone = ({ parts }: CredentialSettings): boolean =>
  parts !== undefined && Object.keys(parts).every(isTlsPart)

/** RFC 7468, 2 */
const PEM_LINE = 64
/** Characters; a shorter piece of a line is in too many answers by chance. */
const MIN_PIECE = 16

export class CertificateExpired extends Error {}

/** @returns undefined where the credential brings nothing: its handshakes are those of everybody */
export function tlsIdentityOf(settings: CredentialSettings, parts: SecretParts): TlsIdentity | undefined {
  const certificate = parts.get(CLIENT_CERTIFICATE)?.use((text) => text)
  const ca = settings.tls?.ca
  if (certificate === undefined && ca === undefined) return undefined
  return { ca, certificate, key: parts.get(CLIENT_KEY) }
}

/** @returns when the client certificate ends, in milliseconds since the epoch; undefined where there is none */
export function certificateEndOf(identity: TlsIdentity | undefined): number | undefined {
  const [leaf] = identity?.certificate === undefined ? [] : readCertificates(identity.certificate)
  return leaf && Date.parse(leaf.validTo)
}

/** @throws {CertificateExpired} since a server would refuse it after the request has left */
export function checkCertificateEnd(endsAt: number | undefined, now: number): void {
  if (endsAt !== undefined && endsAt <= now)
    throw new CertificateExpired(`the client certificate expired at ${new Date(endsAt).toISOString()}`)
}

/**
 * What of a private key must not come back in an answer: its private numbers, as JWK has them and as they stand in the PEM text.
 * The rest of the text is the same for every key of its kind, or is the public key.
 */
export function privateTexts(parts: SecretParts): readonly Secret<string>[] {
  const key = parts.get(CLIENT_KEY)
  if (!key) return []
  return key.use((pem) => {
    const { d, p, q } = createPrivateKey(pem).export({ format: 'jwk' })
    const base64 = pem.replace(/-----[^-]+-----|\s/g, '')
    const bytes = Buffer.from(base64, 'base64')
    const texts = [d, p, q].flatMap((number) => {
      if (typeof number !== 'string') return []
      const value = Buffer.from(number, 'base64url')
      const at = bytes.indexOf(value)
      if (at < 0) return [number]
      // The characters that hold bits of the number alone, whole and as the lines of PEM break them.
      const [from, to] = [Math.ceil((at * 4) / 3), Math.floor(((at + value.length) * 4) / 3)]
      const pieces = [base64.slice(from, to)]
      for (let line = from - (from % PEM_LINE); line < to; line += PEM_LINE)
        pieces.push(base64.slice(Math.max(from, line), Math.min(to, line + PEM_LINE)))
      return [number, ...pieces.filter((piece) => piece.length >= MIN_PIECE)]
    })
    return texts.map((text) => new Secret(text))
  })
}

/**
 * Whether these can make a handshake, as far as they tell by themselves.
 * @throws {GatewayError} input_invalid; its words quote subjects and dates, never a key
 */
export function checkTlsIdentity(
  settings: CredentialSettings,
  parts: SecretParts,
  { now, tryTls }: { readonly now: number; readonly tryTls: TlsTrial },
): void {
  checkAuthorities(settings.tls?.ca, now)
  const certificate = parts.get(CLIENT_CERTIFICATE)
  const key = parts.get(CLIENT_KEY)
  if (!certificate && !key) return checkTrial(settings, parts, tryTls)
  if (!certificate)
    throw refused(`/parts/${CLIENT_CERTIFICATE}`, 'send the certificate of the client key, too')
  if (!key) throw refused(`/parts/${CLIENT_KEY}`, 'send the private key of the client certificate, too')
  if (settings.parts?.[CLIENT_KEY] === 'public')
    throw refused('/settings/parts', `${CLIENT_KEY} is secret, always`)
  const leaf = certificate.use((text) => checkClientCertificate(text, now))
  if (!leaf.checkPrivateKey(readKey(key)))
    throw refused(
      `/parts/${CLIENT_KEY}`,
      `this is not the key of the client certificate (${nameOf(leaf)}): send the two that were made together`,
    )
  checkTrial(settings, parts, tryTls)
}

function checkAuthorities(ca: string | undefined, now: number): void {
  if (ca === undefined) return
  for (const certificate of readChain('/settings/tls/ca', ca)) {
    const isSelfSigned = certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey)
    if (!certificate.ca && !isSelfSigned)
      throw refused(
        '/settings/tls/ca',
        `${nameOf(certificate)} is no certificate authority: send the certificate that issued it (${issuerOf(certificate)})`,
      )
    checkDates('/settings/tls/ca', certificate, now)
  }
}

function checkClientCertificate(text: string, now: number): X509Certificate {
  const pointer = `/parts/${CLIENT_CERTIFICATE}`
  const chain = readChain(pointer, text)
  const [leaf] = chain
  if (!leaf) throw refused(pointer, NOT_PEM)
  for (const [i, certificate] of chain.entries()) {
    checkDates(pointer, certificate, now)
    const issuer = chain[i + 1]
    if (issuer && !(certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)))
      throw refused(
        pointer,
        `certificate ${i + 2} (${nameOf(issuer)}) did not issue the one before it (${nameOf(certificate)}): put the client's own ` +
          'first, then each issuer',
      )
  }
  if (leaf.ca && chain.length > 1)
    throw refused(
      pointer,
      `the first certificate (${nameOf(leaf)}) is an authority: put the client's own first`,
    )
  const uses: readonly string[] | undefined = leaf.keyUsage
  if (uses && !uses.includes(CLIENT_AUTHENTICATION) && !uses.includes(ANY_USE))
    throw refused(pointer, `${nameOf(leaf)} was not issued for client authentication: ask for one that is`)
  return leaf
}

/** RFC 5280, 4.2.1.12 */
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2'
const ANY_USE = '2.5.29.37.0'
const NOT_PEM = 'send certificates as PEM text, from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----'

function checkDates(pointer: string, certificate: X509Certificate, now: number): void {
  if (Date.parse(certificate.validTo) <= now)
    throw refused(
      pointer,
      `${nameOf(certificate)} expired at ${toDate(certificate.validTo)}: send one that is valid`,
    )
  if (Date.parse(certificate.validFrom) > now)
    throw refused(pointer, `${nameOf(certificate)} is not valid before ${toDate(certificate.validFrom)}`)
}

function readChain(pointer: string, text: string): readonly X509Certificate[] {
  // Settings are shown in lists, and the certificate is not searched for in answers.
  if (/PRIVATE KEY-----/.test(text))
    throw refused(
      pointer,
      `there is a private key in it: send that as the part ${CLIENT_KEY}, and certificates alone here`,
    )
  let chain: readonly X509Certificate[]
  try {
    chain = readCertificates(text)
  } catch {
    throw refused(pointer, 'one of the certificates cannot be read: is it all there?')
  }
  if (chain.length === 0) throw refused(pointer, NOT_PEM)
  return chain
}

const readCertificates = (text: string): readonly X509Certificate[] =>
  (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  )

function readKey(key: Secret<string>): KeyObject {
  return key.use((text) => {
    if (/ENCRYPTED/.test(text))
      throw refused(
        `/parts/${CLIENT_KEY}`,
        'the key is encrypted: decrypt it first (openssl pkey -in key.pem)',
      )
    try {
      return createPrivateKey(text)
    } catch {
      // The words of OpenSSL may quote what it was given.
      throw refused(`/parts/${CLIENT_KEY}`, 'send one private key as PEM text (PKCS #8, PKCS #1 or SEC 1)')
    }
  })
}

/** OpenSSL has rules of its own, such as how short a key may be. */
function checkTrial({ tls }: CredentialSettings, parts: SecretParts, tryTls: TlsTrial): void {
  const certificate = parts.get(CLIENT_CERTIFICATE)?.use((text) => text)
  const refusal = tryTls({ ca: tls?.ca, certificate, key: parts.get(CLIENT_KEY) })
  if (refusal === undefined) return
  const pointer = certificate === undefined ? '/settings/tls/ca' : `/parts/${CLIENT_CERTIFICATE}`
  throw refused(pointer, `OpenSSL does not take it (${refusal})`)
}

const nameOf = ({ subject }: X509Certificate) => oneLine(subject)
const issuerOf = ({ issuer }: X509Certificate) => oneLine(issuer)
const oneLine = (name: string | undefined) => (name ?? 'without a name').replaceAll('\n', ', ').slice(0, 200)
const toDate = (text: string) => new Date(text).toISOString()

const refused = (pointer: string, message: string) =>
  new GatewayError('input_invalid', `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })

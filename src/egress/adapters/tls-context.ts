// The contexts that TLS handshakes are made with: everybody's, and those of credentials that bring something of their own.
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import type { TlsIdentity, TlsTrial } from '../ports.ts'

const MIN_VERSION = { minVersion: 'TLSv1.2' } as const

/**
 * @param extra PEM of authorities besides the default ones; for tests
 * @returns the context of a request; one lives as long as the opened credential that it is made of
 */
export function createContexts(
  extra: readonly string[] | undefined,
): (tls: TlsIdentity | undefined) => SecureContext {
  // Node takes its default store where no `ca` is given; NODE_EXTRA_CA_CERTS is part of that store.
  const everybodys = extra ? { ca: [...rootCertificates, ...extra] } : {}
  const shared = createSecureContext({ ...MIN_VERSION, ...everybodys })
  const own = new WeakMap<TlsIdentity, SecureContext>()
  return (tls) => {
    if (!tls) return shared
    const known = own.get(tls)
    if (known) return known
    const made = createOwn(tls, everybodys)
    own.set(tls, made)
    return made
  }
}

function createOwn({ ca, certificate, key }: TlsIdentity, everybodys: { ca?: string[] }): SecureContext {
  const options = {
    ...MIN_VERSION,
    // An authority that is below another one counts by itself: nobody has to trust all that the other one signs.
    ...(ca === undefined ? everybodys : { ca, allowPartialTrustChain: true }),
    ...(certificate !== undefined && { cert: certificate }),
  }
  return key ? key.use((pem) => createSecureContext({ ...options, key: pem })) : createSecureContext(options)
}

/** Asks OpenSSL, whose words may quote what it was given: its code goes on alone. */
export const tryTls: TlsTrial = (tls) => {
  try {
    createOwn(tls, {})
    return undefined
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
  }
}

// The TLS context of each host, remembered while its certificate is good: making one costs as much as a handshake.
import { createSecureContext, type SecureContext } from 'node:tls'
import { type CertificateAuthority, LEAF_MS } from '../../interception/authority.ts'
import { keepNewest } from '../../lib/keep-newest.ts'

const MAX_HOSTS = 1_000

/** @returns the context with which a server speaks for the host */
export function createLeafContexts(
  authority: Pick<CertificateAuthority, 'issue'>,
  now: () => number,
  maxHosts = MAX_HOSTS,
): (host: string) => SecureContext {
  const known = new Map<string, { readonly context: SecureContext; readonly renewAt: number }>()
  return (host) => {
    const found = known.get(host)
    if (found && found.renewAt > now()) {
      // Set again, it is the newest: what nobody asks for goes first.
      known.delete(host)
      known.set(host, found)
      return found.context
    }
    const { certificate, key, notAfter } = authority.issue(host)
    const context = createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' })
    known.delete(host)
    // A connection may live for long, and a clock may be behind: half of its life is left when it is followed by another.
    known.set(host, { context, renewAt: notAfter - LEAF_MS / 2 })
    keepNewest(known, maxHosts)
    return context
  }
}

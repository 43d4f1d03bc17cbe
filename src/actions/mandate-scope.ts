// Whether a mandate lets this one request under this one credential be prepared. Counters are the store's to judge: only
// there are they taken and compared at once.
import { coversHost, coversPath, type ScopedRequest } from '../egress/scope.ts'
import type { Mandate } from '../store/ports.ts'

/** The reason why a preparation is refused for want of a mandate: the word that callers see as `refused`. */
export type MandateRefusal =
  'missing' | 'not_found' | 'revoked' | 'expired' | 'used_up' | 'credential' | 'host' | 'path' | 'method'

export type MandateVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: Exclude<MandateRefusal, 'missing' | 'not_found'> }

/** Gives the first of several reasons: what ended the mandate comes before what it never covered. */
export function checkMandate(
  mandate: Omit<Mandate, 'id' | 'accountId' | 'createdAt' | 'calls' | 'credits'>,
  asked: ScopedRequest & { readonly credentialId: string },
  now: number,
): MandateVerdict {
  const refuse = (reason: Exclude<MandateRefusal, 'missing' | 'not_found'>) =>
    ({ ok: false, reason }) as const
  if (mandate.revokedAt !== null) return refuse('revoked')
  if (mandate.expiresAt <= now) return refuse('expired')
  if (mandate.credentialId !== asked.credentialId) return refuse('credential')
  if (!coversHost(mandate.host, asked.host, asked.port)) return refuse('host')
  if (!coversPath(mandate.pathPrefix, asked.path)) return refuse('path')
  if (!mandate.methods.includes(asked.method)) return refuse('method')
  return { ok: true }
}

// Permits that this process prepared and nobody has shown yet, by the hash that their rows hold. Only what never changes in a row
// is kept: enough to ask the store for the execution, which judges the row as it stands. Whatever is not here is read.
import { keepNewest } from '../lib/keep-newest.ts'
import type { NewPermit, Permit } from '../store/ports.ts'

/** The part of a permit that an execution needs, none of which changes as long as there is a row. */
export type PreparedPermit = Pick<
  Permit,
  'id' | 'accountId' | 'mandateId' | 'credentialId' | 'credentialVersion' | 'requestDigest'
>

export interface PreparedPermits {
  /** Keeps a permit that is stored and waits for nobody. */
  keep(permit: NewPermit): void
  /** Gives a permit once: whoever comes after that is told by the row. */
  take(tokenSha256: string): PreparedPermit | undefined
}

/** Permits last five minutes and most are shown within one: those beyond are the oldest. */
const MAX_KEPT = 5_000

/** @param max permits that are kept at most; the oldest are forgotten first, and the store is asked for them */
export function createPreparedPermits(max: number = MAX_KEPT): PreparedPermits {
  const kept = new Map<string, PreparedPermit>()
  return {
    keep({ tokenSha256, id, accountId, mandateId, credentialId, credentialVersion, requestDigest }) {
      kept.set(tokenSha256, { id, accountId, mandateId, credentialId, credentialVersion, requestDigest })
      keepNewest(kept, max)
    },
    take(tokenSha256) {
      const permit = kept.get(tokenSha256)
      if (permit) kept.delete(tokenSha256)
      return permit
    },
  }
}

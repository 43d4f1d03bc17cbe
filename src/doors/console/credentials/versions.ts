// Which versions of a credential calls were made with lately: whether the one before the newest is still in use anywhere.
import type { SignedInRequest } from '../ports.ts'

export interface VersionUse {
  readonly version: number
  readonly calls: number
  /** Milliseconds since the epoch. */
  readonly lastAt: number
}

/** A page of calls, out of the last ones of the account. */
const COUNTED = 100
const LOOKED_AT = 1_000

/** Newest version first. */
export async function usesOf(
  { console: { store }, signedIn }: SignedInRequest,
  credentialId: string,
): Promise<readonly VersionUse[]> {
  const { items } = await store.searchAttempts(
    { accountId: signedIn.accountId, credentialId },
    { limit: COUNTED, lookAt: LOOKED_AT },
  )
  const byVersion = Map.groupBy(items, ({ credentialVersion }) => credentialVersion ?? 0)
  return [...byVersion]
    .map(([version, calls]) => ({
      version,
      calls: calls.length,
      lastAt: Math.max(...calls.map(({ createdAt }) => createdAt)),
    }))
    .toSorted((a, b) => b.version - a.version)
}

/** As long as answers are searched for a secret that was replaced (egress/leak/previous-secrets.ts). */
const SOUGHT_MS = 30 * 24 * 3_600_000

/** Until when answers are searched for the secret before the one in use; null where there is none, or no more. */
export function soughtUntil(rotatedAt: string | null, now: number): number | null {
  const until = rotatedAt === null ? 0 : Date.parse(rotatedAt) + SOUGHT_MS
  return until > now ? until : null
}

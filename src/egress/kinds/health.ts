// How the minting of tokens from a credential goes: when one was minted, and why the last exchange failed. Facts alone, never a token.
import type { TokenHealth } from '../../../schemas/egress.ts'
import { isObject } from '../../lib/json.ts'
import { toTimestampOrNull } from '../../lib/timestamp.ts'
import type { MintedRow } from '../../store/ports.ts'

/** @param row undefined where nothing was ever minted */
export function describeTokens(row: MintedRow | undefined, now: number): TokenHealth {
  return {
    state: stateOf(row, now),
    minted_at: toTimestampOrNull(row?.mintedAt ?? null),
    usable_until: toTimestampOrNull(row?.usableUntil ?? null),
    failures: row?.failures ?? 0,
    retry_at: toTimestampOrNull(row?.retryAt ?? null),
    failure: readFailure(row?.failure ?? null),
  }
}

function stateOf(row: MintedRow | undefined, now: number): TokenHealth['state'] {
  if (!row) return 'none'
  if (row.failures > 0) return 'failing'
  if (row.claim !== null && (row.claimedUntil ?? 0) > now) return 'minting'
  if (row.sealed === null) return 'none'
  return (row.usableUntil ?? 0) > now ? 'ready' : 'ended'
}

/** `StoredFailure` as the minter writes it. */
function readFailure(json: string | null): TokenHealth['failure'] {
  const facts: unknown = json === null ? undefined : JSON.parse(json)
  if (!isObject(facts) || typeof facts['reason'] !== 'string') return null
  const { reason, host, status, oauthError } = facts
  return {
    reason,
    host: typeof host === 'string' ? host : '',
    status: typeof status === 'number' ? status : null,
    oauth_error: typeof oauthError === 'string' ? oauthError : null,
  }
}

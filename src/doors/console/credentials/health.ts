// How a credential that mints tokens is doing: when one was minted, when the last exchange failed and why. Never a token.
import type { CredentialMetadata } from '../../../../schemas/egress.ts'
import { isObject } from '../../../lib/json.ts'
import type { MintedRow } from '../../../store/ports.ts'
import type { ConsoleParts } from '../ports.ts'

export interface Health {
  /** `none`: nothing was minted yet; `ended`: the next call mints another. */
  readonly state: 'none' | 'good' | 'ended' | 'busy' | 'bad'
  readonly mintedAt: number | null
  readonly usableUntil: number | null
  readonly failures: number
  readonly retryAt: number | null
  /** Of the last failure: a word of texts/credentials.ts, the host that was asked, its status, the error code of the standard. */
  readonly reason: string | null
  readonly host: string | null
  readonly status: number | null
  readonly oauthError: string | null
}

/** @returns null where it mints nothing, or is revoked */
export async function healthOf(
  { store, now }: Pick<ConsoleParts, 'store' | 'now'>,
  accountId: string,
  {
    credential_id,
    settings,
    revoked_at,
  }: Pick<CredentialMetadata, 'credential_id' | 'settings' | 'revoked_at'>,
): Promise<Health | null> {
  const { kind } = settings
  if (revoked_at !== null || !isObject(kind) || kind['type'] === 'hmac' || kind['type'] === 'aws_sigv4')
    return null
  const row = await store.getMintedTokens(credential_id, accountId)
  if (!row) return NOTHING
  const failure = readFailure(row.failure)
  return {
    state: stateOf(row, now()),
    mintedAt: row.mintedAt,
    usableUntil: row.usableUntil,
    failures: row.failures,
    retryAt: row.retryAt,
    ...failure,
  }
}

function stateOf(row: MintedRow, now: number): Health['state'] {
  if (row.failures > 0) return 'bad'
  if (row.claim !== null && (row.claimedUntil ?? 0) > now) return 'busy'
  if (row.sealed === null) return 'none'
  return (row.usableUntil ?? 0) > now ? 'good' : 'ended'
}

function readFailure(json: string | null): Pick<Health, 'reason' | 'host' | 'status' | 'oauthError'> {
  const facts: unknown = json === null ? undefined : JSON.parse(json)
  const { reason, host, status, oauthError } = isObject(facts) ? facts : {}
  return {
    reason: typeof reason === 'string' ? reason : null,
    host: typeof host === 'string' ? host : null,
    status: typeof status === 'number' ? status : null,
    oauthError: typeof oauthError === 'string' ? oauthError : null,
  }
}

const NOTHING: Health = {
  state: 'none',
  mintedAt: null,
  usableUntil: null,
  failures: 0,
  retryAt: null,
  reason: null,
  host: null,
  status: null,
  oauthError: null,
}

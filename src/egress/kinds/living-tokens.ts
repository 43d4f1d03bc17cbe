// What was minted from a secret that is about to be replaced. Its issuer lets it live on, whatever becomes of the secret here.
import { GatewayError } from '../../core/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { MintedRow } from '../../store/ports.ts'
import { type PreviousSecret, soughtUntil } from '../leak/previous-secrets.ts'
import type { SecretParts } from '../ports.ts'
import { createTokenSeal, type KeptTokens } from './token-seal.ts'

/** The part of a credential that a provider may replace at each exchange: the newest is among the minted tokens then. */
export const REFRESH_TOKEN_PART = 'refresh_token'

/**
 * @param parts of the secret that they were minted from
 * @returns undefined where there are none, or the row is of another secret
 * @throws where the row is not what was sealed
 */
export function openTokens(row: MintedRow | undefined, parts: SecretParts): KeptTokens | undefined {
  if (!row?.sealed) return undefined
  const seal = createTokenSeal(parts)
  return row.keyId === seal.keyId ? seal.open(row.sealed, row) : undefined
}

/**
 * @param parts of the secret that they were minted from
 * @returns the newest first; none where the row is of another secret, or is not what was sealed
 */
export function livingTokens(
  row: MintedRow | undefined,
  parts: SecretParts,
  now: number,
): readonly PreviousSecret[] {
  let tokens: KeptTokens | undefined
  try {
    tokens = openTokens(row, parts)
  } catch {
    // It cannot be used either, and must not keep anybody from replacing the secret.
  }
  if (!tokens) return []
  const { accessToken, expiresAt, refreshToken, previous } = tokens
  return [
    ...(accessToken ? [{ secret: accessToken, soughtUntil: soughtUntil(expiresAt, now) }] : []),
    ...(refreshToken ? [{ secret: refreshToken, soughtUntil: soughtUntil(undefined, now) }] : []),
    ...previous.map((before) => ({ secret: before.token, soughtUntil: before.expiresAt })),
  ]
}

/**
 * @param parts of the secret that is replaced
 * @returns what the provider gave last, or what was stored where it never gave another
 * @throws {GatewayError} credential_unavailable where nobody can tell which is the newest
 */
export function newestRefreshToken(row: MintedRow | undefined, parts: SecretParts): Secret<string> {
  try {
    const newest = openTokens(row, parts)?.refreshToken ?? parts.get(REFRESH_TOKEN_PART)
    if (newest) return newest
  } catch (cause) {
    throw refreshTokenUnread(cause)
  }
  throw refreshTokenUnread()
}

export const refreshTokenUnread = (cause?: unknown): GatewayError =>
  new GatewayError(
    'credential_unavailable',
    'The refresh token in use could not be opened, so nothing was changed. Authorise again at the provider, and send the new `refresh_token` with the other parts.',
    { cause },
  )

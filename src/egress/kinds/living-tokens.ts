// What was minted from a secret that is about to be replaced. Its issuer lets it live on, whatever becomes of the secret here.
import type { MintedRow } from '../../store/ports.ts'
import { type PreviousSecret, soughtUntil } from '../leak/previous-secrets.ts'
import type { SecretParts } from '../ports.ts'
import { createTokenSeal, type KeptTokens } from './token-seal.ts'

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
    return []
  }
  if (!tokens) return []
  const { accessToken, expiresAt, refreshToken, previous } = tokens
  return [
    ...(accessToken ? [{ secret: accessToken, soughtUntil: soughtUntil(expiresAt, now) }] : []),
    ...(refreshToken ? [{ secret: refreshToken, soughtUntil: soughtUntil(undefined, now) }] : []),
    ...previous.map((before) => ({ secret: before.token, soughtUntil: before.expiresAt })),
  ]
}

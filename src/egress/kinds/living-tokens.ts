// What was minted from a secret that is about to be replaced. Its issuer lets it live on, whatever becomes of the secret here.
import type { MintedRow } from '../../store/ports.ts'
import { type PreviousSecret, soughtUntil } from '../leak/previous-secrets.ts'
import type { SecretParts } from '../ports.ts'
import { createTokenSeal, type MintedTokens } from './token-seal.ts'

/**
 * @param parts of the secret that they were minted from
 * @returns the newest first; none where the row is of another secret, or is not what was sealed
 */
export function livingTokens(
  row: MintedRow | undefined,
  parts: SecretParts,
  now: number,
): readonly PreviousSecret[] {
  if (!row?.sealed) return []
  const seal = createTokenSeal(parts)
  if (row.keyId !== seal.keyId) return []
  let tokens: MintedTokens
  try {
    tokens = seal.open(row.sealed, row)
  } catch {
    // It cannot be used either, and must not keep anybody from replacing the secret.
    return []
  }
  const { accessToken, expiresAt, refreshToken, previous } = tokens
  return [
    { secret: accessToken, soughtUntil: soughtUntil(expiresAt, now) },
    ...(refreshToken ? [{ secret: refreshToken, soughtUntil: soughtUntil(undefined, now) }] : []),
    ...previous.map((before) => ({ secret: before.token, soughtUntil: before.expiresAt })),
  ]
}

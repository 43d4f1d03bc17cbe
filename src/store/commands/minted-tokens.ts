// Tokens minted from a credential: one row each, one exchange at a time over all replicas. The generation is the fence: an exchange whose
// answer comes late stores it only where nothing else was stored meanwhile.
// Row locks are taken in one order: credential, its minted tokens.
import { all, columns, type Command, command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import type { MintClaim, MintedRow, MintFailure, SealedTokens } from '../ports/minted-tokens.ts'

const FIELDS = [
  'credentialId',
  'accountId',
  'keyId',
  'generation',
  'ciphertext',
  'iv',
  'tag',
  'mintedAt',
  'usableUntil',
  'claim',
  'claimedUntil',
  'failure',
  'failures',
  'retryAt',
]
const MINTED = columns(FIELDS)
type FlatRow = Omit<MintedRow, 'sealed'> & Record<keyof SealedTokens, string | null>

function toMinted({ ciphertext, iv, tag, ...row }: FlatRow): MintedRow {
  const isSealed = ciphertext !== null && iv !== null && tag !== null
  return { ...row, sealed: isSealed ? { ciphertext, iv, tag } : null }
}

const GET_MINTED = `SELECT ${MINTED} FROM minted_tokens WHERE credential_id = $1 AND account_id = $2`
/** Undefined where nothing was ever minted from it, or the credential was revoked. */
export const getMintedTokens = command({ kind: 'lookup' })(function* (
  credentialId: string,
  accountId: string,
): Command<MintedRow | undefined> {
  const row = yield* first<FlatRow>(GET_MINTED, credentialId, accountId)
  return row && toMinted(row)
})

/**
 * Makes the caller the only one who asks the provider, until it says how that ended or `until` has passed. What was minted from the
 * secret before this one is forgotten.
 */
export const claimMint = command({ kind: 'transaction', touches: 'records', seals: 'kept' })(
  function* (input: {
    credentialId: string
    accountId: string
    /** Of the credential, as it was read. */
    version: number
    keyId: string
    claim: string
    now: Millis
    until: Millis
  }): Command<MintClaim> {
    const { credentialId, accountId, version, keyId, claim, now, until } = input
    const credential = yield* first<{ version: number; revokedAt: Millis | null }>(
      `SELECT version, revoked_at AS "revokedAt" FROM credentials WHERE id = $1 AND account_id = $2 FOR SHARE`,
      credentialId,
      accountId,
    )
    if (!credential || credential.revokedAt !== null || credential.version !== version)
      return { outcome: 'changed' }
    yield* all(
      `INSERT INTO minted_tokens (credential_id, account_id, key_id, generation, failures) VALUES ($1, $2, $3, 0, 0)
     ON CONFLICT (credential_id) DO NOTHING`,
      credentialId,
      accountId,
      keyId,
    )
    const found = yield* first<FlatRow>(
      `SELECT ${MINTED} FROM minted_tokens WHERE credential_id = $1 FOR UPDATE`,
      credentialId,
    )
    if (!found) return { outcome: 'changed' }
    const isOfKey = found.keyId === keyId
    const isClaimed = isOfKey && found.claim !== null
    if (isClaimed && (found.claimedUntil ?? 0) > now) return { outcome: 'busy', row: toMinted(found) }
    if (!isOfKey)
      yield* all(
        `UPDATE minted_tokens SET key_id = $1, generation = generation + 1, ciphertext = NULL, iv = NULL, tag = NULL,
         minted_at = NULL, usable_until = NULL, failure = NULL, failures = 0, retry_at = NULL
       WHERE credential_id = $2`,
        keyId,
        credentialId,
      )
    const row = yield* first<FlatRow>(
      `UPDATE minted_tokens SET claim = $1, claimed_until = $2 WHERE credential_id = $3 RETURNING ${MINTED}`,
      claim,
      until,
      credentialId,
    )
    return row ? { outcome: 'claimed', row: toMinted(row), isInterrupted: isClaimed } : { outcome: 'changed' }
  },
)

/**
 * Compare-and-set on the generation: undefined where something else was stored meanwhile, or the credential was revoked. Ends the claim,
 * with a failure where there is something to keep and no access token.
 */
export const saveMintedTokens = command({ kind: 'statement', touches: 'records', seals: 'kept' })(
  function* (input: {
    credentialId: string
    accountId: string
    keyId: string
    fromGeneration: number
    sealed: SealedTokens
    mintedAt: Millis | null
    usableUntil: Millis | null
    failed?: MintFailure | undefined
  }): Command<MintedRow | undefined> {
    const { credentialId, accountId, keyId, fromGeneration, sealed, mintedAt, usableUntil, failed } = input
    const ending = failed
      ? 'failure = $10, failures = failures + 1, retry_at = $11'
      : 'failure = NULL, failures = 0, retry_at = NULL'
    const row = yield* first<FlatRow>(
      `UPDATE minted_tokens SET generation = generation + 1, ciphertext = $1, iv = $2, tag = $3, minted_at = $4,
       usable_until = $5, claim = NULL, claimed_until = NULL, ${ending}
     WHERE credential_id = $6 AND account_id = $7 AND key_id = $8 AND generation = $9 RETURNING ${MINTED}`,
      sealed.ciphertext,
      sealed.iv,
      sealed.tag,
      mintedAt,
      usableUntil,
      credentialId,
      accountId,
      keyId,
      fromGeneration,
      ...(failed ? [failed.failure, failed.retryAt] : []),
    )
    return row && toMinted(row)
  },
)

/** Prolongs a claim that nobody else took, also one that had lapsed. */
export const renewMintClaim = command({ kind: 'statement', touches: 'records' })(function* (input: {
  credentialId: string
  claim: string
  until: Millis
}): Command<boolean> {
  const renewed = yield* first(
    'UPDATE minted_tokens SET claimed_until = $1 WHERE credential_id = $2 AND claim = $3 RETURNING credential_id',
    input.until,
    input.credentialId,
    input.claim,
  )
  return renewed !== undefined
})

/** Ends a claim without a token: with a failure, or with nothing where none was needed any more. */
export const endMintClaim = command({ kind: 'statement', touches: 'records' })(function* (input: {
  credentialId: string
  claim: string
  failed: MintFailure | null
}): Command<boolean> {
  const { credentialId, claim, failed } = input
  const ended = failed
    ? yield* first(
        `UPDATE minted_tokens SET claim = NULL, claimed_until = NULL, failure = $1, failures = failures + 1, retry_at = $2
         WHERE credential_id = $3 AND claim = $4 RETURNING credential_id`,
        failed.failure,
        failed.retryAt,
        credentialId,
        claim,
      )
    : yield* first(
        `UPDATE minted_tokens SET claim = NULL, claimed_until = NULL WHERE credential_id = $1 AND claim = $2
         RETURNING credential_id`,
        credentialId,
        claim,
      )
  return ended !== undefined
})

/** An upstream refused a token before its time. One that was minted after `mintedBefore` is kept: it cannot be worn out yet. */
export const distrustMintedTokens = command({ kind: 'statement', touches: 'records' })(function* (input: {
  credentialId: string
  generation: number
  mintedBefore: Millis
}): Command<boolean> {
  const changed = yield* first(
    `UPDATE minted_tokens SET usable_until = 0
     WHERE credential_id = $1 AND generation = $2 AND minted_at <= $3 RETURNING credential_id`,
    input.credentialId,
    input.generation,
    input.mintedBefore,
  )
  return changed !== undefined
})

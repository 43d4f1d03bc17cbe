// Sealed credentials. Scopes and settings are stored as JSON and judged elsewhere. capabilities.ts has what is cut from them.
// Row locks (FOR SHARE, FOR UPDATE) are taken in one order: credential, capabilities by id, account.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import type { Scope } from '../../../schemas/http.ts'
import { GatewayError } from '../../core/errors.ts'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { all, columns, type Command, command, first, insertInto, snakeCase } from '../command.ts'
import { setBudgets } from './budgets.ts'
import { selectPage } from '../page.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { BudgetLimit } from '../ports/budgets.ts'
import { RETIRED_KEY } from '../ports/credentials.ts'
import type { SealedSecret, WrappedKey, Credential, SealedCredential } from '../ports/credentials.ts'

const credentialFields = [
  'id',
  'accountId',
  'provider',
  'label',
  'scope',
  'header',
  'scheme',
  'settings',
  'version',
  'createdAt',
  'rotatedAt',
  'editedAt',
  'revokedAt',
  'budgeted',
]
const CREDENTIAL = columns(credentialFields)
type CredentialRow = Omit<Credential, 'scope' | 'settings' | 'isBudgeted'> & {
  scope: string
  settings: string
  budgeted: number
}
const toCredential = ({ budgeted, ...row }: CredentialRow): Credential => ({
  ...row,
  isBudgeted: budgeted === 1,
  scope: JSON.parse(row.scope) as Scope,
  settings: row.settings === '{}' ? NO_SETTINGS : (JSON.parse(row.settings) as CredentialSettings),
})
const NO_SETTINGS: CredentialSettings = Object.freeze({})

const sealFields = ['ciphertext', 'iv', 'tag', 'wrapKid', 'wrapEnc', 'wrapKey']
const SEALED = columns([...credentialFields, ...sealFields])
type SealedRow = CredentialRow &
  Record<'ciphertext' | 'iv' | 'tag' | 'wrapKid' | 'wrapEnc' | 'wrapKey', string>

/** In the order of `sealFields`. */
const sealValues = ({ ciphertext, iv, tag, wrap }: SealedSecret) => [
  ciphertext,
  iv,
  tag,
  wrap.kid,
  wrap.enc,
  wrap.wrapped,
]

/** Stores it with its budgets. @throws {GatewayError} state_conflict when the id exists already */
export const insertCredential = command({ kind: 'transaction', touches: 'access', seals: 'kept' })(function* (
  credential: SealedCredential,
  budgets: readonly BudgetLimit[] = [],
): Command<void> {
  const { sealed, ...c } = credential
  yield* requireLiveKey(sealed)
  yield* all(
    insertInto('credentials', [...credentialFields, ...sealFields]),
    c.id,
    c.accountId,
    c.provider,
    c.label,
    JSON.stringify(c.scope),
    c.header,
    c.scheme,
    toCanonicalJson(c.settings),
    c.version,
    c.createdAt,
    c.rotatedAt,
    c.editedAt,
    c.revokedAt,
    budgets.length > 0 ? 1 : 0,
    ...sealValues(sealed),
  )
  yield* setBudgets(c.id, budgets)
})

/**
 * A record under a key that a rotation has retired would be lost with it. The row of the key is locked until commit, so that the
 * rotation either finds this record or is seen here.
 */
export function* requireLiveKey({ wrap }: SealedSecret): Command<void> {
  const key = yield* first<{ retiredAt: Millis | null }>(
    `SELECT retired_at AS "retiredAt" FROM published_keys WHERE kid = $1 AND purpose = 'wrap' FOR SHARE`,
    wrap.kid,
  )
  if (!key || key.retiredAt === null) return
  throw new GatewayError(
    'state_conflict',
    'The wrapping key was replaced at this very moment, and nothing was stored. Try again.',
    { reason: RETIRED_KEY },
  )
}

const GET_CREDENTIAL = `SELECT ${SEALED} FROM credentials WHERE id = $1 AND account_id = $2`
/** Scoped to the account; another account's credential is not found. */
export const getCredential = command({ kind: 'lookup', cached: true })(function* (
  id: string,
  accountId: string,
): Command<SealedCredential | undefined> {
  const row = yield* first<SealedRow>(GET_CREDENTIAL, id, accountId)
  if (!row) return undefined
  const { ciphertext, iv, tag, wrapKid, wrapEnc, wrapKey, ...rest } = row
  const wrap = { kid: wrapKid, enc: wrapEnc, wrapped: wrapKey }
  return { ...toCredential(rest), sealed: { ciphertext, iv, tag, wrap } }
})

/** Newest first, revoked ones too, without their secrets. */
export const listCredentials = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string,
  page: PageRequest,
): Command<Page<Credential>> {
  return yield* selectPage<CredentialRow, Credential>(
    { columns: CREDENTIAL, from: 'credentials', id: 'id' },
    [['account_id = $', accountId]],
    page,
    toCredential,
    (credential) => credential.id,
  )
})

/** What replaces or removes a sealed secret waits behind nobody, and leaves nothing of the old one in the engine's file. */
const SEALING = { touches: 'access', overtakes: 'credentials', seals: 'removed' } as const

/** Which credential is sealed anew, and as which version it was read. */
interface Resealing {
  readonly id: string
  readonly accountId: string
  readonly fromVersion: number
  readonly sealed: SealedSecret
}

/** Stores the next version with what else changes. Undefined where it is not the version any more that was read, or was revoked. */
function* reseal(
  { id, accountId, fromVersion, sealed }: Resealing,
  changes: Readonly<Record<string, string | number>>,
): Command<CredentialRow | undefined> {
  const set = [...Object.keys(changes), ...sealFields].map((field, i) => `${snakeCase(field)} = $${i + 4}`)
  return yield* first<CredentialRow>(
    `UPDATE credentials SET version = version + 1, ${set.join(', ')}
     WHERE id = $1 AND account_id = $2 AND version = $3 AND revoked_at IS NULL RETURNING ${CREDENTIAL}`,
    id,
    accountId,
    fromVersion,
    ...Object.values(changes),
    ...sealValues(sealed),
  )
}

/**
 * Compare-and-set on version: false when somebody else rotated or revoked first.
 *
 * Where tokens are minted from the secret, compare-and-set on these, too: they end with it, so that whoever seals them beside the new
 * secret, to search for them, has all of them; an exchange that is under way stores nothing and uses nothing. Where the refresh token
 * stays, false for as long as an exchange has not ended, since that may bring another: who asked may have it and no store that takes it.
 */
export const rotateCredential = command({ ...SEALING, kind: 'transaction' })(function* (
  input: Resealing & {
    /** Of the minted tokens as they were read, null where there were none; left out where the secret mints none. */
    mintedGeneration?: number | null | undefined
    /** Where the refresh token among the minted ones goes on as a part of the new secret: nobody has an answer by now whose claim lapsed by then. */
    goneIfLapsedBy?: Millis | undefined
    now: Millis
  },
): Command<boolean> {
  const { id, accountId, mintedGeneration, goneIfLapsedBy, now } = input
  yield* requireLiveKey(input.sealed)
  if (mintedGeneration !== undefined) {
    yield* first('SELECT id FROM credentials WHERE id = $1 AND account_id = $2 FOR UPDATE', id, accountId)
    const minted = yield* first<{ generation: number; claim: string | null; claimedUntil: Millis | null }>(
      `SELECT generation, claim, claimed_until AS "claimedUntil" FROM minted_tokens
       WHERE credential_id = $1 AND account_id = $2 FOR UPDATE`,
      id,
      accountId,
    )
    if ((minted?.generation ?? null) !== mintedGeneration) return false
    const isClaimed = minted !== undefined && minted.claim !== null
    if (isClaimed && goneIfLapsedBy !== undefined && (minted.claimedUntil ?? 0) > goneIfLapsedBy) return false
  }
  if (!(yield* reseal(input, { rotatedAt: now }))) return false
  if (mintedGeneration !== undefined) yield* all('DELETE FROM minted_tokens WHERE credential_id = $1', id)
  return true
})

/** A secret that is no more: nothing of it is left in the row. */
const WIPED = "ciphertext = '', iv = '', tag = '', wrap_kid = '', wrap_enc = '', wrap_key = ''"

/** Idempotent. Its sealed secret is wiped in the same transaction, and every capability on it revoked. */
export const revokeCredential = command({ ...SEALING, kind: 'transaction' })(function* (input: {
  id: string
  accountId: string
  now: Millis
}): Command<Credential | undefined> {
  const row = yield* first<CredentialRow>(
    `UPDATE credentials SET revoked_at = COALESCE(revoked_at, $1), ${WIPED} WHERE id = $2 AND account_id = $3
     RETURNING ${CREDENTIAL}`,
    input.now,
    input.id,
    input.accountId,
  )
  if (!row) return undefined
  yield* all(
    `UPDATE capabilities SET revoked_at = $1 WHERE credential_id = $2 AND revoked_at IS NULL`,
    input.now,
    input.id,
  )
  yield* all('DELETE FROM minted_tokens WHERE credential_id = $1', input.id)
  return toCredential(row)
})

const ON_CREDENTIAL = 'SELECT id FROM capabilities WHERE credential_id = $1'
/**
 * Removes the credential with its sealed secret, its budgets, and every capability on it. Attempts and receipts stay: they name it by
 * its id. Returns what it was; undefined where there is none.
 */
export const deleteCredential = command({ ...SEALING, kind: 'transaction' })(function* (input: {
  id: string
  accountId: string
  now: Millis
}): Command<Credential | undefined> {
  const { id, accountId } = input
  // A row that shrinks before it goes is overwritten where it stands.
  const row = yield* first<CredentialRow>(
    `UPDATE credentials SET ${WIPED} WHERE id = $1 AND account_id = $2 RETURNING ${CREDENTIAL}`,
    id,
    accountId,
  )
  if (!row) return undefined
  yield* all(`DELETE FROM budgets WHERE holder = $1 OR holder IN (${ON_CREDENTIAL})`, id)
  yield* all(`DELETE FROM capability_lineage WHERE capability_id IN (${ON_CREDENTIAL})`, id)
  yield* all('DELETE FROM capabilities WHERE credential_id = $1', id)
  yield* all('DELETE FROM minted_tokens WHERE credential_id = $1', id)
  yield* all('DELETE FROM credentials WHERE id = $1', id)
  return toCredential(row)
})

/** Compare-and-set on version, as `rotateCredential`: what is edited is sealed again, since the seal binds it. */
export const editCredential = command({ ...SEALING, kind: 'transaction' })(function* (
  input: Resealing & {
    label: string
    scope: Scope
    settings: CredentialSettings
    /** Left out: as they are. */
    budgets?: readonly BudgetLimit[] | undefined
    /** What it takes away, for its event. */
    dropped?: { readonly settings: readonly string[]; readonly rules: readonly string[] } | undefined
    now: Millis
  },
): Command<Credential | undefined> {
  const { id, label, scope, settings, budgets, now } = input
  yield* requireLiveKey(input.sealed)
  const row = yield* reseal(input, {
    editedAt: now,
    label,
    scope: JSON.stringify(scope),
    settings: toCanonicalJson(settings),
    ...(budgets && { budgeted: Number(budgets.length > 0) }),
  })
  if (row && budgets) yield* setBudgets(id, budgets)
  return row && toCredential(row)
})

type WrapRow = {
  id: string
  accountId: string
  version: number
  wrapKid: string
  wrapEnc: string
  wrapKey: string
}
type Wrap = { id: string; accountId: string; version: number; wrap: WrappedKey }
/** Rows whose record key is wrapped to another authority key than `kid`, oldest first; of revoked ones none is left. */
export const listWrapsNotUnder = command({ kind: 'read' })(function* (
  kid: string,
  limit: number,
): Command<readonly Wrap[]> {
  const rows = yield* all<WrapRow>(
    `SELECT ${columns(['id', 'accountId', 'version', 'wrapKid', 'wrapEnc', 'wrapKey'])}
     FROM credentials WHERE wrap_kid <> $1 AND wrap_kid <> '' ORDER BY id LIMIT $2`,
    kid,
    limit,
  )
  return rows.map(({ id, accountId, version, wrapKid, wrapEnc, wrapKey }) => ({
    id,
    accountId,
    version,
    wrap: { kid: wrapKid, enc: wrapEnc, wrapped: wrapKey },
  }))
})

/** Compare-and-set on (version, old enc): false when the row changed meanwhile. The ciphertext is not touched. */
export const replaceWrap = command({ kind: 'statement', touches: 'access', seals: 'kept' })(
  function* (input: { id: string; version: number; from: WrappedKey; to: WrappedKey }): Command<boolean> {
    const { id, version, from, to } = input
    const changed = yield* first(
      `UPDATE credentials SET wrap_kid = $1, wrap_enc = $2, wrap_key = $3
     WHERE id = $4 AND version = $5 AND wrap_kid = $6 AND wrap_enc = $7 RETURNING id`,
      to.kid,
      to.enc,
      to.wrapped,
      id,
      version,
      from.kid,
      from.enc,
    )
    return changed !== undefined
  },
)

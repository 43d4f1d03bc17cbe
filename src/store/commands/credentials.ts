// Sealed credentials and the capabilities cut from them. Scopes are stored as JSON and judged elsewhere.
// Row locks (FOR SHARE, FOR UPDATE) are taken in one order: credential, capabilities by id, account.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import type { Scope } from '../../../schemas/http.ts'
import { GatewayError } from '../../core/errors.ts'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import { selectPage } from '../page.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type {
  SealedSecret,
  WrappedKey,
  Credential,
  SealedCredential,
  Capability,
  HeldCapability,
} from '../ports/credentials.ts'

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
  'revokedAt',
]
const CREDENTIAL = columns(credentialFields)
type CredentialRow = Omit<Credential, 'scope' | 'settings'> & { scope: string; settings: string }
const toCredential = (row: CredentialRow): Credential => ({
  ...row,
  scope: JSON.parse(row.scope) as Scope,
  settings: row.settings === '{}' ? NO_SETTINGS : (JSON.parse(row.settings) as CredentialSettings),
})
const NO_SETTINGS: CredentialSettings = Object.freeze({})

const sealFields = ['ciphertext', 'iv', 'tag', 'wrapKid', 'wrapEnc', 'wrapKey']
const SEALED = columns([...credentialFields, ...sealFields])
type SealedRow = CredentialRow &
  Record<'ciphertext' | 'iv' | 'tag' | 'wrapKid' | 'wrapEnc' | 'wrapKey', string>

/** @throws {GatewayError} state_conflict when the id exists already */
export const insertCredential = command({ kind: 'transaction', touches: 'access' })(function* (
  credential: SealedCredential,
): Command<void> {
  const { sealed, ...c } = credential
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
    c.revokedAt,
    sealed.ciphertext,
    sealed.iv,
    sealed.tag,
    sealed.wrap.kid,
    sealed.wrap.enc,
    sealed.wrap.wrapped,
  )
})

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
export const listCredentials = command({ kind: 'read' })(function* (
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

/** Compare-and-set on version: false when somebody else rotated or revoked first. */
export const rotateCredential = command({ kind: 'statement', touches: 'access', overtakes: 'credentials' })(
  function* (input: {
    id: string
    accountId: string
    fromVersion: number
    sealed: SealedSecret
    now: Millis
  }): Command<boolean> {
    const { id, accountId, fromVersion, sealed, now } = input
    const changed = yield* first(
      `UPDATE credentials SET version = version + 1, rotated_at = $1, ciphertext = $2, iv = $3, tag = $4,
       wrap_kid = $5, wrap_enc = $6, wrap_key = $7
     WHERE id = $8 AND account_id = $9 AND version = $10 AND revoked_at IS NULL RETURNING id`,
      now,
      sealed.ciphertext,
      sealed.iv,
      sealed.tag,
      sealed.wrap.kid,
      sealed.wrap.enc,
      sealed.wrap.wrapped,
      id,
      accountId,
      fromVersion,
    )
    return changed !== undefined
  },
)

/** Idempotent. Also revokes every capability on it. */
export const revokeCredential = command({ kind: 'transaction', touches: 'access', overtakes: 'credentials' })(
  function* (input: { id: string; accountId: string; now: Millis }): Command<Credential | undefined> {
    const row = yield* first<CredentialRow>(
      `UPDATE credentials SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 AND account_id = $3
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
    return toCredential(row)
  },
)

type WrapRow = {
  id: string
  accountId: string
  version: number
  wrapKid: string
  wrapEnc: string
  wrapKey: string
}
type Wrap = { id: string; accountId: string; version: number; wrap: WrappedKey }
/** Rows whose record key is wrapped to another authority key than `kid`, oldest first. */
export const listWrapsNotUnder = command({ kind: 'read' })(function* (
  kid: string,
  limit: number,
): Command<readonly Wrap[]> {
  const rows = yield* all<WrapRow>(
    `SELECT ${columns(['id', 'accountId', 'version', 'wrapKid', 'wrapEnc', 'wrapKey'])}
     FROM credentials WHERE wrap_kid <> $1 ORDER BY id LIMIT $2`,
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
export const replaceWrap = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  version: number
  from: WrappedKey
  to: WrappedKey
}): Command<boolean> {
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
})

const capabilityFields = [
  'id',
  'accountId',
  'credentialId',
  'parentId',
  'label',
  'scope',
  'maxUses',
  'uses',
  'createdAt',
  'expiresAt',
  'revokedAt',
]
const CAPABILITY = columns(capabilityFields)
type CapabilityRow = Omit<Capability, 'scope'> & { scope: string }
const toCapability = (row: CapabilityRow): Capability => ({ ...row, scope: JSON.parse(row.scope) as Scope })

/** Every attempt reads and counts on the whole lineage, so that an agent must not be able to make it long. */
const MAX_NARROWINGS = 16

/**
 * @throws {GatewayError} credential_not_found, capability_not_found (the parent), or state_conflict when one of them is revoked or the
 * lineage is as long as it may be
 */
export const insertCapability = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  capability: Capability
  tokenHash: Buffer
}): Command<void> {
  const { capability, tokenHash } = input
  const c = capability
  // Locked until commit, so that a revocation running now either sees the new row or is seen here.
  const credential = yield* first<{ revokedAt: number | null }>(
    `SELECT revoked_at AS "revokedAt" FROM credentials WHERE id = $1 AND account_id = $2 FOR SHARE`,
    c.credentialId,
    c.accountId,
  )
  if (!credential)
    throw new GatewayError(
      'credential_not_found',
      'This account has no such credential: list credentials to see them.',
    )
  if (credential.revokedAt !== null)
    throw new GatewayError(
      'state_conflict',
      'The credential is revoked: issue the capability on another one.',
    )
  if (c.parentId !== null) {
    const lineage = yield* all<{ id: string; revokedAt: number | null }>(
      `SELECT id, revoked_at AS "revokedAt" FROM capabilities
       WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $1)
         AND account_id = $2 AND credential_id = $3
       ORDER BY id FOR SHARE`,
      c.parentId,
      c.accountId,
      c.credentialId,
    )
    if (lineage.length === 0)
      throw new GatewayError('capability_not_found', 'The capability this one is cut from does not exist.')
    if (lineage.length >= MAX_NARROWINGS)
      throw new GatewayError(
        'state_conflict',
        `A capability can be narrowed ${MAX_NARROWINGS - 1} times over. Narrow one that is closer to the first.`,
      )
    if (lineage.some((ancestor) => ancestor.revokedAt !== null))
      throw new GatewayError(
        'state_conflict',
        'The capability this one is cut from is revoked: ask for a new one.',
      )
  }
  yield* all(
    insertInto('capabilities', [...capabilityFields, 'tokenHash']),
    c.id,
    c.accountId,
    c.credentialId,
    c.parentId,
    c.label,
    JSON.stringify(c.scope),
    c.maxUses,
    c.uses,
    c.createdAt,
    c.expiresAt,
    c.revokedAt,
    tokenHash,
  )
  yield* all('INSERT INTO capability_lineage (capability_id, ancestor_id) VALUES ($1, $1)', c.id)
  if (c.parentId !== null)
    yield* all(
      `INSERT INTO capability_lineage (capability_id, ancestor_id)
       SELECT $1, ancestor_id FROM capability_lineage WHERE capability_id = $2`,
      c.id,
      c.parentId,
    )
})

const ISSUED = columns(capabilityFields.filter((field) => field !== 'uses'))
const FIND_CAPABILITY = `SELECT ${ISSUED} FROM capabilities WHERE token_hash = $1`
/** Returns revoked and expired ones too: the caller says which it was. */
export const findCapability = command({ kind: 'lookup', cached: true })(function* (
  tokenHash: Buffer,
): Command<HeldCapability | undefined> {
  const row = yield* first<Omit<CapabilityRow, 'uses'>>(FIND_CAPABILITY, tokenHash)
  return row && { ...row, scope: JSON.parse(row.scope) as Scope }
})

/** Newest first, revoked and expired ones too; of one credential where the filter names it. */
export const listCapabilities = command({ kind: 'read' })(function* (
  filter: { accountId: string; credentialId?: string | undefined },
  page: PageRequest,
): Command<Page<Capability>> {
  return yield* selectPage<CapabilityRow, Capability>(
    { columns: CAPABILITY, from: 'capabilities', id: 'id' },
    [
      ['account_id = $', filter.accountId],
      ['credential_id = $', filter.credentialId],
    ],
    page,
    toCapability,
    (capability) => capability.id,
  )
})

/** Idempotent; revokes descendants too. Returns how many became revoked; undefined when not found. */
export const revokeCapability = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  id: string
  accountId: string
  now: Millis
}): Command<number | undefined> {
  const { id, accountId, now } = input
  // The lock comes in a statement of its own: the next one then sees what was narrowed while this one waited.
  const found = yield* first(
    'SELECT id FROM capabilities WHERE id = $1 AND account_id = $2 FOR UPDATE',
    id,
    accountId,
  )
  if (!found) return undefined
  const revoked = yield* all(
    `UPDATE capabilities SET revoked_at = $1 WHERE revoked_at IS NULL
       AND id IN (SELECT capability_id FROM capability_lineage WHERE ancestor_id = $2) RETURNING id`,
    now,
    id,
  )
  return revoked.length
})

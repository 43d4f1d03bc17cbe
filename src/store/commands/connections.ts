// Assistants that people allowed to connect, and the access tokens that lead to them.
import type { Scope } from '../../../schemas/http.ts'
import { all, type Command, command, first, insertInto, placeholders, snakeCase } from '../command.ts'
import { selectPage } from '../page.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { Connection, FoundAccess, HeldConnection } from '../ports/identity.ts'
import type { CredentialCapability, HeldCapability } from '../ports/credentials.ts'
import { type CapabilityRow, ISSUED, toHeld } from './capabilities.ts'
import { MAY_CONNECT } from './connection-locks.ts'

/** What an access token leads to, member by member, and where each stands. */
export const ACCESS_COLUMNS = {
  endsAt: 't.expires_at',
  connectionId: 'c.id',
  clientId: 'c.client_id',
  clientName: 'c.client_name',
  personId: 'c.person_id',
  mayPay: 'c.may_pay',
  mayOperate: 'c.may_operate',
  role: 'm.role',
  admin: 'm.admin',
  disabledAt: 'p.disabled_at',
  capabilityId: 'k.id',
  accountId: 'k.account_id',
  rootId: 'k.root_id',
  label: 'k.label',
  scope: 'k.scope',
  maxUses: 'k.max_uses',
  budgeted: 'k.budgeted',
  showsBalance: 'k.shows_balance',
  createdAt: 'k.created_at',
  expiresAt: 'k.expires_at',
  // Either ends both; a release before this one could end the connection alone.
  revokedAt: 'COALESCE(c.revoked_at, k.revoked_at)',
} as const
export const ACCESS_TABLES = `access_tokens t JOIN connections c ON c.id = t.connection_id JOIN capabilities k ON k.id = c.capability_id
  JOIN people p ON p.id = c.person_id
  LEFT JOIN memberships m ON m.account_id = c.account_id AND m.person_id = c.person_id`
const FIND_ACCESS = `SELECT ${Object.entries(ACCESS_COLUMNS)
  .map(([name, column]) => `${column} AS "${name}"`)
  .join(', ')} FROM ${ACCESS_TABLES} WHERE t.token_hash = $1`

export type AccessRow = Omit<
  HeldCapability,
  'scope' | 'isBudgeted' | 'showsBalance' | 'id' | 'credentialId' | 'parentId' | 'parts'
> & {
  capabilityId: string
  scope: string
  budgeted: number
  showsBalance: number
  connectionId: string
  clientId: string
  clientName: string
  personId: string
  role: HeldConnection['role'] | null
  admin: number | null
  disabledAt: number | null
  mayPay: number
  mayOperate: number
  endsAt: number
}

/** The columns of a part, without those that are the root's. */
export type PartRow = Omit<CapabilityRow, 'uses'> & { credentialId: string }
/** The live capabilities right below the one that `root` says, one for each credential; that of the oldest credential first. */
const PARTS = `SELECT ${ISSUED} FROM capabilities WHERE parent_id = $1 AND revoked_at IS NULL ORDER BY credential_id`

/**
 * Finds revoked and expired ones too: the caller says which it was. Where the person who allowed it has left, or may not allow it any
 * more, it is as if it had been revoked: the row of the person decides, and no list of what to end has to be complete.
 */
export const findAccessToken = command({ kind: 'lookup', cached: true })(function* (
  tokenHash: Buffer,
): Command<FoundAccess | undefined> {
  const row = yield* first<AccessRow>(FIND_ACCESS, tokenHash)
  return row && toFoundAccess(row, yield* all<PartRow>(PARTS, row.capabilityId))
})

export function toFoundAccess(row: AccessRow, parts: readonly PartRow[]): FoundAccess {
  const isStanding = MAY_CONNECT.includes(row.role) && row.disabledAt === null
  return {
    expiresAt: row.endsAt,
    connection: {
      id: row.connectionId,
      clientId: row.clientId,
      clientName: row.clientName,
      personId: row.personId,
      role: row.role ?? 'auditor',
      admin: row.admin === 1,
      mayPay: row.mayPay === 1,
      mayOperate: row.mayOperate === 1 && isStanding,
    },
    capability: {
      id: row.capabilityId,
      accountId: row.accountId,
      credentialId: null,
      parentId: null,
      rootId: row.rootId,
      label: row.label,
      scope: JSON.parse(row.scope) as Scope,
      maxUses: row.maxUses,
      isBudgeted: row.budgeted === 1,
      showsBalance: row.showsBalance === 1,
      createdAt: row.createdAt,
      expiresAt: row.expiresAt,
      revokedAt: row.revokedAt ?? (isStanding ? null : row.createdAt),
      parts: parts.map(toHeld),
    },
  }
}

/** Writes down a token that leads to the connection. */
export const addAccessToken = command({ kind: 'statement', touches: 'records' })(function* (input: {
  tokenHash: Buffer
  connectionId: string
  createdAt: Millis
  expiresAt: Millis
}): Command<void> {
  yield* all(
    insertInto('access_tokens', ['tokenHash', 'connectionId', 'createdAt', 'expiresAt']),
    input.tokenHash,
    input.connectionId,
    input.createdAt,
    input.expiresAt,
  )
})

/** Idempotent. */
export const dropAccessToken = command({ kind: 'statement', touches: 'access' })(function* (
  tokenHash: Buffer,
): Command<void> {
  yield* all('DELETE FROM access_tokens WHERE token_hash = $1', tokenHash)
})

const fields = [
  'id',
  'accountId',
  'personId',
  'capabilityId',
  'clientId',
  'clientName',
  'clientHost',
  'redirectHost',
  'grantId',
  'mayPay',
  'mayOperate',
  'createdAt',
  'changedAt',
  'usedAt',
]
type ConnectionRow = Omit<Connection, 'mayPay' | 'mayOperate'> & { mayPay: number; mayOperate: number }
const toConnection = ({ mayPay, mayOperate, ...row }: ConnectionRow): Connection => ({
  ...row,
  mayPay: mayPay === 1,
  mayOperate: mayOperate === 1,
})
const CONNECTION = `${fields.map((name) => `c.${snakeCase(name)} AS "${name}"`).join(', ')},
  COALESCE(c.revoked_at, k.revoked_at) AS "revokedAt", k.expires_at AS "expiresAt"`
const FROM = 'connections c JOIN capabilities k ON k.id = c.capability_id'
const FIND = `SELECT ${CONNECTION} FROM ${FROM}`

/** Newest first, ended ones too, until the capability at their root is swept. */
export const listConnections = command({ kind: 'read' })(function* (
  filter: { accountId: string; personId?: string | undefined; clientId?: string | undefined },
  page: PageRequest,
): Command<Page<Connection>> {
  return yield* selectPage<ConnectionRow, Connection>(
    { columns: CONNECTION, from: FROM, id: 'c.id' },
    [
      ['c.account_id = $', filter.accountId],
      ['c.person_id = $', filter.personId],
      ['c.client_id = $', filter.clientId],
    ],
    page,
    toConnection,
    (connection) => connection.id,
  )
})

/** Ended ones too. */
export const getConnection = command({ kind: 'read' })(function* (
  id: string,
  accountId: string,
): Command<Connection | undefined> {
  const row = yield* first<ConnectionRow>(`${FIND} WHERE c.id = $1 AND c.account_id = $2`, id, accountId)
  return row && toConnection(row)
})

/** The connection that a grant of the authorization server stands for; an ended one too. */
export const findConnectionOfGrant = command({ kind: 'read' })(function* (
  grantId: string,
): Command<Connection | undefined> {
  const row = yield* first<ConnectionRow>(`${FIND} WHERE c.grant_id = $1`, grantId)
  return row && toConnection(row)
})

/** The time of the last use, as often as whoever counts it says. */
export const touchConnection = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  now: Millis
}): Command<void> {
  yield* all('UPDATE connections SET used_at = $1 WHERE id = $2', input.now, input.id)
})

/** As an access token finds them, for who has none: the person who looks at the connection. */
export const findParts = command({ kind: 'lookup', cached: true })(function* (
  rootId: string,
): Command<readonly CredentialCapability[]> {
  return (yield* all<PartRow>(PARTS, rootId)).map(toHeld)
})

const STANDING = `SELECT k.id FROM capabilities k
  LEFT JOIN credentials s ON s.id = k.credential_id
  LEFT JOIN connections c ON c.capability_id = k.root_id
  LEFT JOIN people p ON p.id = c.person_id
  LEFT JOIN memberships m ON m.account_id = c.account_id AND m.person_id = c.person_id
  WHERE k.revoked_at IS NULL AND s.revoked_at IS NULL AND c.revoked_at IS NULL AND p.disabled_at IS NULL
    AND (k.credential_id IS NULL OR s.id IS NOT NULL) AND (c.id IS NULL OR m.role IN (${MAY_CONNECT.map((role) => `'${role}'`).join(', ')})) AND k.id IN`
/** Lengths of a list of ids: few, since each is a statement that is prepared by its text. */
const LENGTHS = [1, 8, 64, 512] as const

/**
 * Those of these capabilities that nobody has revoked: neither the capability, nor one above it, nor its credential, nor the connection or the
 * person that it stands on. One that is gone is left out, one that has expired is not. At most 512 of them, in no order.
 */
export const listStanding = command({ kind: 'read' })(function* (
  capabilityIds: readonly string[],
): Command<readonly string[]> {
  if (capabilityIds.length === 0) return []
  const length = LENGTHS.find((each) => each >= capabilityIds.length)
  if (length === undefined) throw new Error('more capabilities than one look takes')
  const asked = Array.from({ length }, (_, at) => capabilityIds[at] ?? '')
  const rows = yield* all<{ id: string }>(`${STANDING} (${placeholders(asked)})`, ...asked)
  return rows.map(({ id }) => id)
})

/** Whether the capability is the other one, or was cut from it. */
export const isCutFrom = command({ kind: 'lookup' })(function* (
  capabilityId: string,
  ancestorId: string,
): Command<boolean> {
  const row = yield* first(
    'SELECT 1 AS found FROM capability_lineage WHERE capability_id = $1 AND ancestor_id = $2',
    capabilityId,
    ancestorId,
  )
  return row !== undefined
})

// What a person allows an assistant: written when they connect it, and whenever they change their mind. The root of a connection holds the
// limits; below it stands one capability for each credential, so that revoking either ends it.
// Row locks are taken in the order of capabilities.ts: credentials by id, capabilities by id.
import { randomBytes } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import { all, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { HeldCapability } from '../ports/credentials.ts'
import type { Connection, ConnectionPartRow, ConnectionTerms } from '../ports/identity.ts'
import { setBudgets } from './budgets.ts'
import { capabilityFields, flags } from './capabilities.ts'
import { isOf, lockConnections, type WhichConnections } from './connection-locks.ts'

const INSERT_CONNECTION = insertInto('connections', [
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
])
const INSERT_CAPABILITY = insertInto('capabilities', [...capabilityFields, ...flags, 'tokenHash'])
const LINEAGE = 'INSERT INTO capability_lineage (capability_id, ancestor_id) VALUES ($1, $2)'

/** Nobody holds a token of it: an access token leads to it instead. */
const noToken = () => randomBytes(32)

/**
 * Locks the credentials until the transaction ends: a revocation that runs now either sees what is written, or is seen here.
 * @throws {GatewayError} credential_not_found, state_conflict
 */
function* lockCredentials(accountId: string, parts: readonly ConnectionPartRow[]): Command<void> {
  for (const id of parts.map(({ credentialId }) => credentialId).toSorted()) {
    const credential = yield* first<{ revokedAt: Millis | null }>(
      'SELECT revoked_at AS "revokedAt" FROM credentials WHERE id = $1 AND account_id = $2 FOR SHARE',
      id,
      accountId,
    )
    if (!credential)
      throw new GatewayError(
        'credential_not_found',
        'This account has no such credential: choose another one.',
      )
    if (credential.revokedAt !== null)
      throw new GatewayError(
        'state_conflict',
        'One of the credentials was revoked meanwhile: choose another one.',
      )
  }
}

type NewCapability = Omit<HeldCapability, 'revokedAt'>

function* insertCapability(c: NewCapability): Command<void> {
  yield* all(
    INSERT_CAPABILITY,
    c.id,
    c.accountId,
    c.credentialId,
    c.parentId,
    c.rootId,
    c.label,
    JSON.stringify(c.scope),
    c.maxUses,
    0,
    c.createdAt,
    c.expiresAt,
    null,
    c.isBudgeted ? 1 : 0,
    c.showsBalance ? 1 : 0,
    noToken(),
  )
  yield* all(LINEAGE, c.id, c.id)
  if (c.parentId !== null) yield* all(LINEAGE, c.id, c.parentId)
}

const rootOf = (
  { capabilityId, accountId, clientName }: Connection,
  terms: ConnectionTerms,
  now: Millis,
): NewCapability => ({
  id: capabilityId,
  accountId,
  credentialId: null,
  parentId: null,
  rootId: capabilityId,
  label: clientName.slice(0, 100),
  scope: terms.scope,
  maxUses: terms.maxUses,
  isBudgeted: terms.budgets.length > 0,
  showsBalance: terms.showsBalance,
  createdAt: now,
  expiresAt: terms.expiresAt,
})

const partOf = (
  root: NewCapability,
  { capabilityId, credentialId, scope }: ConnectionPartRow,
): NewCapability => ({
  ...root,
  id: capabilityId,
  credentialId,
  parentId: root.id,
  scope,
  maxUses: null,
})

/**
 * A person lets an assistant act for their account.
 * @throws {GatewayError} credential_not_found, or state_conflict where one of the credentials is revoked
 */
export const openConnection = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  connection: Connection
  terms: ConnectionTerms
}): Command<void> {
  const { connection: c, terms } = input
  yield* lockCredentials(c.accountId, terms.parts)
  const root = rootOf(c, terms, c.createdAt)
  yield* insertCapability(root)
  for (const part of terms.parts) yield* insertCapability(partOf(root, part))
  yield* setBudgets(root.id, terms.budgets)
  yield* all(
    INSERT_CONNECTION,
    c.id,
    c.accountId,
    c.personId,
    c.capabilityId,
    c.clientId,
    c.clientName,
    c.clientHost,
    c.redirectHost,
    c.grantId,
    terms.mayPay ? 1 : 0,
    terms.mayOperate ? 1 : 0,
    c.createdAt,
    c.changedAt,
  )
})

type Below = { id: string; credentialId: string | null; parentId: string | null; revokedAt: Millis | null }

/** All of them, revoked ones too: whoever locks a lineage goes by id, and waits for nobody who waits for them. */
const LOCK_BELOW = `SELECT id, credential_id AS "credentialId", parent_id AS "parentId", revoked_at AS "revokedAt" FROM capabilities
  WHERE account_id = $2 AND id IN (SELECT capability_id FROM capability_lineage WHERE ancestor_id = $1) ORDER BY id FOR UPDATE`

/**
 * Replaces what the connection may do from its next call on. What was counted on its limits stays counted, capabilities that the
 * assistant had narrowed end, and the capability of a credential that stays keeps its id, so that its attempts stay the assistant's.
 * @returns false where it was ended, or is not there
 * @throws {GatewayError} as `openConnection`
 */
export const changeConnection = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  connection: Connection
  terms: ConnectionTerms
  now: Millis
}): Command<boolean> {
  const { connection, terms, now } = input
  const { id, accountId, capabilityId: rootId } = connection
  yield* lockCredentials(accountId, terms.parts)
  const lock = () => all<Below>(LOCK_BELOW, rootId, accountId)
  yield* lock()
  // Only a second statement sees what was narrowed while the first one waited.
  const held = yield* lock()
  const standing = held.find((capability) => capability.id === rootId)
  if (!standing || standing.revokedAt !== null) return false
  const root = rootOf(connection, terms, now)
  yield* all(
    `UPDATE capabilities SET scope = $1, max_uses = $2, expires_at = $3, budgeted = $4, shows_balance = $5 WHERE id = $6`,
    JSON.stringify(root.scope),
    root.maxUses,
    root.expiresAt,
    root.isBudgeted ? 1 : 0,
    root.showsBalance ? 1 : 0,
    rootId,
  )
  yield* setBudgets(rootId, terms.budgets)

  const wanted = new Map(terms.parts.map((part) => [part.credentialId, part]))
  for (const below of held) {
    if (below.id === rootId || below.revokedAt !== null) continue
    const part = below.parentId === rootId ? wanted.get(below.credentialId ?? '') : undefined
    if (part) {
      wanted.delete(part.credentialId)
      yield* all(
        `UPDATE capabilities SET scope = $1, expires_at = $2, budgeted = $3, shows_balance = $4 WHERE id = $5`,
        JSON.stringify(part.scope),
        root.expiresAt,
        root.isBudgeted ? 1 : 0,
        root.showsBalance ? 1 : 0,
        below.id,
      )
    } else yield* all('UPDATE capabilities SET revoked_at = $1 WHERE id = $2', now, below.id)
  }
  for (const part of wanted.values()) yield* insertCapability(partOf(root, part))

  const changed = yield* first(
    `UPDATE connections SET may_pay = $1, may_operate = $2, changed_at = $3
     WHERE id = $4 AND account_id = $5 AND revoked_at IS NULL RETURNING id`,
    terms.mayPay ? 1 : 0,
    terms.mayOperate ? 1 : 0,
    now,
    id,
    accountId,
  )
  if (!changed) throw new GatewayError('state_conflict', 'The connection was ended meanwhile.')
  return true
})

/**
 * Ends them with every capability of theirs, which their tokens lead to. Idempotent.
 *
 * Each statement sees what was committed before it, and nobody keeps connections from being opened meanwhile: which ones end is decided
 * once, by the first statement that writes, and the capabilities of those end, and of no others.
 * @returns ids of those that ended now
 */
export const revokeConnections = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  which: WhichConnections
  now: Millis
}): Command<readonly string[]> {
  const { which, now } = input
  yield* lockConnections(which)
  const ended = yield* all<{ id: string }>(
    `UPDATE connections SET revoked_at = $3 WHERE ${isOf(which)} AND revoked_at IS NULL RETURNING id`,
    which.accountId,
    which.id,
    now,
  )
  // Of one that was opened while the first locks were waited for: what is narrowed from it now is waited for, too.
  yield* lockConnections(which)
  yield* all(
    `UPDATE capabilities SET revoked_at = $3 WHERE id IN (
       SELECT id FROM capabilities WHERE revoked_at IS NULL AND id IN (
         SELECT capability_id FROM capability_lineage WHERE ancestor_id IN (
           SELECT capability_id FROM connections WHERE ${isOf(which)} AND revoked_at IS NOT NULL))
       ORDER BY id FOR UPDATE)`,
    which.accountId,
    which.id,
    now,
  )
  return ended.map(({ id }) => id)
})

/** Forgets tokens that have led nowhere for a day. @returns how many */
export function* sweepAccessTokens(now: Millis, limit: number): Command<number> {
  const tokens = yield* all(
    `DELETE FROM access_tokens WHERE token_hash IN (
       SELECT token_hash FROM access_tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
     ) RETURNING connection_id`,
    now - 24 * 3_600_000,
    limit,
  )
  return tokens.length
}

/** Forgets the connection whose root is no more. */
export function* dropConnectionAt(rootId: string): Command<void> {
  yield* all(
    'DELETE FROM access_tokens WHERE connection_id IN (SELECT id FROM connections WHERE capability_id = $1)',
    rootId,
  )
  yield* all('DELETE FROM connections WHERE capability_id = $1', rootId)
}

// Capabilities and their lineages: each is cut from a credential, or narrowed from another capability of it.
// Row locks (FOR SHARE, FOR UPDATE) are taken in one order: credential, capabilities by id, membership, account.
import { isDeepStrictEqual } from 'node:util'
import type { RuledScope } from '../../../schemas/egress-rule.ts'
import { GatewayError } from '../../core/errors.ts'
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import { setBudgets } from './budgets.ts'
import { lockStanding } from './connection-locks.ts'
import { selectPage } from '../page.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { BudgetLimit } from '../ports/budgets.ts'
import type { Capability, HeldCapability, NewCapability } from '../ports/credentials.ts'

export const capabilityFields = [
  'id',
  'accountId',
  'credentialId',
  'parentId',
  'rootId',
  'label',
  'scope',
  'maxUses',
  'uses',
  'createdAt',
  'expiresAt',
  'revokedAt',
]
export const flags = ['budgeted', 'showsBalance']
const CAPABILITY = columns([...capabilityFields, ...flags])
type Flags = { budgeted: number; showsBalance: number }
export type CapabilityRow = Omit<Capability, 'scope' | 'isBudgeted' | 'showsBalance'> &
  Flags & { scope: string }
/** What is stored as text or number becomes what it says. */
export function toHeld<R extends Flags & { scope: string }>({ budgeted, showsBalance, scope, ...row }: R) {
  return {
    ...row,
    scope: JSON.parse(scope) as RuledScope,
    isBudgeted: budgeted === 1,
    showsBalance: showsBalance === 1,
  }
}
const toCapability = (row: CapabilityRow): Capability => toHeld(row)

/** Every attempt reads and counts on the whole lineage, so that an agent must not be able to make it long, */
export const MAX_DEPTH = 16
/** nor to have a crowd: capabilities narrowed from one that could be used at the same time, */
export const MAX_CHILDREN = 64
/** and all that come from one issued capability, those included that have ended. */
export const MAX_LINEAGE = 1000

type Ancestor = {
  id: string
  credentialId: string | null
  rootId: string
  scope: string
  expiresAt: number
  revokedAt: number | null
  budgeted: number
  showsBalance: number
}
// Locked for update: of two that narrow at once the second counts the first one's.
// The root of a connection is for no credential itself.
const LOCK_LINEAGE = `SELECT id, credential_id AS "credentialId", root_id AS "rootId", scope, expires_at AS "expiresAt",
    revoked_at AS "revokedAt", budgeted, shows_balance AS "showsBalance" FROM capabilities
  WHERE id IN (SELECT ancestor_id FROM capability_lineage WHERE capability_id = $1)
    AND account_id = $2 AND (credential_id = $3 OR credential_id IS NULL)
  ORDER BY id FOR UPDATE`
const COUNT_CHILDREN = `SELECT count(*) AS count FROM capability_lineage l JOIN capabilities c ON c.id = l.capability_id
  WHERE l.ancestor_id = $1 AND c.parent_id = $1 AND c.revoked_at IS NULL AND c.expires_at > $2`
const COUNT_LINEAGE = 'SELECT count(*) AS count FROM capability_lineage WHERE ancestor_id = $1'

/** Whether it still lies within its parent: the terms of a connection may have been changed since it was judged. */
const isWithin = (c: NewCapability, parent: Ancestor, judgedBy: RuledScope | undefined): boolean =>
  isDeepStrictEqual(JSON.parse(parent.scope), judgedBy) &&
  c.expiresAt <= parent.expiresAt &&
  (!c.showsBalance || parent.showsBalance === 1)

/** @throws {GatewayError} as `insertCapability`, of a parent that cannot be narrowed further */
function* lockParent(
  c: NewCapability,
  parentId: string,
  judgedBy: RuledScope | undefined,
): Command<Ancestor> {
  const lineage = yield* all<Ancestor>(LOCK_LINEAGE, parentId, c.accountId, c.credentialId)
  const parent = lineage.find(({ id, credentialId }) => id === parentId && credentialId === c.credentialId)
  if (!parent)
    throw new GatewayError('capability_not_found', 'The capability this one is cut from does not exist.')
  if (lineage.length >= MAX_DEPTH)
    throw new GatewayError(
      'state_conflict',
      `A capability can be narrowed ${MAX_DEPTH - 1} times over. Narrow one that is closer to the first.`,
    )
  if (lineage.some((ancestor) => ancestor.revokedAt !== null))
    throw new GatewayError(
      'state_conflict',
      'The capability this one is cut from is revoked: ask for a new one.',
    )
  const isConnected = lineage.some(({ credentialId }) => credentialId === null)
  if (isConnected && !(yield* lockStanding(parent.rootId)))
    throw new GatewayError(
      'state_conflict',
      'The person who connected this assistant may not do so any more: ask an owner of the account to connect it.',
    )
  if (!isWithin(c, parent, judgedBy))
    throw new GatewayError(
      'state_conflict',
      'The capability this one is cut from was changed meanwhile, and nothing was issued. Try again.',
      { reason: 'parent_changed' },
    )
  const children = yield* first<{ count: number }>(COUNT_CHILDREN, parentId, c.createdAt)
  if ((children?.count ?? 0) >= MAX_CHILDREN)
    throw new GatewayError(
      'state_conflict',
      `${MAX_CHILDREN} capabilities that were narrowed from this one are still good. Revoke one that is done, or wait until one expires.`,
    )
  const whole = yield* first<{ count: number }>(COUNT_LINEAGE, parent.rootId)
  if ((whole?.count ?? 0) >= MAX_LINEAGE)
    throw new GatewayError(
      'state_conflict',
      `From one issued capability come ${MAX_LINEAGE} at most, itself and those that have ended included. Ask the operator for a new one.`,
    )
  return parent
}

/**
 * Stores it with its budgets, on its lineage: the root that limits count on, and whether any budget is to be asked.
 * @throws {GatewayError} credential_not_found, capability_not_found (the parent), or state_conflict when one of them is revoked, the parent
 * is not as it was judged any more, or the lineage is as long or as large as it may be
 */
export const insertCapability = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  capability: NewCapability
  tokenHash: Buffer
  budgets?: readonly BudgetLimit[] | undefined
  /** Of the parent, where there is one: the scope that this one's was found to lie within. */
  parentScope?: RuledScope | undefined
}): Command<void> {
  const { capability: c, tokenHash, budgets = [], parentScope } = input
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
  const parent = c.parentId === null ? undefined : yield* lockParent(c, c.parentId, parentScope)
  yield* all(
    insertInto('capabilities', [...capabilityFields, ...flags, 'tokenHash']),
    c.id,
    c.accountId,
    c.credentialId,
    c.parentId,
    parent?.rootId ?? c.id,
    c.label,
    JSON.stringify(c.scope),
    c.maxUses,
    c.uses,
    c.createdAt,
    c.expiresAt,
    c.revokedAt,
    budgets.length > 0 || parent?.budgeted === 1 ? 1 : 0,
    c.showsBalance ? 1 : 0,
    tokenHash,
  )
  yield* setBudgets(c.id, budgets)
  yield* all('INSERT INTO capability_lineage (capability_id, ancestor_id) VALUES ($1, $1)', c.id)
  if (c.parentId !== null)
    yield* all(
      `INSERT INTO capability_lineage (capability_id, ancestor_id)
       SELECT $1, ancestor_id FROM capability_lineage WHERE capability_id = $2`,
      c.id,
      c.parentId,
    )
})

export const ISSUED_FIELDS = [...capabilityFields.filter((field) => field !== 'uses'), ...flags]
export const ISSUED = columns(ISSUED_FIELDS)
const FIND_CAPABILITY = `SELECT ${ISSUED} FROM capabilities WHERE token_hash = $1`
/** Returns revoked and expired ones too: the caller says which it was. */
export const findCapability = command({ kind: 'lookup', cached: true })(function* (
  tokenHash: Buffer,
): Command<HeldCapability | undefined> {
  const row = yield* first<Omit<CapabilityRow, 'uses'>>(FIND_CAPABILITY, tokenHash)
  return row && toHeld(row)
})

/** Revoked and expired ones too, with their uses. */
export const findCapabilityById = command({ kind: 'read' })(function* (
  id: string,
  accountId: string,
): Command<Capability | undefined> {
  const row = yield* first<CapabilityRow>(
    `SELECT ${CAPABILITY} FROM capabilities WHERE id = $1 AND account_id = $2`,
    id,
    accountId,
  )
  return row && toCapability(row)
})

/** Newest first, revoked and expired ones too; of one credential, or of one lineage, where the filter names it. */
export const listCapabilities = command({ kind: 'read' })(function* (
  filter: { accountId: string; credentialId?: string | undefined; rootId?: string | undefined },
  page: PageRequest,
): Command<Page<Capability>> {
  return yield* selectPage<CapabilityRow, Capability>(
    { columns: CAPABILITY, from: 'capabilities', id: 'id' },
    [
      ['account_id = $', filter.accountId],
      ['credential_id = $', filter.credentialId],
      ['id IN (SELECT capability_id FROM capability_lineage WHERE ancestor_id = $)', filter.rootId],
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
  /** Of the asking agent: only this capability, and what was narrowed from it, is found. */
  within?: string | undefined
  now: Millis
}): Command<number | undefined> {
  const { id, accountId, within = id, now } = input
  // The lock comes in a statement of its own: the next one then sees what was narrowed while this one waited.
  const found = yield* first(
    `SELECT id FROM capabilities WHERE id = $1 AND account_id = $2
       AND EXISTS (SELECT 1 FROM capability_lineage WHERE capability_id = $1 AND ancestor_id = $3) FOR UPDATE`,
    id,
    accountId,
    within,
  )
  if (!found) return undefined
  const revoked = yield* all(
    `UPDATE capabilities SET revoked_at = $1 WHERE id IN (
       SELECT id FROM capabilities WHERE revoked_at IS NULL
         AND id IN (SELECT capability_id FROM capability_lineage WHERE ancestor_id = $2) ORDER BY id FOR UPDATE
     ) RETURNING id`,
    now,
    id,
  )
  return revoked.length
})

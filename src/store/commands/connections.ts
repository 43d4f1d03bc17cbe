// Assistants that people allowed to connect, and the access tokens that lead to them.
import type { Scope } from '../../../schemas/http.ts'
import { type Command, command, first } from '../command.ts'
import type { FoundAccess, HeldConnection } from '../ports/identity.ts'
import type { HeldCapability } from '../ports/credentials.ts'

type AccessRow = Omit<
  HeldCapability,
  'scope' | 'isBudgeted' | 'showsBalance' | 'id' | 'credentialId' | 'parentId'
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
  mayPay: number
  mayOperate: number
  endsAt: number
}

const FIND_ACCESS = `SELECT t.expires_at AS "endsAt", c.id AS "connectionId", c.client_id AS "clientId", c.client_name AS "clientName",
    c.person_id AS "personId", c.may_pay AS "mayPay", c.may_operate AS "mayOperate", m.role, m.admin,
    k.id AS "capabilityId", k.account_id AS "accountId", k.root_id AS "rootId", k.label, k.scope, k.max_uses AS "maxUses",
    k.budgeted, k.shows_balance AS "showsBalance", k.created_at AS "createdAt", k.expires_at AS "expiresAt",
    k.revoked_at AS "revokedAt"
  FROM access_tokens t JOIN connections c ON c.id = t.connection_id JOIN capabilities k ON k.id = c.capability_id
  LEFT JOIN memberships m ON m.account_id = c.account_id AND m.person_id = c.person_id
  WHERE t.token_hash = $1`

/** Finds revoked and expired ones too: the caller says which it was. Whoever allowed it may have left: it then operates nothing. */
export const findAccessToken = command({ kind: 'lookup', cached: true })(function* (
  tokenHash: Buffer,
): Command<FoundAccess | undefined> {
  const row = yield* first<AccessRow>(FIND_ACCESS, tokenHash)
  if (!row) return undefined
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
      mayOperate: row.mayOperate === 1 && row.role !== null,
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
      revokedAt: row.revokedAt,
    },
  }
})

// Who said what about a permit, and the request that was approved, sealed. A permit goes out when as many different people have approved it
// as it asks for, all of whom may still approve for the account at that moment.
import { all, columns, type Command, command, first, insertInto, placeholders } from '../command.ts'
import { addCounts } from './counts.ts'
import { addShare, lockMandate } from './mandates.ts'
import { keepEvidence } from './permit-evidence.ts'
import { getPermit, PERMIT } from './permits.ts'
import type { Millis } from '../model.ts'
import type { DecideResult, Decider, Decision, Permit, PermitLook } from '../ports/actions.ts'

const fields = [
  'permitId',
  'decidedBy',
  'decision',
  'kind',
  'method',
  'sessionId',
  'address',
  'decidedAt',
] as const
const INSERT = `${insertInto('permit_decisions', fields)} ON CONFLICT DO NOTHING RETURNING permit_id`

const DECIDE = `UPDATE permits SET state = $1, decided_at = $2, decided_by = $3, expires_at = COALESCE($4, expires_at),
    summary = NULL, evidence_bytes = $6
  WHERE id = $5 AND state = 'pending_approval' AND expires_at > $2 RETURNING ${PERMIT}`

/**
 * `pending_approval -> ready | refused`, once, before it expires; `expiresAt` is that of the approved permit, cut to
 * its mandate's. Refusing gives the mandate its share back. Where `people` is 2 the first of them changes nothing but that it is kept: what was
 * said by somebody who may not approve any more does not count. `changed` false: it was in another state, as returned, or the `reason` says why.
 * @param input.people different people who have to approve; 1 where a key may
 * @param input.evidence the sealed request, kept with the approval that lets it go out where its account has room
 */
export const decidePermit = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  accountId: string
  decision: 'approve' | 'refuse'
  by: Decider
  people: number
  evidence: Uint8Array | null
  expiresAt: Millis
  now: Millis
}): Command<DecideResult | undefined> {
  const { id, accountId, decision, by, people, evidence, expiresAt, now } = input
  const found = yield* getPermit(id)
  if (found?.accountId !== accountId) return undefined
  const isApproved = decision === 'approve'
  // Whoever decides about a permit of this mandate at the same time waits here.
  const mandate = yield* lockMandate(found.mandateId, accountId)
  const permit = yield* getPermit(id)
  if (!permit) return undefined
  if (permit.state !== 'pending_approval' || permit.expiresAt <= now) return { permit, changed: false }
  if (isApproved && by.kind === 'person' && !(yield* mayApprove(accountId, by.id)))
    return { permit, changed: false, reason: 'not_member' }

  const { kind, method, sessionId, address } = by
  const kept = yield* first(INSERT, id, by.id, decision, kind, method, sessionId, address, now)
  if (!kept && isApproved) return { permit, changed: false, reason: 'repeated' }
  const missing = isApproved && people > 1 ? people - (yield* countApprovals(id, accountId)) : 0
  if (missing > 0) return { permit, changed: true, missing }

  const until = isApproved ? Math.min(expiresAt, mandate?.expiresAt ?? expiresAt) : null
  const isKept = isApproved && evidence !== null && (yield* keepEvidence(id, accountId, evidence))
  const row = yield* first<Permit>(
    DECIDE,
    isApproved ? 'ready' : 'refused',
    now,
    by.id,
    until,
    id,
    isKept ? evidence.length : null,
  )
  if (!row) throw new Error('a permit whose mandate is locked is decided by nobody else')
  if (!isApproved) yield* addShare(row.mandateId, -1, -row.cost)
  yield* addCounts(accountId, isApproved ? { permitsApproved: 1 } : { permitsRefused: 1 })
  return { permit: { ...row }, changed: true, missing: 0 }
})

// Roles that may approve (tools/actions-approve.ts).
const MAY_APPROVE = `m.role IN ('owner', 'operator', 'approver') AND p.disabled_at IS NULL`
const FIND_APPROVER = `SELECT 1 FROM memberships m JOIN people p ON p.id = m.person_id
  WHERE m.account_id = $1 AND m.person_id = $2 AND ${MAY_APPROVE}`
const COUNT_APPROVALS = `SELECT count(*) AS count FROM permit_decisions d
  JOIN memberships m ON m.account_id = $2 AND m.person_id = d.decided_by
  JOIN people p ON p.id = m.person_id
  WHERE d.permit_id = $1 AND d.decision = 'approve' AND d.kind = 'person' AND ${MAY_APPROVE}`

function* mayApprove(accountId: string, personId: string): Command<boolean> {
  return (yield* first(FIND_APPROVER, accountId, personId)) !== undefined
}

function* countApprovals(permitId: string, accountId: string): Command<number> {
  return Number((yield* first<{ count: number }>(COUNT_APPROVALS, permitId, accountId))?.count ?? 0)
}

const LIST = `SELECT ${columns(fields)} FROM permit_decisions WHERE permit_id IN`
type DecisionRow = Omit<Decision, 'id'> & { decidedBy: string }

/** What was said about these permits, in the order in which it was said. */
export const listDecisions = command({ kind: 'read' })(function* (
  permitIds: readonly string[],
): Command<readonly Decision[]> {
  if (permitIds.length === 0) return []
  const rows = yield* all<DecisionRow>(
    `${LIST} (${placeholders(permitIds)}) ORDER BY decided_at, decided_by`,
    ...permitIds,
  )
  return rows.map(({ decidedBy, ...row }) => ({ ...row, id: decidedBy }))
})

const LOOK = `SELECT p.id, p.state, p.expires_at AS "expiresAt",
    (SELECT count(*) FROM permit_decisions d WHERE d.permit_id = p.id) AS decisions,
    CASE WHEN m.revoked_at IS NULL AND c.revoked_at IS NULL AND c.version = p.credential_version THEN 0 ELSE 1 END AS revoked
  FROM permits p
  LEFT JOIN mandates m ON m.id = p.mandate_id AND m.account_id = p.account_id
  LEFT JOIN credentials c ON c.id = p.credential_id AND c.account_id = p.account_id
  WHERE p.id IN`
/** Lengths of a list of ids: few, since each is a statement that is prepared by its text. */
const LENGTHS = [1, 8, 64, 512] as const

/** How these permits stand, in no order; one that is gone is left out. At most 512 of them. */
export const lookAtPermits = command({ kind: 'read' })(function* (
  ids: readonly string[],
): Command<readonly PermitLook[]> {
  if (ids.length === 0) return []
  const length = LENGTHS.find((each) => each >= ids.length)
  if (length === undefined) throw new Error('more permits than one look takes')
  const asked = Array.from({ length }, (_, at) => ids[at] ?? '')
  const rows = yield* all<Omit<PermitLook, 'isRevoked'> & { revoked: number }>(
    `${LOOK} (${placeholders(asked)})`,
    ...asked,
  )
  return rows.map(({ revoked, decisions, ...row }) => ({
    ...row,
    decisions: Number(decisions),
    isRevoked: revoked === 1,
  }))
})

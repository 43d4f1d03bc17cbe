// Mandates, permits and their executions to put into a store, and what must be true of them at every moment.
import { createHash, randomBytes } from 'node:crypto'
import { newId } from '../../src/lib/ids.ts'
import type { BudgetLimit } from '../../src/store/ports/budgets.ts'
import type { ActionCounts, Mandate, NewMandate, NewPermit, Permit, Store } from '../../src/store/ports.ts'
import type { Attempt } from '../../src/store/model.ts'
import { addAccount, addCredential, nextTransaction, NOW, type Place, reservation, times } from './store.ts'

export const BOOT = 'boot-1'
export const HOUR_MS = 3600 * 1000

/** An account, a credential of it, and a mandate over that. */
export interface Grant {
  readonly accountId: string
  readonly credentialId: string
  readonly mandate: Mandate
}

export const newMandate = (
  of: { accountId: string; credentialId: string },
  over: Partial<NewMandate> = {},
): NewMandate => ({
  id: newId('mdt', NOW),
  accountId: of.accountId,
  digest: randomBytes(32).toString('base64url'),
  purpose: 'Pay the invoices of May – “all of them”',
  credentialId: of.credentialId,
  host: 'api.example.com',
  pathPrefix: '/v1',
  methods: ['GET', 'POST'],
  maxCalls: 3,
  maxCredits: null,
  requiresApproval: false,
  approval: null,
  expiresAt: NOW + HOUR_MS,
  createdAt: NOW,
  ...over,
})

export async function addGrant(
  store: Store,
  credits: number,
  terms: Partial<NewMandate> = {},
  budgets: readonly BudgetLimit[] = [],
): Promise<Grant> {
  const accountId = await addAccount(store, credits)
  const { id: credentialId } = await addCredential(store, accountId, budgets)
  const mandate = await store.insertMandate(newMandate({ accountId, credentialId }, terms))
  return { accountId, credentialId, mandate }
}

export const SUMMARY = JSON.stringify({ method: 'POST', url: 'https://api.example.com/v1/pay', text: 'Pay' })

export const newPermit = (grant: Grant, over: Partial<NewPermit> = {}): NewPermit => {
  const { requiresApproval } = grant.mandate
  return {
    id: newId('pmt', NOW),
    accountId: grant.accountId,
    mandateId: grant.mandate.id,
    credentialId: grant.credentialId,
    credentialVersion: 1,
    state: requiresApproval ? 'pending_approval' : 'ready',
    tokenSha256: createHash('sha256').update(randomBytes(8)).digest('hex'),
    requestDigest: 'ZGlnZXN0',
    method: 'POST',
    host: 'api.example.com',
    cost: 1,
    summary: requiresApproval ? SUMMARY : null,
    createdAt: NOW,
    expiresAt: NOW + 300_000,
    approval: null,
    preparedKind: 'service_key',
    preparedBy: 'key_preparer',
    preparedPerson: null,
    preparedAddress: null,
    ...over,
  }
}

/** The permit as it stands after `preparePermit`. */
export const prepared = (permit: NewPermit): Permit => ({
  ...permit,
  decidedAt: null,
  decidedBy: null,
  attemptId: null,
  evidenceBytes: null,
})

/** A key that decides, alone. */
export const byKey = (id: string) => ({
  by: { kind: 'service_key' as const, id, method: null, sessionId: null, address: '127.0.0.1' },
  people: 1,
  evidence: null,
})

export const preparation = (
  grant: Grant,
  over: Partial<NewPermit> = {},
): Parameters<Store['preparePermit']>[0] => ({ permit: newPermit(grant, over), needsBalance: 1, now: NOW })

/** Prepares a permit that must come about. */
export async function addPermit(
  store: Store,
  grant: Grant,
  over: Partial<NewPermit> = {},
): Promise<NewPermit> {
  const input = preparation(grant, over)
  const result = await store.preparePermit(input)
  if (!result.ok) throw new Error(result.reason)
  return input.permit
}

/** Fifty at once: more would wait for a connection longer than the store lets anybody wait. */
export async function addMany(
  store: Store,
  grant: Grant,
  count: number,
  over: Partial<NewPermit>,
): Promise<NewPermit[]> {
  const added: NewPermit[] = []
  while (added.length < count)
    added.push(...(await Promise.all(times(50, () => addPermit(store, grant, over)))))
  return added
}

export function execution(
  permit: Pick<Permit, 'id' | 'accountId' | 'credentialId' | 'credentialVersion'>,
  bootId: string = BOOT,
  over: Partial<Attempt> = {},
): Parameters<Store['reserveAction']>[0] {
  const { attempt } = reservation(NO_CAPABILITY, bootId, {
    kind: 'action',
    accountId: permit.accountId,
    capabilityId: null,
    permitId: permit.id,
    credentialId: permit.credentialId,
    credentialVersion: permit.credentialVersion,
    ...over,
  })
  return { attempt, bootId, transactionId: nextTransaction(), cost: 1, isBudgeted: false, now: NOW }
}

export function edgeCall(
  accountId: string,
  bootId: string = BOOT,
  over: Partial<Attempt> = {},
): Parameters<Store['reserveEdgeCall']>[0] {
  const { attempt } = reservation(NO_CAPABILITY, bootId, {
    kind: 'edge',
    accountId,
    capabilityId: null,
    credentialId: null,
    credentialVersion: null,
    ...over,
  })
  return { attempt, bootId, transactionId: nextTransaction(), cost: 1, isBudgeted: false, now: NOW }
}

const NO_CAPABILITY = { accountId: '', credential: { id: '' }, capability: { id: '' } }

export const refundOf = (id: string, bootId: string = BOOT): Parameters<Store['refundAttempt']>[0] => ({
  id,
  bootId,
  outcome: 'dns_failed',
  transactionId: nextTransaction(),
  now: NOW + 3,
})

/** How much of its mandate permits hold. */
export async function heldOf(store: Store, { mandate, accountId }: Grant): Promise<[number, number]> {
  const stored = await store.getMandate(mandate.id, accountId)
  return [stored!.calls, stored!.credits]
}

/** What is read past the ports and contradicts itself: empty, as long as nothing was swept. */
export async function brokenActions(place: Place): Promise<unknown[]> {
  const held = `SELECT p.mandate_id, count(*) AS calls, sum(p.cost) AS credits
    FROM permits p LEFT JOIN attempts a ON a.id = p.attempt_id
    WHERE p.state IN ('pending_approval', 'ready') OR (p.state = 'executed' AND a.state <> 'refunded')
    GROUP BY p.mandate_id`
  const prepared = `SELECT account_id, count(*) AS prepared,
      sum(CASE WHEN decided_at IS NOT NULL AND state <> 'refused' THEN 1 ELSE 0 END) AS approved,
      sum(CASE WHEN state = 'refused' THEN 1 ELSE 0 END) AS refused
    FROM permits GROUP BY account_id`
  const executed = `SELECT account_id, count(*) AS executions,
      sum(CASE WHEN state = 'settled' THEN 1 ELSE 0 END) AS settled,
      sum(CASE WHEN state = 'ambiguous' THEN 1 ELSE 0 END) AS ambiguous,
      sum(CASE WHEN state = 'refunded' THEN 1 ELSE 0 END) AS refunded
    FROM attempts WHERE kind = 'action' GROUP BY account_id`
  const charged = `SELECT account AS account_id, -sum(amount) AS credits FROM ledger_entries
    WHERE kind = 'action' AND account NOT LIKE 'system:%' GROUP BY account`
  const returned = `SELECT account AS account_id, sum(amount) AS credits FROM ledger_entries
    WHERE kind = 'refund' AND account NOT LIKE 'system:%'
      AND reference IN (SELECT id FROM attempts WHERE kind = 'action') GROUP BY account`
  // SQLite has no FULL JOIN everywhere: what one side lacks is caught by the other query.
  return place.query(`
    SELECT m.id, 'mandate' AS broken FROM mandates m LEFT JOIN (${held}) h ON h.mandate_id = m.id
    WHERE m.calls <> COALESCE(h.calls, 0) OR m.credits <> COALESCE(h.credits, 0)
    UNION ALL
    SELECT c.account_id, 'counts' FROM action_counts c
      LEFT JOIN (${prepared}) p ON p.account_id = c.account_id
      LEFT JOIN (${executed}) e ON e.account_id = c.account_id
      LEFT JOIN (${charged}) l ON l.account_id = c.account_id
      LEFT JOIN (${returned}) r ON r.account_id = c.account_id
    WHERE c.permits_prepared <> COALESCE(p.prepared, 0) OR c.permits_approved <> COALESCE(p.approved, 0)
      OR c.permits_refused <> COALESCE(p.refused, 0) OR c.executions <> COALESCE(e.executions, 0)
      OR c.settled <> COALESCE(e.settled, 0) OR c.ambiguous <> COALESCE(e.ambiguous, 0)
      OR c.refunded <> COALESCE(e.refunded, 0) OR c.credits_charged <> COALESCE(l.credits, 0)
      OR c.credits_refunded <> COALESCE(r.credits, 0)
    UNION ALL
    SELECT account_id, 'uncounted' FROM permits WHERE account_id NOT IN (SELECT account_id FROM action_counts)
    UNION ALL
    SELECT a.id, 'attempt' FROM attempts a LEFT JOIN permits p ON p.id = a.permit_id
    WHERE a.kind = 'action' AND (p.attempt_id IS NULL OR p.attempt_id <> a.id)
    UNION ALL
    SELECT p.id, 'permit' FROM permits p LEFT JOIN attempts a ON a.permit_id = p.id
    WHERE p.state = 'executed' AND (a.id IS NULL OR a.id <> p.attempt_id)
    UNION ALL
    SELECT id, 'summary' FROM permits WHERE summary IS NOT NULL AND state <> 'pending_approval'`)
}

/** What an account is counted that did nothing. */
export const NOTHING: ActionCounts = {
  permitsPrepared: 0,
  permitsApproved: 0,
  permitsRefused: 0,
  executions: 0,
  settled: 0,
  ambiguous: 0,
  refunded: 0,
  creditsCharged: 0,
  creditsRefunded: 0,
}

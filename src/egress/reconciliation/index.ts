// An operator's word about an attempt of which nobody else knows what became of it.
import type { AttemptRecord, Reconciliation } from '../../../schemas/egress.ts'
import type { Operator } from '../../core/caller.ts'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import type { Signer } from '../../receipts/ports.ts'
import { JWS_TYPES } from '../../receipts/types.ts'
import type { Store, StoredReconciliation } from '../../store/ports.ts'
import type { Attempt } from '../../store/model.ts'
import { ATTEMPT_COST, toAttemptRecord } from '../wire.ts'

export interface ReconciliationParts {
  readonly store: Pick<Store, 'findAttempt' | 'reconcileAttempt' | 'getReconciliation'>
  readonly signer: Signer
  readonly baseUrl: string
  readonly now: () => number
}

export interface Decision {
  readonly decision: Reconciliation['decision']
  /** Words of whoever decides; they stand in the receipt and in the record, and nowhere else. */
  readonly reason: string
}

export interface Reconciliations {
  /**
   * Ends an ambiguous attempt by an operator's word. Never sends anything.
   * @throws {GatewayError} attempt_not_found; admin_required for a refund; state_conflict where it is not ambiguous, or was decided otherwise
   */
  reconcile(caller: Operator, attemptId: string, decision: Decision): Promise<AttemptRecord>
  /** The decision about an attempt as its record shows it. */
  find(attempt: Attempt): Promise<Reconciliation | undefined>
}

/** Outcomes that only a decision makes: the list of attempts tells by them where there is one to read. */
const OUTCOMES = { happened: 'reconciled_happened', did_not_happen: 'reconciled_did_not_happen' } as const

/** Reconciles attempts: decision, refund, receipt and record in one transaction. */
export function createReconciliations(parts: ReconciliationParts): Reconciliations {
  const { store, now } = parts

  async function find({ id, outcome }: Attempt): Promise<Reconciliation | undefined> {
    if (!outcome?.startsWith('reconciled_')) return undefined
    const stored = await store.getReconciliation(id)
    return stored && toReconciliation(stored)
  }

  return {
    find,
    async reconcile(caller, attemptId, { decision, reason }) {
      const attempt = await store.findAttempt(attemptId)
      if (!attempt || (attempt.accountId !== caller.accountId && !caller.admin))
        throw new GatewayError('attempt_not_found', 'There is no attempt of this id that you may see.')
      if (decision === 'did_not_happen' && !caller.admin)
        throw new GatewayError(
          'admin_required',
          'That it did not happen gives its credit back, which the administrator of the installation decides: send them the attempt id ' +
            'and what you saw at the upstream.',
        )
      const at = now()
      const receiptId = newId('rcp', at)
      const jws = parts.signer.sign(JWS_TYPES.receipt, {
        iss: parts.baseUrl,
        iat: Math.floor(at / 1000),
        jti: receiptId,
        action: 'egress.reconcile',
        attempt_id: attempt.id,
        amends: attempt.receiptId ?? undefined,
        decision,
        reason,
        decided_by: caller.id,
        was: { state: 'ambiguous', outcome: attempt.outcome },
        refunded: { amount: decision === 'did_not_happen' ? ATTEMPT_COST : 0, unit: 'credit' },
        request: { digest: attempt.requestDigest, host: attempt.host, method: attempt.method },
        times: { created_at: toTimestamp(attempt.createdAt), decided_at: toTimestamp(at) },
      })
      const reconciled = await store.reconcileAttempt({
        id: attempt.id,
        decision,
        outcome: OUTCOMES[decision],
        reason,
        decidedBy: caller.id,
        receipt: { id: receiptId, accountId: attempt.accountId, jws, createdAt: at },
        transactionId: newId('txn', at),
        now: at,
      })
      const after = (await store.findAttempt(attempt.id)) ?? attempt
      const known = await find(after)
      if (!reconciled.ok && known?.decision !== decision)
        throw new GatewayError(
          'state_conflict',
          known
            ? `It was decided before that this ${WORDS[known.decision]}; a decision is final. Its receipt says who decided and why.`
            : `This attempt is ${after.state}: only an ambiguous one is decided by an operator.`,
          { extras: { state: after.state } },
        )
      return { ...toAttemptRecord(after), ...(known && { reconciliation: known }) }
    },
  }
}

const WORDS = { happened: 'happened', did_not_happen: 'did not happen' } as const

const toReconciliation = (stored: StoredReconciliation): Reconciliation => ({
  decision: stored.decision,
  reason: stored.reason,
  was: stored.was,
  decided_by: stored.decidedBy,
  decided_at: toTimestamp(stored.decidedAt),
  receipt_id: stored.receiptId,
})

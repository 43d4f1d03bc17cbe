// Many reservations of fetches as one statement. It judges each against the rows as they are, and then their sums against what is left:
// who fits in any order is done, who is refused in any order is told so, and the rest is left to be reserved one by one.
import { all, type Command } from '../../command.ts'
import type { Reservation } from '../../commands/attempts.ts'
import type { ReserveResult } from '../../ports/attempts.ts'
import { ATTEMPT_COLUMNS } from '../fused/attempts.ts'

/** A reservation as a row of the statement's only parameter. Numbers are JSON's, which holds every one of ours exactly. */
const rowOf = ({ attempt: a, ...input }: Reservation, n: number) => ({
  n,
  id: a.id,
  account: a.accountId,
  capability: a.capabilityId,
  credential: a.credentialId,
  version: a.credentialVersion,
  state: a.state,
  method: a.method,
  host: a.host,
  digest: a.requestDigest,
  key: a.idempotencyKey,
  created_at: a.createdAt,
  sending_at: a.sendingAt,
  boot: input.bootId,
  cost: input.cost,
  transaction: input.transactionId,
  now: input.now,
})

const INPUT = `json_to_recordset($1::json) AS input (n int, id text, account text, capability text, credential text,
    version bigint, state text, method text, host text, digest text, key text, created_at bigint, sending_at bigint,
    boot text, cost bigint, transaction text, now bigint)`

// Locks in the order of every command: credentials, capabilities, accounts, each by id; each step asks for the one before it.
const RESERVE = `WITH input AS MATERIALIZED (SELECT * FROM ${INPUT}),
  credential AS MATERIALIZED (
    SELECT id, account_id, version, revoked_at FROM credentials
    WHERE id = ANY (ARRAY(SELECT DISTINCT credential FROM input)) ORDER BY id FOR SHARE
  ), line AS MATERIALIZED (
    SELECT capability_id, ancestor_id FROM capability_lineage
    WHERE capability_id = ANY (ARRAY(SELECT DISTINCT capability FROM input))
  ), held AS MATERIALIZED (
    SELECT id, revoked_at, expires_at, max_uses, uses FROM capabilities
    WHERE id = ANY (ARRAY(SELECT DISTINCT ancestor_id FROM line)) AND (SELECT count(*) FROM credential) >= 0
    ORDER BY id FOR UPDATE
  ), account AS MATERIALIZED (
    SELECT id, balance FROM accounts
    WHERE id = ANY (ARRAY(SELECT DISTINCT account FROM input)) AND (SELECT count(*) FROM held) >= 0
    ORDER BY id FOR UPDATE
  ), step AS MATERIALIZED (
    SELECT line.capability_id, held.* FROM line JOIN held ON held.id = line.ancestor_id
  ), lineage AS (
    SELECT capability_id, bool_or(revoked_at IS NOT NULL) AS is_revoked, min(expires_at) AS expires_at,
      bool_or(uses >= max_uses) AS is_used_up
    FROM step GROUP BY capability_id
  ), judged AS MATERIALIZED (
    SELECT input.*, account.balance, CASE
      WHEN credential.id IS NULL OR credential.revoked_at IS NOT NULL THEN 'credential_gone'
      WHEN credential.version <> input.version THEN 'credential_changed'
      WHEN lineage.capability_id IS NULL OR is_revoked OR expires_at <= now THEN 'capability_gone'
      WHEN is_used_up THEN 'capability_used_up'
      WHEN balance < cost THEN 'credits'
    END AS refusal
    FROM input JOIN account ON account.id = input.account
      LEFT JOIN credential ON credential.id = input.credential AND credential.account_id = input.account
      LEFT JOIN lineage ON lineage.capability_id = input.capability
  ), wanted AS (
    SELECT capability, count(*) AS uses FROM judged WHERE refusal IS NULL GROUP BY capability
  ), crowded AS (
    SELECT step.id FROM step JOIN wanted ON wanted.capability = step.capability_id
    GROUP BY step.id HAVING sum(wanted.uses) > min(step.max_uses - step.uses)
  ), dear AS (
    SELECT account FROM judged WHERE refusal IS NULL GROUP BY account HAVING sum(cost) > min(balance)
  ), fitting AS MATERIALIZED (
    SELECT * FROM judged WHERE refusal IS NULL AND account NOT IN (SELECT account FROM dear)
      AND capability NOT IN (SELECT capability_id FROM step JOIN crowded USING (id))
  ), paid AS (
    UPDATE accounts SET balance = accounts.balance - bill.cost
    FROM (SELECT account, sum(cost)::bigint AS cost FROM fitting GROUP BY account) AS bill
    WHERE accounts.id = bill.account RETURNING accounts.id, accounts.balance
  ), used AS (
    UPDATE capabilities SET uses = capabilities.uses + done.uses
    FROM (
      SELECT step.id, count(*) AS uses FROM fitting JOIN step ON step.capability_id = fitting.capability GROUP BY step.id
    ) AS done WHERE capabilities.id = done.id
  ), attempt AS (
    INSERT INTO attempts (${ATTEMPT_COLUMNS})
    SELECT id, 'fetch', account, capability, NULL, credential, version, state, method, host, digest, key, created_at, sending_at,
      NULL, NULL, NULL, NULL, NULL, boot, cost
    FROM fitting
  ), entries AS (
    INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
    SELECT transaction, side.account, side.amount, 'egress', id, now
    FROM fitting, LATERAL (VALUES (fitting.account, -cost), ('system:usage', cost)) AS side (account, amount)
    WHERE cost > 0
  )
  SELECT n, judged.refusal, CASE WHEN fitting.n IS NULL THEN judged.balance ELSE paid.balance END AS balance,
    fitting.n IS NOT NULL AS "isPaid"
  FROM judged LEFT JOIN fitting USING (n) LEFT JOIN paid ON paid.id = judged.account ORDER BY n DESC`

interface Judged {
  readonly n: number
  readonly refusal: Exclude<Exclude<ReserveResult, { ok: true }>['reason'], 'budget' | 'repeated'> | null
  /** Of the account: after all of the group where it was paid, else before it. */
  readonly balance: number
  readonly isPaid: boolean
}

/** Budgets and callers' keys have rows of their own to lock: they are reserved one by one. */
export const isPlain = ({ isBudgeted, once }: Reservation): boolean => !isBudgeted && once === undefined

/**
 * As if those that are refused had come first, and then those that are paid for in their order.
 * @returns an answer for each in order; undefined where it is for the command alone to say, and nothing was done
 */
export function* reserveTogether(
  inputs: readonly Reservation[],
): Command<readonly (ReserveResult | undefined)[]> {
  const rows = yield* all<Judged>(RESERVE, JSON.stringify(inputs.map(rowOf)))
  const answers: (ReserveResult | undefined)[] = inputs.map(() => undefined)
  // From the last to the first: what an earlier one had left is what those after it took, too.
  const takenLater = new Map<string, number>()
  for (const { n, refusal, balance, isPaid } of rows) {
    const { attempt, cost } = inputs[n]!
    if (isPaid) {
      const later = takenLater.get(attempt.accountId) ?? 0
      takenLater.set(attempt.accountId, later + cost)
      answers[n] = { ok: true, balance: balance + later }
    } else if (refusal === 'credits') answers[n] = { ok: false, reason: refusal, balance }
    else if (refusal !== null) answers[n] = { ok: false, reason: refusal }
  }
  return answers
}

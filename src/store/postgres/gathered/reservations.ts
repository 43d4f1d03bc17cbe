// Many reservations of fetches as one statement. It judges each against the rows as they are, and then their sums against what is left:
// who fits in any order is done, who is refused in any order is told so, and the rest is left to be reserved one by one.
import { periodsAt } from '../../../lib/periods.ts'
import { all, type Command } from '../../command.ts'
import type { Reservation } from '../../commands/attempts.ts'
import { budgetSql } from '../../commands/budgets.ts'
import type { Millis } from '../../model.ts'
import type { ReserveResult } from '../../ports/attempts.ts'
import { ATTEMPT_COLUMNS } from '../fused/attempts.ts'
import { afterEach } from './balances.ts'
import { BRIEFLY } from '../patience.ts'

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

/** The parts of the statement that ask budgets: most groups have none. `$2` to `$4` say when the hour, the day and the month began. */
interface BudgetParts {
  /** After the capabilities and before the accounts. */
  readonly locked: string
  /** Which step the accounts wait for. */
  readonly last: string
  /** What each call would count on each budget, and the budgets that have no room for all of it. */
  readonly asked: string
  /** Of those that fit. */
  readonly condition: string
  readonly counted: string
}
const NO_BUDGETS: BudgetParts = { locked: '', last: 'held', asked: '', condition: '', counted: '' }
const BUDGETS: BudgetParts = {
  locked: `, budget AS MATERIALIZED (
    SELECT holder, unit, period, max_used, ${budgetSql.usedIn(2)} AS used, ${budgetSql.startedIn(2)} AS started_at
    FROM budgets WHERE holder = ANY (ARRAY(SELECT id FROM held UNION SELECT id FROM credential))
    ORDER BY holder, unit, period FOR UPDATE
  )`,
  last: 'budget',
  asked: `, spender AS (
    SELECT n, step.id AS holder FROM input JOIN step ON step.capability_id = input.capability
    UNION SELECT n, credential FROM input
  ), asked AS MATERIALIZED (
    SELECT n, budget.*, CASE unit WHEN 'calls' THEN 1 WHEN 'credits' THEN cost ELSE 0 END AS amount
    FROM judged JOIN spender USING (n) JOIN budget USING (holder) WHERE refusal IS NULL
  ), narrow AS (
    SELECT holder, unit, period FROM asked GROUP BY holder, unit, period
    HAVING sum(amount) > 0 AND sum(amount) > min(max_used - used)
  )`,
  condition: 'AND n NOT IN (SELECT n FROM asked JOIN narrow USING (holder, unit, period))',
  counted: `, spent AS (
    UPDATE budgets SET used = took.used, started_at = took.started_at
    FROM (
      SELECT holder, unit, period, min(used) + sum(amount)::bigint AS used, min(started_at) AS started_at
      FROM asked JOIN fitting USING (n) GROUP BY holder, unit, period
    ) AS took WHERE budgets.holder = took.holder AND budgets.unit = took.unit AND budgets.period = took.period
  )`,
}

// Locks in the order of every command: credentials, capabilities, budgets, accounts, each by id; each step asks for the one before it.
// NO KEY: whoever inserts a row that names an account shares its key, and enough of them would keep everybody else of the group waiting.
const textOf = (budgets: BudgetParts) => `WITH input AS MATERIALIZED (SELECT * FROM ${INPUT}),
  credential AS MATERIALIZED (
    SELECT id, account_id, version, revoked_at FROM credentials
    WHERE id = ANY (ARRAY(SELECT DISTINCT credential FROM input)) ${BRIEFLY} ORDER BY id FOR SHARE
  ), line AS MATERIALIZED (
    SELECT capability_id, ancestor_id FROM capability_lineage
    WHERE capability_id = ANY (ARRAY(SELECT DISTINCT capability FROM input))
  ), held AS MATERIALIZED (
    SELECT id, revoked_at, expires_at, max_uses, uses FROM capabilities
    WHERE id = ANY (ARRAY(SELECT DISTINCT ancestor_id FROM line)) AND (SELECT count(*) FROM credential) >= 0
    ORDER BY id FOR UPDATE
  )${budgets.locked}, account AS MATERIALIZED (
    SELECT id, balance FROM accounts
    WHERE id = ANY (ARRAY(SELECT DISTINCT account FROM input)) AND (SELECT count(*) FROM ${budgets.last}) >= 0
    ORDER BY id FOR NO KEY UPDATE
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
  )${budgets.asked}, fitting AS MATERIALIZED (
    SELECT * FROM judged WHERE refusal IS NULL AND account NOT IN (SELECT account FROM dear)
      AND capability NOT IN (SELECT capability_id FROM step JOIN crowded USING (id))
      ${budgets.condition}
  )${budgets.counted}, paid AS (
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
  FROM judged LEFT JOIN fitting USING (n) LEFT JOIN paid ON paid.id = judged.account`

interface Judged {
  readonly n: number
  readonly refusal: Exclude<Exclude<ReserveResult, { ok: true }>['reason'], 'budget' | 'repeated'> | null
  /** Of the account: after all of the group where it was paid, else before it. */
  readonly balance: number
  readonly isPaid: boolean
}

const RESERVE = { plain: textOf(NO_BUDGETS), budgeted: textOf(BUDGETS) }

/** A caller's key is a row that two may want to make: those that have one are reserved one by one. */
export const isPlain = ({ once }: Reservation): boolean => once === undefined

/** Budgets of a group are counted in one hour, one day and one month. */
const startsOf = ({ now }: Reservation): readonly Millis[] => {
  const { hour, day, month } = periodsAt(now)
  return [hour, day, month]
}

function* judge(inputs: readonly Reservation[]): Command<readonly Judged[]> {
  const [first] = inputs
  if (!first || !inputs.some(({ isBudgeted }) => isBudgeted))
    return yield* all<Judged>(RESERVE.plain, JSON.stringify(inputs.map(rowOf)))
  const starts = startsOf(first)
  const rows = inputs.map(rowOf).filter((_, n) => String(startsOf(inputs[n]!)) === String(starts))
  return yield* all<Judged>(RESERVE.budgeted, JSON.stringify(rows), ...starts)
}

/**
 * As if those that are refused had come first, and then those that are paid for in their order.
 * @returns an answer for each in order; undefined where it is for the command alone to say, and nothing was done
 */
export function* reserveTogether(
  inputs: readonly Reservation[],
): Command<readonly (ReserveResult | undefined)[]> {
  const rows = yield* judge(inputs)
  const answers: (ReserveResult | undefined)[] = inputs.map(() => undefined)
  const paid = rows.filter(({ isPaid }) => isPaid)
  const balances = afterEach(paid, (n) => ({ account: inputs[n]!.attempt.accountId, cost: inputs[n]!.cost }))
  for (const { n, refusal, balance, isPaid } of rows) {
    if (isPaid) answers[n] = { ok: true, balance: balances.get(n)! }
    else if (refusal === 'credits') {
      // A budget that is in the way would be said first.
      if (!inputs[n]!.isBudgeted) answers[n] = { ok: false, reason: refusal, balance }
    } else if (refusal !== null) answers[n] = { ok: false, reason: refusal }
  }
  return answers
}

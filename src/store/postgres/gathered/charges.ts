// Many debits of priced calls as one statement, and many of their ends as another. A debit whose capability has budgets, one that is or
// was asked for twice and one that has no account are for the command alone to answer.
import { all, type Command } from '../../command.ts'
import type { Commands } from '../../commands/index.ts'
import { afterEach } from './balances.ts'
import { BRIEFLY } from '../patience.ts'

type Debit = Parameters<Commands['debitCredits']>[0]
type Settlement = Parameters<Commands['settleDebit']>[0]
interface Debited {
  readonly ok: boolean
  readonly balance: number
}

const debitRow = (debit: Debit, n: number) => ({
  n,
  id: debit.transactionId,
  account: debit.accountId,
  amount: debit.amount,
  boot: debit.bootId,
  reference: debit.reference,
  capability: debit.capabilityId ?? null,
  now: debit.now,
})

const DEBITS = `json_to_recordset($1::json) AS input (n int, id text, account text, amount bigint, boot text, reference text,
    capability text, now bigint)`

// What a command finds before it has the account's row is found here before, too; two debits of one name meet at the key of the entries.
const DEBIT = `WITH input AS MATERIALIZED (SELECT * FROM ${DEBITS}),
  budgeted AS (
    SELECT n FROM input WHERE EXISTS (
      SELECT 1 FROM budgets WHERE holder IN (
        SELECT ancestor_id FROM capability_lineage WHERE capability_id = input.capability
        UNION ALL SELECT credential_id FROM capabilities WHERE id = input.capability))
  ), repeated AS (
    SELECT n FROM input JOIN ledger_entries AS entry ON entry.account = input.account AND entry.transaction_id = input.id
  ), account AS MATERIALIZED (
    SELECT id, balance FROM accounts WHERE id = ANY (ARRAY(SELECT DISTINCT account FROM input)) ${BRIEFLY}
    ORDER BY id FOR NO KEY UPDATE
  ), judged AS MATERIALIZED (
    SELECT input.*, account.balance, balance >= amount AS is_covered FROM input JOIN account ON account.id = input.account
    WHERE n NOT IN (SELECT n FROM budgeted UNION ALL SELECT n FROM repeated)
  ), dear AS (
    SELECT account FROM judged WHERE is_covered GROUP BY account HAVING sum(amount) > min(balance)
  ), fitting AS MATERIALIZED (
    SELECT * FROM judged WHERE is_covered AND account NOT IN (SELECT account FROM dear)
  ), paid AS (
    UPDATE accounts SET balance = accounts.balance - bill.amount
    FROM (SELECT account, sum(amount)::bigint AS amount FROM fitting GROUP BY account) AS bill
    WHERE accounts.id = bill.account RETURNING accounts.id, accounts.balance
  ), entries AS (
    INSERT INTO ledger_entries (transaction_id, account, amount, kind, reference, created_at)
    SELECT id, side.account, side.amount, 'call', reference, now
    FROM fitting, LATERAL (VALUES (fitting.account, -amount), ('system:usage', amount)) AS side (account, amount)
  ), opened AS (
    INSERT INTO open_debits (transaction_id, boot_id, capability_id) SELECT id, boot, capability FROM fitting
  )
  SELECT n, fitting.n IS NOT NULL AS ok, COALESCE(paid.balance, judged.balance) AS balance
  FROM judged LEFT JOIN fitting USING (n) LEFT JOIN paid ON paid.id = fitting.account
  WHERE fitting.n IS NOT NULL OR NOT judged.is_covered`

/** Whatever is no amount is told so by the command. */
export const isAmount = ({ amount }: Debit): boolean => Number.isSafeInteger(amount) && amount > 0

/**
 * As if those that are refused had come first, and then those that are paid in their order.
 * @returns an answer for each in order; undefined where it is for the command alone to say, and nothing was done
 */
export function* debitTogether(inputs: readonly Debit[]): Command<readonly (Debited | undefined)[]> {
  const answers: (Debited | undefined)[] = inputs.map(() => undefined)
  const first = new Map(
    inputs
      .map(debitRow)
      .toReversed()
      .map((row) => [row.id, row]),
  )
  const rows = yield* all<Debited & { n: number }>(DEBIT, JSON.stringify([...first.values()]))
  const paid = rows.filter(({ ok }) => ok)
  const balances = afterEach(paid, (n) => ({ account: inputs[n]!.accountId, cost: inputs[n]!.amount }))
  for (const { n, ok, balance } of rows) answers[n] = { ok, balance: ok ? balances.get(n)! : balance }
  return answers
}

const settlementRow = ({ transactionId, receipt }: Settlement, n: number) => ({
  n,
  id: transactionId,
  receipt: receipt.id,
  account: receipt.accountId,
  jws: receipt.jws,
  signed_at: receipt.createdAt,
})

const SETTLE = `WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS input (n int, id text, receipt text, account text, jws text, signed_at bigint)
  ), closed AS (
    DELETE FROM open_debits WHERE transaction_id = ANY (ARRAY(SELECT id FROM input)) ${BRIEFLY} RETURNING transaction_id
  ), done AS MATERIALIZED (
    SELECT DISTINCT ON (id) input.* FROM input JOIN closed ON closed.transaction_id = input.id ORDER BY id, n
  ), kept AS (
    INSERT INTO receipts (id, account_id, jws, created_at) SELECT receipt, account, jws, signed_at FROM done
  )
  SELECT n FROM done`

/** @returns an answer for each in order; undefined for one whose debit was not open, and nothing was done */
export function* settleTogether(inputs: readonly Settlement[]): Command<readonly (true | undefined)[]> {
  const answers: (true | undefined)[] = inputs.map(() => undefined)
  for (const { n } of yield* all<{ n: number }>(SETTLE, JSON.stringify(inputs.map(settlementRow))))
    answers[n] = true
  return answers
}

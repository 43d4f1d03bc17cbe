// Many ends of attempts as one statement, each with its receipt.
import { all, type Command } from '../../command.ts'
import type { FinishAttempt, FinishResult } from '../../ports/attempts.ts'
import { BRIEFLY } from '../patience.ts'

const rowOf = ({ receipt, ...end }: FinishAttempt, n: number) => ({
  n,
  id: end.id,
  kind: end.kind,
  boot: end.bootId,
  state: end.state,
  outcome: end.outcome,
  status: end.upstreamStatus,
  digest: end.responseDigest,
  now: end.now,
  receipt: receipt.id,
  receipt_account: receipt.accountId,
  jws: receipt.jws,
  signed_at: receipt.createdAt,
})

const INPUT = `json_to_recordset($1::json) AS input (n int, id text, kind text, boot text, state text, outcome text, status bigint,
    digest text, now bigint, receipt text, receipt_account text, jws text, signed_at bigint)`

const FINISH = `WITH input AS MATERIALIZED (SELECT * FROM ${INPUT}),
  done AS (
    UPDATE attempts SET state = input.state, outcome = input.outcome, upstream_status = input.status,
      response_digest = input.digest, receipt_id = input.receipt, finished_at = input.now
    FROM input WHERE attempts.id = input.id AND attempts.id = ANY (ARRAY(SELECT id FROM input))
      AND boot_id = input.boot AND attempts.kind = input.kind AND attempts.state = 'sending' ${BRIEFLY}
    RETURNING input.n, attempts.account_id
  ), kept AS (
    INSERT INTO receipts (id, account_id, jws, created_at)
    SELECT receipt, receipt_account, jws, signed_at FROM input JOIN done USING (n)
  )
  SELECT n, balance FROM done JOIN accounts ON accounts.id = done.account_id`

/** An answer to keep has a row of its account to ask, and what an action does is counted there: they end one by one. */
export const isBare = ({ kind, answer }: FinishAttempt): boolean => kind !== 'action' && answer === undefined

/** @returns an answer for each in order; undefined for one that was not to be ended like this, and nothing was done */
export function* finishTogether(
  inputs: readonly FinishAttempt[],
): Command<readonly (FinishResult | undefined)[]> {
  const answers: (FinishResult | undefined)[] = inputs.map(() => undefined)
  for (const { n, balance } of yield* all<{ n: number; balance: number }>(
    FINISH,
    JSON.stringify(inputs.map(rowOf)),
  ))
    answers[n] = { ok: true, balance }
  return answers
}

// The tables of limits: lineages of capabilities, and budgets; and the end of secrets that were revoked.
import type { Dialect } from './dialects.ts'

/**
 * Limits follow the lineage: each capability names the one at its beginning. A budget is a limit with its counter, and who has
 * none is not asked for any. Claims and debits name the capability that they count on, to give back what was not spent.
 */
export const budgetTables = ({ id, int, clustered }: Dialect): readonly string[] => [
  `ALTER TABLE capabilities ADD COLUMN root_id ${id} NOT NULL DEFAULT ''`,
  `UPDATE capabilities SET root_id = COALESCE((
    SELECT a.id FROM capability_lineage l JOIN capabilities a ON a.id = l.ancestor_id
    WHERE l.capability_id = capabilities.id AND a.parent_id IS NULL
  ), id)`,
  `ALTER TABLE capabilities ADD COLUMN budgeted ${int} NOT NULL DEFAULT 0 CHECK (budgeted IN (0, 1))`,
  `ALTER TABLE capabilities ADD COLUMN shows_balance ${int} NOT NULL DEFAULT 0 CHECK (shows_balance IN (0, 1))`,
  `ALTER TABLE credentials ADD COLUMN budgeted ${int} NOT NULL DEFAULT 0 CHECK (budgeted IN (0, 1))`,
  `ALTER TABLE credentials ADD COLUMN edited_at ${int}`,
  `ALTER TABLE payment_claims ADD COLUMN capability_id ${id}`,
  `ALTER TABLE open_debits ADD COLUMN capability_id ${id}`,
  `CREATE TABLE budgets (
    holder ${id} NOT NULL,
    unit ${id} NOT NULL CHECK (unit IN ('calls', 'credits', 'usdc')),
    period ${id} NOT NULL CHECK (period IN ('hour', 'day', 'month')),
    max_used ${int} NOT NULL CHECK (max_used > 0),
    used ${int} NOT NULL CHECK (used >= 0),
    started_at ${int} NOT NULL,
    PRIMARY KEY (holder, unit, period)
  ) ${clustered}`,
]

/** A budget may be for all time. SQLite cannot change a constraint, so the table takes another's place there. */
export function totalBudgets({ engine, id, int, clustered }: Dialect): readonly string[] {
  const periods = `period IN ('hour', 'day', 'month', 'total')`
  if (engine === 'postgres')
    return [
      `ALTER TABLE budgets DROP CONSTRAINT budgets_period_check, ADD CONSTRAINT budgets_period_check CHECK (${periods})`,
    ]
  return [
    `CREATE TABLE budgets_new (
      holder ${id} NOT NULL,
      unit ${id} NOT NULL CHECK (unit IN ('calls', 'credits', 'usdc')),
      period ${id} NOT NULL CHECK (${periods}),
      max_used ${int} NOT NULL CHECK (max_used > 0),
      used ${int} NOT NULL CHECK (used >= 0),
      started_at ${int} NOT NULL,
      PRIMARY KEY (holder, unit, period)
    ) ${clustered}`,
    `INSERT INTO budgets_new SELECT holder, unit, period, max_used, used, started_at FROM budgets`,
    `DROP TABLE budgets`,
    `ALTER TABLE budgets_new RENAME TO budgets`,
  ]
}

/** Earlier releases kept the sealed secret of a revoked credential. */
export const wipeRevoked = (): readonly string[] => [
  `UPDATE credentials SET ciphertext = '', iv = '', tag = '', wrap_kid = '', wrap_enc = '', wrap_key = ''
    WHERE revoked_at IS NOT NULL`,
]

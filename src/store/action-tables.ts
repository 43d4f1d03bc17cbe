// Tables of what people decide about permits. The tables of mandates and permits themselves stand in migrations.ts.
import type { Dialect } from './dialects.ts'

/**
 * Who has to approve, who prepared, and who said what. `approval`: the rule as JSON; null where nothing is said. `made_by`: the person behind
 * a service key. A decision is one row for each who made it, so that nobody counts twice. The approved request is sealed, and `evidence_bytes`
 * of its permit says how long it is; what an account has of it is counted, so that nobody fills the disk by approving.
 */
export const separationTables = ({ id, int, bytes, plain, clustered }: Dialect): readonly string[] => [
  `ALTER TABLE service_keys ADD COLUMN made_by ${id}`,
  `ALTER TABLE mandates ADD COLUMN approval TEXT`,
  `ALTER TABLE permits ADD COLUMN approval TEXT`,
  `ALTER TABLE permits ADD COLUMN prepared_kind TEXT`,
  `ALTER TABLE permits ADD COLUMN prepared_by ${id}`,
  `ALTER TABLE permits ADD COLUMN prepared_person ${id}`,
  `ALTER TABLE permits ADD COLUMN evidence_bytes ${int}`,
  `CREATE TABLE permit_decisions (
    permit_id ${id} NOT NULL,
    decided_by ${id} NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('approve', 'refuse')),
    kind TEXT NOT NULL CHECK (kind IN ('service_key', 'person', 'connection')),
    method TEXT,
    session_id ${id},
    address TEXT NOT NULL,
    decided_at ${int} NOT NULL,
    PRIMARY KEY (permit_id, decided_by, decision)
  ) ${clustered}`,
  `CREATE TABLE permit_evidence (
    permit_id ${id} PRIMARY KEY,
    sealed ${bytes} NOT NULL
  ) ${plain}`,
  `CREATE TABLE evidence_bytes (
    account_id ${id} PRIMARY KEY,
    bytes ${int} NOT NULL CHECK (bytes >= 0)
  ) ${clustered}`,
]

/** From where a permit was prepared. */
export const preparedFrom = (): readonly string[] => [`ALTER TABLE permits ADD COLUMN prepared_address TEXT`]

// Tables of the audit log, and of rotations of the wrapping key. The rows of the log are added and never changed, which the database itself enforces against mistakes; that
// nobody changed them on purpose is what the chain of hashes and its signed heads show.
import type { Dialect } from './dialects.ts'

const APPEND_ONLY = ['audit_events', 'audit_heads'] as const

const refuseChanges = (engine: Dialect['engine'], table: string): readonly string[] =>
  engine === 'sqlite'
    ? ['UPDATE', 'DELETE'].map(
        (verb) => `CREATE TRIGGER ${table}_no_${verb.toLowerCase()} BEFORE ${verb} ON ${table}
          BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`,
      )
    : [
        `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
          FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
      ]

/** The chains of security events, their newest place, and the signed heads. */
export const auditTables = ({ engine, id, int, clustered, plain }: Dialect): readonly string[] => [
  `CREATE TABLE audit_events (
    chain ${id} NOT NULL,
    seq ${int} NOT NULL CHECK (seq > 0),
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (chain, seq)
  ) ${clustered}`,
  `CREATE TABLE audit_chains (
    chain ${id} PRIMARY KEY,
    seq ${int} NOT NULL,
    hash TEXT NOT NULL,
    signed_seq ${int} NOT NULL DEFAULT 0
  ) ${plain}`,
  `CREATE INDEX audit_chains_unsigned ON audit_chains (chain) WHERE seq > signed_seq`,
  `CREATE TABLE audit_heads (
    chain ${id} NOT NULL,
    seq ${int} NOT NULL,
    jws TEXT NOT NULL,
    signed_at ${int} NOT NULL,
    PRIMARY KEY (chain, seq)
  ) ${clustered}`,
  // The last seen state of a document that operators edit by hand: a change of it is an event, once for all replicas.
  `CREATE TABLE audit_marks (name TEXT PRIMARY KEY, digest TEXT NOT NULL) ${plain}`,
  ...(engine === 'postgres'
    ? [
        `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$`,
      ]
    : []),
  ...APPEND_ONLY.flatMap((table) => refuseChanges(engine, table)),
]

/** Rotations of the wrapping authority; of those that run there is one. */
export const rotationTables = ({ id, int, plain }: Dialect): readonly string[] => [
  `CREATE TABLE authority_rotations (
    id ${id} PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    step TEXT NOT NULL CHECK (step IN ('begun', 'key_made', 'rewrapped')),
    from_kid TEXT NOT NULL,
    kid TEXT,
    retired TEXT NOT NULL,
    rewrapped ${int} NOT NULL,
    total ${int},
    broken ${int} NOT NULL,
    credential_ids TEXT NOT NULL,
    boot_id ${id} NOT NULL,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL,
    finished_at ${int}
  ) ${plain}`,
  `CREATE UNIQUE INDEX authority_rotations_running ON authority_rotations (state) WHERE state = 'running'`,
]

/** What operators decided about ambiguous attempts. Rows outlive their attempts. */
export const reconciliationTables = ({ id, int, plain }: Dialect): readonly string[] => [
  `CREATE TABLE attempt_reconciliations (
    attempt_id ${id} PRIMARY KEY,
    account_id ${id} NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('happened', 'did_not_happen')),
    reason TEXT NOT NULL,
    was TEXT NOT NULL,
    decided_by ${id} NOT NULL,
    decided_at ${int} NOT NULL,
    receipt_id ${id} NOT NULL
  ) ${plain}`,
]

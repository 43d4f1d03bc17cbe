// What was written in the documents of policies: one row for each text that stood in one, with who wrote it.
import type { Dialect } from './dialects.ts'

export const policyTables = ({ id, int, plain }: Dialect): readonly string[] => [
  `CREATE TABLE policy_revisions (
    id ${id} PRIMARY KEY,
    name TEXT NOT NULL,
    at ${int} NOT NULL,
    way TEXT NOT NULL CHECK (way IN ('seen', 'by_hand', 'here')),
    actor_kind TEXT NOT NULL,
    actor_id TEXT,
    note TEXT NOT NULL,
    before_text TEXT,
    after_text TEXT NOT NULL
  ) ${plain}`,
  `CREATE INDEX policy_revisions_name ON policy_revisions (name, id)`,
]

// Where clients of tasks want to be told, as a step of migrations.ts: a released one is never edited.
import type { Dialect } from './dialects.ts'

/** A row dies with its task: whatever ends that leaves rows which the sweep takes. `next_at` is null where nothing is to be told any more. */
export const pushTables = ({ id, int, clustered }: Dialect): readonly string[] => [
  `CREATE TABLE push_configs (
    task_id ${id} NOT NULL,
    id ${id} NOT NULL,
    holder ${id} NOT NULL,
    url TEXT NOT NULL,
    host ${id} NOT NULL,
    scheme TEXT,
    sealed TEXT,
    wire TEXT NOT NULL CHECK (wire IN ('1.0', '0.3')),
    told_state TEXT,
    told_revision ${int} NOT NULL,
    tries ${int} NOT NULL DEFAULT 0,
    next_at ${int},
    problem TEXT,
    created_at ${int} NOT NULL,
    PRIMARY KEY (task_id, id)
  ) ${clustered}`,
  `CREATE INDEX push_configs_due ON push_configs (next_at, task_id, id) WHERE next_at IS NOT NULL`,
  `CREATE INDEX push_configs_holder ON push_configs (holder) WHERE next_at IS NOT NULL`,
]

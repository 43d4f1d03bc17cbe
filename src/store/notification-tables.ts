// Where people are told of what happens while they are away. The address may be a secret of the receiver: it is sealed, and its host shown.
import type { Dialect } from './dialects.ts'

/** `admin`: it is told of what concerns the installation, too. A notification waits until `next_at`, and is gone when it was told. */
export const notificationTables = ({ id, int, bytes, plain }: Dialect): readonly string[] => [
  `CREATE TABLE notification_targets (
    id ${id} PRIMARY KEY,
    account_id ${id} NOT NULL REFERENCES accounts (id),
    host TEXT NOT NULL,
    sealed ${bytes} NOT NULL,
    kinds TEXT NOT NULL,
    admin ${int} NOT NULL CHECK (admin IN (0, 1)),
    created_at ${int} NOT NULL,
    created_by ${id} NOT NULL,
    told_at ${int},
    problem TEXT,
    problem_at ${int}
  ) ${plain}`,
  `CREATE INDEX notification_targets_account ON notification_targets (account_id, id)`,
  `CREATE TABLE notifications (
    id ${id} PRIMARY KEY,
    target_id ${id} NOT NULL,
    kind TEXT NOT NULL,
    about TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at ${int} NOT NULL,
    tries ${int} NOT NULL DEFAULT 0,
    next_at ${int}
  ) ${plain}`,
  `CREATE INDEX notifications_due ON notifications (next_at, id) WHERE next_at IS NOT NULL`,
  `CREATE INDEX notifications_about ON notifications (target_id, kind, about, created_at)`,
]

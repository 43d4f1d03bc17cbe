// What lets a process remember who may do what: a word that every change of such a row replaces, in the transaction of the change. Whoever
// reads the word that it remembers rows under knows that none of them has changed. PostgreSQL does it by triggers, so that a process of the
// release before, and whoever changes a row by hand, replaces it too. SQLite has one process, which knows what it changes.
import type { Dialect } from './dialects.ts'

// Deferred: the row that everybody replaces is locked from the end of a transaction to its commit, after all else that it locks.
const trigger = (table: string, event: string, when = '') =>
  `CREATE CONSTRAINT TRIGGER ${table}_access_${event.slice(0, 6).toLowerCase()} AFTER ${event} ON ${table}
   DEFERRABLE INITIALLY DEFERRED FOR EACH ROW ${when} EXECUTE FUNCTION access_changed()`

/** Columns that a call writes are not among these: uses, and when something was used or seen last. */
const WATCHED = {
  service_keys: undefined,
  credentials: undefined,
  people: undefined,
  memberships: undefined,
  access_tokens: undefined,
  capabilities:
    'account_id, credential_id, parent_id, root_id, token_hash, label, scope, max_uses, created_at, expires_at, revoked_at, budgeted, shows_balance',
  connections:
    'account_id, person_id, capability_id, client_id, client_name, may_pay, may_operate, changed_at, revoked_at',
  sessions: 'person_id, account_id, token_hash, method, fresh_at, expires_at, revoked_at',
}

/** The word, and what replaces it. A row that nobody has found yet is remembered by nobody, so that most insertions are left out. */
export const accessVersion = ({ engine }: Dialect): readonly string[] =>
  engine === 'sqlite'
    ? []
    : [
        // One row. It has a key because a database that is replicated logically refuses updates of a table without one.
        `CREATE TABLE access_version (one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one), version UUID NOT NULL)`,
        `INSERT INTO access_version (version) VALUES (gen_random_uuid())`,
        // In its own schema, whatever the search path of a restored dump or of a hand edit is.
        `CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF current_setting('gateway.access_changed', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
             EXECUTE format('UPDATE %I.access_version SET version = gen_random_uuid()', TG_TABLE_SCHEMA);
             PERFORM set_config('gateway.access_changed', pg_current_xact_id()::text, true);
           END IF;
           RETURN NULL;
         END $$`,
        ...Object.entries(WATCHED).flatMap(([table, columns]) => [
          trigger(table, columns === undefined ? 'UPDATE' : `UPDATE OF ${columns}`),
          trigger(table, 'DELETE'),
        ]),
        // A part changes what its root is found with, and a membership what its person's connections are.
        trigger('capabilities', 'INSERT', 'WHEN (NEW.parent_id IS NOT NULL)'),
        trigger('memberships', 'INSERT'),
      ]

/** Two of them are the same where nothing changed in between. */
export const ACCESS_VERSION = 'SELECT version FROM access_version'

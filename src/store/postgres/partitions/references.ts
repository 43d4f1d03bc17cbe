// What is granted or bought once, when the ledger is in pieces: PostgreSQL keeps nothing unique over all of them that says nothing of a time.
// A trigger does it, so that a process of the release before is bound by it too.
import type { Session } from './session.ts'

/** The other half of such a movement, the system's, is negative, and may have a reference more than once. */
const ONCE = `(NEW.kind = 'grant' OR NEW.kind = 'purchase') AND NEW.amount > 0`

// A grant that is there already is left out, as ON CONFLICT DO NOTHING leaves it out of a table that is whole. A purchase is refused.
// A purchase is known by its reference alone; a grant by its account, too.
const FUNCTION = `CREATE OR REPLACE FUNCTION ledger_once() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE added BIGINT; BEGIN
  IF NEW.kind = 'purchase' THEN
    EXECUTE format('INSERT INTO %I.ledger_references (kind, reference, account) VALUES ($1, $2, '''')', TG_TABLE_SCHEMA)
      USING NEW.kind, NEW.reference;
    RETURN NEW;
  END IF;
  EXECUTE format('INSERT INTO %I.ledger_references (kind, reference, account) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', TG_TABLE_SCHEMA)
    USING NEW.kind, NEW.reference, NEW.account;
  GET DIAGNOSTICS added = ROW_COUNT;
  RETURN CASE WHEN added = 1 THEN NEW END;
END $$`

const TABLE = `CREATE TABLE IF NOT EXISTS ledger_references (
  kind TEXT NOT NULL,
  reference TEXT COLLATE "C" NOT NULL,
  account TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (reference, account, kind)
)`

/** Only rows of both partial indexes are read: no more than were ever granted or bought. */
const COPY = [
  `INSERT INTO ledger_references (kind, reference, account)
   SELECT kind, reference, account FROM ledger_entries WHERE kind = 'grant' AND amount > 0 ON CONFLICT DO NOTHING`,
  `INSERT INTO ledger_references (kind, reference, account)
   SELECT kind, reference, '' FROM ledger_entries WHERE kind = 'purchase' AND amount > 0 ON CONFLICT DO NOTHING`,
]

export const MAKE_TRIGGER = `CREATE TRIGGER ledger_once BEFORE INSERT ON ledger_entries FOR EACH ROW WHEN (${ONCE}) EXECUTE FUNCTION ledger_once()`
export const DROP_TRIGGER = 'DROP TRIGGER IF EXISTS ledger_once ON ledger_entries'

export const makeTable = async (session: Session): Promise<void> => {
  await session.query(TABLE)
  await session.query(FUNCTION)
}

/** After the trigger is there, so that nothing comes in between. */
export async function copyReferences(session: Session): Promise<void> {
  for (const text of COPY) await session.query(text)
}

// Writes into a store's data past the store, as somebody with the database in hands does.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Place } from './store.ts'

/** Runs the statements, of either engine, beside whoever has the data open. */
export async function runRaw(
  { config }: { readonly config: Pick<Place['config'], 'databaseUrl' | 'dataDir'> },
  ...texts: readonly string[]
): Promise<void> {
  if (config.databaseUrl === undefined) {
    const db = new DatabaseSync(join(config.dataDir, 'gateway.db'), { timeout: 5000 })
    try {
      for (const text of texts) db.exec(text)
    } finally {
      db.close()
    }
    return
  }
  const client = new pg.Client({ connectionString: config.databaseUrl })
  await client.connect()
  try {
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}

/** For `runRaw` on SQLite: nothing is given to this account any more, until the trigger `refusing` is dropped. */
export const refusing = (accountId: string) =>
  `CREATE TRIGGER refusing BEFORE UPDATE ON accounts WHEN NEW.id = '${accountId}' AND NEW.balance > OLD.balance
   BEGIN SELECT RAISE(ABORT, 'refused'); END`

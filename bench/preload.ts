// Fills a gateway's SQLite file with what a year of use leaves there, so that a benchmark can ask whether it matters.
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Finished attempts of other accounts with their ledger entries and receipts, older than any new one. */
export function preload(dataDir: string, count: number): void {
  const db = new DatabaseSync(join(dataDir, 'gateway.db'))
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
  const id = (prefix: string) => `printf('${prefix}_0%034d', i)`
  const account = `printf('acct_%035d', i % 1000)`
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN')
  db.exec(`${numbers} INSERT INTO attempts SELECT ${id('att')}, ${account}, printf('cap_%035d', i % 3000),
    'cred_x', 1, 'old', 1, 'settled', 'POST', 'api.example.com', '${randomBytes(32).toString('base64url')}',
    '${randomUUID()}', 1, 1, 1, 200, '${randomBytes(32).toString('base64url')}', 'delivered', ${id('rcp')} FROM n`)
  for (const [side, amount] of [[account, '-1'] as const, [`'system:usage'`, '1'] as const])
    db.exec(`${numbers} INSERT INTO ledger_entries SELECT ${side}, ${id('txn')}, ${amount}, 'egress', ${id('att')}, 1
      FROM n ORDER BY 1, 2`)
  db.exec(`${numbers} INSERT INTO receipts SELECT ${id('rcp')}, ${account}, '${'x'.repeat(700)}', 1 FROM n`)
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

// Fills a gateway's SQLite file with what a year of use leaves there, so that a benchmark can ask whether it matters.
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type IdPrefix, newId } from '../src/lib/ids.ts'
import { paymentKeyOf } from '../src/store/commands/claims.ts'

const ATTEMPT_COLUMNS = `id, kind, account_id, capability_id, permit_id, credential_id, credential_version, boot_id, cost,
  state, method, host, request_digest, idempotency_key, created_at, sending_at, finished_at, upstream_status,
  response_digest, outcome, receipt_id, listed`

/** Finished attempts of other accounts with their ledger entries and receipts, older than any new one. */
export function preload(dataDir: string, count: number): void {
  const db = new DatabaseSync(join(dataDir, 'gateway.db'))
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
  const id = (prefix: string) => `printf('${prefix}_0%034d', i)`
  const account = `printf('acct_%035d', i % 1000)`
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN')
  db.exec(`${numbers} INSERT INTO attempts (${ATTEMPT_COLUMNS})
    SELECT ${id('att')}, 'fetch', ${account}, printf('cap_%035d', i % 3000), NULL,
    'cred_x', 1, 'old', 1, 'settled', 'POST', 'api.example.com', '${randomBytes(32).toString('base64url')}',
    '${randomUUID()}', 1, 1, 1, 200, '${randomBytes(32).toString('base64url')}', 'delivered', ${id('rcp')}, 1 FROM n`)
  for (const [side, amount] of [[account, '-1'] as const, [`'system:usage'`, '1'] as const])
    db.exec(`${numbers} INSERT INTO ledger_entries (account, transaction_id, amount, kind, reference, created_at)
      SELECT ${side}, ${id('txn')}, ${amount}, 'egress', ${id('att')}, 1 FROM n ORDER BY 1, 2`)
  db.exec(`${numbers} INSERT INTO receipts (id, account_id, jws, created_at)
    SELECT ${id('rcp')}, ${account}, '${'x'.repeat(700)}', 1 FROM n`)
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** The payment of claim `i`, for whoever wants to find it again. */
export const preloadedPayment = (i: number) => ({
  network: 'eip155:8453',
  asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  payer: `0x${(i % 5000).toString(16).padStart(40, '0')}`,
  nonce: `0x${i.toString(16).padStart(64, '0')}`,
})

/** Settled claims with their receipts. The index of payments is filled in random order, as life does. */
export function preloadClaims(dataDir: string, count: number): void {
  const db = new DatabaseSync(join(dataDir, 'gateway.db'))
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`
  const id = (prefix: string) => `printf('${prefix}_0%034d', i)`
  db.function('payment_key', (i) => paymentKeyOf(preloadedPayment(Number(i))))
  const { network, asset } = preloadedPayment(0)
  const digest = randomBytes(32)
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN')
  db.exec(`${numbers} INSERT INTO payment_claims (id, origin, network, asset, payer, nonce, pay_to, amount, valid_before,
      state, tool, method, resource, request_digest, requirement_digest,
      presentation_digest, boot_id, payment_key, upstream, tx,
      result_sha256, receipt_id, created_at, submitted_at, finished_at)
    SELECT ${id('clm')}, 'tool', '${network}', '${asset}', printf('0x%040x', i % 5000), printf('0x%064x', i), '${asset}',
      '1000', 1, 'settled', 'gateway.web.fetch', 'POST', 'https://gateway.example/v1/tools/web.fetch',
      '${digest.toString('base64url')}', '${digest.toString('base64url')}',
      '${digest.toString('base64url')}', 'old', payment_key(i), 'local',
      printf('0x%064x', i), '${digest.toString('hex')}', ${id('rcp')}, 1, 1, 1 FROM n`)
  db.exec(`${numbers} INSERT INTO receipts (id, account_id, jws, created_at)
    SELECT ${id('rcp')}, '', '${'x'.repeat(700)}', 1 FROM n`)
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** Claims that nobody decided, a thousandth of a dollar each: what their payers hold has to be counted against them. */
export function preloadOpenClaims(
  dataDir: string,
  { network, asset, payers }: { network: string; asset: string; payers: readonly string[] },
  each: number,
): void {
  const db = new DatabaseSync(join(dataDir, 'gateway.db'))
  const insert =
    db.prepare(`INSERT INTO payment_claims (id, origin, network, asset, payer, nonce, pay_to, amount,
      valid_before, state, tool, method, resource, request_digest, requirement_digest, presentation_digest, boot_id,
      payment_key, upstream, created_at, submitted_at)
    VALUES (?, 'tool', ?, ?, ?, ?, ?, '1000', ?, 'unknown', 'gateway.web.fetch', 'POST', 'https://gateway.example/', 'd',
      'd', 'd', 'old', ?, 'local', ?, ?)`)
  const now = Date.now()
  for (const payer of payers)
    for (let i = 0; i < each; i++) {
      const nonce = `0x${randomBytes(32).toString('hex')}`
      const key = paymentKeyOf({ network, asset, payer, nonce })
      const id = newId('clm', now)
      insert.run(id, network, asset, payer, nonce, payer, now + 86_400_000, key, now, now)
    }
  db.close()
}

/** Permits of other accounts, executed yesterday (no sweep takes them) and done with, each with its attempt. */
export function preloadPermits(dataDir: string, count: number): void {
  const db = new DatabaseSync(join(dataDir, 'gateway.db'))
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
  const at = Date.now() - 24 * 3600 * 1000
  const id = (prefix: IdPrefix) => `printf('${newId(prefix, at).slice(0, -26)}%026d', i)`
  const account = `printf('acct_%035d', i % 1000)`
  const digest = randomBytes(32)
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN')
  db.exec(`${numbers} INSERT INTO permits (id, account_id, mandate_id, credential_id, credential_version, state,
      token_sha256, request_digest, method, host, cost, summary, created_at, expires_at, attempt_id)
    SELECT ${id('pmt')}, ${account}, printf('mdt_%035d', i % 3000), 'cred_x', 1, 'executed',
      '${digest.toString('hex')}', '${digest.toString('base64url')}', 'POST', 'api.example.com', 1, NULL, ${at}, ${at},
      ${id('att')} FROM n`)
  db.exec(`${numbers} INSERT INTO attempts (${ATTEMPT_COLUMNS})
    SELECT ${id('att')}, 'action', ${account}, '', ${id('pmt')},
      'cred_x', 1, 'old', 1, 'settled', 'POST', 'api.example.com', '${digest.toString('base64url')}',
      NULL, ${at}, ${at}, ${at}, 200, '${digest.toString('base64url')}', 'delivered', ${id('rcp')}, 1 FROM n`)
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

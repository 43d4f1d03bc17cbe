// A database that the first release made opens in this one: rows, balances and rules are all there.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Command, Row } from '../../src/store/command.ts'
import { postgresDialect, sqliteDialect } from '../../src/store/dialects.ts'
import { migrate, TABLE_VERSION } from '../../src/store/migrations.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import {
  createPlace,
  ENGINES,
  ending,
  newClaim,
  nextTransaction,
  NOW,
  type Place,
  settling,
  submission,
} from '../support/store.ts'
import { addPermit, edgeCall, execution, newMandate } from '../support/store-actions.ts'
import { expectSound } from '../support/sound.ts'

/** What the first release wrote: two accounts, grants, a credential, a charged, a refunded and an unfinished attempt. */
const OLD_ROWS = [
  `INSERT INTO accounts (id, name, balance, created_at) VALUES ('acct_a', 'a', 99, 1), ('acct_b', 'b', 7, 1)`,
  `INSERT INTO ledger_entries (account, transaction_id, amount, kind, reference, created_at) VALUES
    ('acct_a', 'txn_00001', 100, 'grant', 'free credits', 1), ('system:grants', 'txn_00001', -100, 'grant', 'free credits', 1),
    ('acct_b', 'txn_00002', 7, 'grant', 'free credits', 2), ('system:grants', 'txn_00002', -7, 'grant', 'free credits', 2),
    ('acct_a', 'txn_00003', -1, 'egress', 'att_1', 3), ('system:usage', 'txn_00003', 1, 'egress', 'att_1', 3),
    ('acct_b', 'txn_00004', -2, 'egress', 'att_2', 4), ('system:usage', 'txn_00004', 2, 'egress', 'att_2', 4),
    ('acct_b', 'txn_00005', 2, 'refund', 'att_2', 5), ('system:usage', 'txn_00005', -2, 'refund', 'att_2', 5)`,
  `INSERT INTO receipts (id, account_id, jws, created_at) VALUES ('rcp_1', 'acct_a', 'a.b.c', 3)`,
  `INSERT INTO tasks (id, context_id, owner, state, revision, json, updated_at, expires_at)
    VALUES ('task_1', 'context', 'acct_a', 'working', 4, '{}', 3, 9), ('task_2', 'context', NULL, 'working', 1, '{}', 4, 9)`,
  `INSERT INTO credentials (id, account_id, provider, label, scope, header, scheme, version, created_at, ciphertext, iv,
      tag, wrap_kid, wrap_enc, wrap_key)
    VALUES ('cred_a', 'acct_a', 'custom', 'api', '{}', 'authorization', 'Bearer', 1, 1, 'c', 'i', 't', 'k', 'e', 'w')`,
  `INSERT INTO credentials (id, account_id, provider, label, scope, header, scheme, version, created_at, revoked_at, ciphertext, iv,
      tag, wrap_kid, wrap_enc, wrap_key)
    VALUES ('cred_r', 'acct_a', 'custom', 'api', '{}', 'authorization', 'Bearer', 1, 1, 2, 'c', 'i', 't', 'k', 'e', 'w')`,
  `INSERT INTO attempts (id, account_id, capability_id, credential_id, credential_version, boot_id, cost, state, method,
      host, request_digest, created_at, sending_at, finished_at, upstream_status, outcome, receipt_id)
    VALUES ('att_1', 'acct_a', 'cap_a', 'cred_a', 1, 'boot-old', 1, 'settled', 'GET', 'api.example.com', 'd', 3, 3, 3, 200,
        'delivered', 'rcp_1'),
      ('att_2', 'acct_b', 'cap_b', 'cred_b', 2, 'boot-old', 2, 'refunded', 'GET', 'api.example.com', 'd', 4, NULL, 5, NULL,
        'dns_failed', NULL),
      ('att_3', 'acct_a', 'cap_a', 'cred_a', 1, 'boot-old', 0, 'reserved', 'GET', 'api.example.com', 'd', 6, NULL, NULL,
        NULL, NULL, NULL)`,
]

/** Tables of an earlier version, with rows. */
async function makeOld(place: Place, version = 1, rows: readonly string[] = OLD_ROWS): Promise<void> {
  const { dataDir, databaseUrl } = place.config
  if (databaseUrl === undefined) {
    await mkdir(dataDir, { recursive: true })
    const db = openDatabase(join(dataDir, 'gateway.db'))
    db.drive(migrate(sqliteDialect, 1, version))
    for (const text of rows) db.exec(text)
    db.close()
    return
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const steps: Command<void> = migrate(postgresDialect, 1, version)
    for (let step = steps.next(); !step.done;) {
      const answer = await client.query<Row>(step.value.text, [...step.value.values])
      step = steps.next(answer.rows)
    }
    for (const text of rows) await client.query(text)
  } finally {
    await client.end()
  }
}

const LEDGER = `SELECT account, transaction_id, CAST(amount AS INTEGER) AS amount, kind, reference FROM ledger_entries
  ORDER BY account, transaction_id`

it('the rules of attempts outlive the copy of their table in SQLite', async () => {
  const place = await createPlace('sqlite', 'migrations')
  try {
    await makeOld(place)
    await (await place.open()).close()
    const db = openDatabase(join(place.config.dataDir, 'gateway.db'))
    const copy = (id: string, column: string, value: string) => () =>
      db.exec(`INSERT INTO attempts (id, account_id, capability_id, credential_id, credential_version, boot_id, cost, state,
          method, host, request_digest, created_at, ${column})
        SELECT '${id}', account_id, capability_id, credential_id, credential_version, boot_id, 1, 'settled', method, host,
          request_digest, created_at, ${value} FROM attempts WHERE id = 'att_1'`)
    copy('att_4', 'permit_id', `'pmt_1'`)()
    expect(copy('att_4', 'outcome', `''`)).toThrow(/UNIQUE/)
    expect(copy('att_5', 'permit_id', `'pmt_1'`)).toThrow(/UNIQUE/)
    expect(copy('att_5', 'kind', `'other'`)).toThrow(/CHECK/)
    expect(copy('att_5', 'listed', '2')).toThrow(/CHECK/)
    for (const change of [`state = 'other'`, 'cost = -1'])
      expect(() => db.exec(`UPDATE attempts SET ${change} WHERE id = 'att_1'`)).toThrow(/CHECK/)
    db.close()
  } finally {
    await place.remove()
  }
})

describe.each(ENGINES)('a database of the first release in %s', (engine) => {
  it('opens with its rows, balances and rules, and takes payments', async () => {
    const place = await createPlace(engine, 'migrations')
    try {
      await makeOld(place)
      expect(
        (await place.query('SELECT version FROM migrations')).map((row) => Number(row['version'])),
      ).toEqual([1])
      const before = await place.query(LEDGER)
      expect(before).toHaveLength(10)

      const store = await place.open('boot-new')
      expect(await place.query('SELECT version FROM migrations')).toHaveLength(TABLE_VERSION)
      expect(await place.query(LEDGER)).toEqual(before)
      expect(await store.balance('acct_a')).toBe(99)
      expect(await store.balance('acct_b')).toBe(7)
      expect(await store.getReceipt('rcp_1')).toMatchObject({ jws: 'a.b.c' })
      // The sealed secret of a credential that was revoked is wiped, and of no other.
      expect(await place.query('SELECT id, ciphertext, wrap_key FROM credentials ORDER BY id')).toEqual([
        { id: 'cred_a', ciphertext: 'c', wrap_key: 'w' },
        { id: 'cred_r', ciphertext: '', wrap_key: '' },
      ])
      expect(await place.query('SELECT id, owner, expires_at FROM tasks ORDER BY id')).toMatchObject([
        { id: 'task_1', owner: 'acct_a' },
        { id: 'task_2', owner: null },
      ])

      // The rules of the old table: a grant is given once, an entry is never zero, a movement once an account.
      const again = { accountId: 'acct_a', amount: 5, transactionId: nextTransaction(), now: NOW }
      expect(await store.grant({ ...again, reference: 'free credits' })).toEqual({
        balance: 99,
        repeated: true,
      })
      expect(await store.grant({ ...again, reference: 'more' })).toEqual({ balance: 104, repeated: false })
      expect((await store.ledger('acct_a', { limit: 9 })).items.map(({ reference }) => reference)).toEqual([
        'more',
        'att_1',
        'free credits',
      ])

      const indexes = await place.query(
        engine === 'sqlite'
          ? `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'ledger_entries' AND sql IS NOT NULL`
          : `SELECT indexname AS name FROM pg_indexes WHERE tablename = 'ledger_entries' AND indexname NOT LIKE '%pkey'`,
      )
      expect(indexes.map((row) => row['name']).toSorted()).toEqual([
        'ledger_calls',
        'ledger_grants',
        'ledger_purchases',
      ])

      const claim = newClaim({ purchase: { accountId: 'acct_b', credits: 10 } })
      expect((await store.claimPayment({ claim, bootId: 'boot-new' })).ok).toBe(true)
      await store.submitClaim(submission(claim.id, 'boot-new'))
      expect(await store.settleClaim(settling(claim.id))).toMatchObject({ state: 'settled', reason: null })
      expect(await store.balance('acct_b')).toBe(17)

      // Old attempts are fetches; what they left open is recovered as ever.
      expect(await store.getAttempt('att_1', 'acct_a')).toMatchObject({
        kind: 'fetch',
        capabilityId: 'cap_a',
        permitId: null,
        credentialId: 'cred_a',
        credentialVersion: 1,
        state: 'settled',
      })
      const listed = await store.listAttempts({ accountId: 'acct_a' }, { limit: 9 })
      expect(listed.items.map(({ id }) => id)).toEqual(['att_3', 'att_1'])
      expect(
        await store.listAttempts({ accountId: 'acct_b', capabilityId: 'cap_b' }, { limit: 9 }),
      ).toMatchObject({ items: [{ id: 'att_2', state: 'refunded', outcome: 'dns_failed' }], next: null })
      const { refunded } = await store.recoverAttempts({ bootId: 'boot-new', now: NOW })
      expect(refunded).toMatchObject([{ id: 'att_3', kind: 'fetch', state: 'refunded' }])

      // An old account and its credential take a mandate, a permit and its execution.
      const owner = { accountId: 'acct_a', credentialId: 'cred_a' }
      const grant = { ...owner, mandate: await store.insertMandate(newMandate(owner)) }
      const input = execution(await addPermit(store, grant), 'boot-new', { state: 'sending' })
      expect(await store.reserveAction(input)).toEqual({ ok: true, balance: 103 })
      expect(await store.finishAttempt(ending(input.attempt, 'boot-new'))).toMatchObject({ ok: true })
      expect(await store.reserveEdgeCall(edgeCall('acct_b', 'boot-new'))).toEqual({ ok: true, balance: 16 })
      await expectSound(place)
    } finally {
      await place.remove()
    }
  })
})

describe.each(ENGINES)('a database whose transactions nobody wrote down yet in %s', (engine) => {
  const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
  const BASE = 'eip155:8453'
  const claimRow = (id: string, network: string, state: string, tx: string | null) =>
    `INSERT INTO payment_claims (id, origin, network, asset, payer, nonce, pay_to, amount, state, tool, method, resource, request_digest,
        requirement_digest, presentation_digest, boot_id, payment_key, tx, created_at)
      VALUES ('${id}', 'settle', '${network}', 'a', 'p', '${id}', 't', '1', '${state}', 'settle', 'POST', '/', 'd', 'd', 'd', 'boot-old',
        ${engine === 'sqlite' ? `x'${Buffer.from(id).toString('hex')}'` : `'\\x${Buffer.from(id).toString('hex')}'`},
        ${tx === null ? 'NULL' : `'${tx}'`}, 1)`

  it('opens with one that paid already as taken, however it is spelt, and with no other', async () => {
    const place = await createPlace(engine, 'migrations')
    try {
      await makeOld(place, 53, [
        claimRow('clm_2', BASE, 'settled', '0xAB'),
        // Each process remembered for itself, so two may have settled by one.
        claimRow('clm_1', BASE, 'settled', '0xab'),
        claimRow('clm_3', BASE, 'unknown', '0xac'),
        claimRow('clm_4', SOLANA, 'settled', 'aB'),
        claimRow('clm_5', SOLANA, 'settled', null),
      ])
      const store = await place.open('boot-new')
      expect(
        await place.query('SELECT network, tx, claim_id FROM trusted_transactions ORDER BY claim_id'),
      ).toMatchObject([
        { network: BASE, tx: '0xab', claim_id: 'clm_1' },
        { network: SOLANA, tx: 'aB', claim_id: 'clm_4' },
      ])
      const settle = async (network: string, transaction: string) => {
        const claim = newClaim({ network })
        await store.claimPayment({ claim, bootId: 'boot-new' })
        await store.submitClaim(submission(claim.id, 'boot-new'))
        const ended = await store.settleClaim({ ...settling(claim.id), transaction, isTrusted: true })
        return ended?.state
      }
      expect([await settle(BASE, '0xaB'), await settle(BASE, '0xAC')]).toEqual(['unknown', 'settled'])
      expect([await settle(SOLANA, 'aB'), await settle(SOLANA, 'ab')]).toEqual(['unknown', 'settled'])
    } finally {
      await place.remove()
    }
  })
})

// What a restore does to money that may have left since the backup, and to data that was wrong before.
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/app/config.ts'
import { restore } from '../../../../src/app/transfer/restore.ts'
import { newId } from '../../../../src/lib/ids.ts'
import { hashToken, newToken } from '../../../../src/lib/tokens.ts'
import { writeBackup } from '../../../../src/store/transfer/write-backup.ts'
import { removeFolder } from '../../../support/remove-folder.ts'
import { addAccount, addSetting, createPlace, NOW, type Place } from '../../../support/store.ts'

let folder: string
let place: Place
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-restore-'))
  place = await createPlace('sqlite', 'restore')
  const store = await place.open()
  await addAccount(store, 10)
  await store.close()
})
afterEach(async () => {
  await place.remove()
  await removeFolder(folder)
})

function change(...texts: string[]): void {
  const db = new DatabaseSync(join(place.config.dataDir, 'gateway.db'))
  for (const text of texts) db.exec(text)
  db.close()
}

let backups = 0
async function restored({
  operatorKey,
  ...options
}: { acceptFindings?: boolean; revokeTokens?: boolean; operatorKey?: string } = {}) {
  const file = join(folder, `${++backups}.gz`)
  const origin = { gateway: 'test', taken_at: new Date(NOW).toISOString() }
  await writeBackup({ config: place.config, origin }, file)
  const dataDir = join(folder, `restored-${backups}`)
  await mkdir(dataDir)
  const report = await restore({
    config: loadConfig({
      GATEWAY_DATA_DIR: dataDir,
      ...(operatorKey !== undefined && { GATEWAY_OPERATOR_KEY: operatorKey }),
    }),
    file,
    now: () => NOW,
    ...options,
  })
  return { report, dataDir }
}
const payouts = async (dataDir: string) =>
  JSON.parse(await readFile(join(dataDir, 'market.json'), 'utf8').catch(() => 'null'))

it('leaves payouts to the operator where there are sellers, and every other setting as it was', async () => {
  const settings = { fee: { bps: 10 }, payouts: { schedule: 'daily', hour: 5 } }
  await writeFile(join(place.config.dataDir, 'market.json'), JSON.stringify(settings))
  const without = await restored()
  expect([without.report.payoutsHeld, await payouts(without.dataDir)]).toEqual([false, settings])

  change(
    `INSERT INTO market_sellers (id, skeleton, account_id, name, description, payout_address, state, version, created_at, updated_at)
     VALUES ('slr_1', 's', 'a', 'n', 'd', '0x1', 'active', 1, 1, 1)`,
    `INSERT INTO market_payout_batches (id, network, period, minimum, created_at) VALUES ('pbt_1', 'n', 'p', 1, 1)`,
  )
  const { report, dataDir } = await restored()
  expect([report.payoutsHeld, report.ended.payout_batches]).toEqual([true, 1])
  expect(await payouts(dataDir)).toEqual({ fee: { bps: 10 }, payouts: { schedule: 'manual', hour: 5 } })
})

it('holds payouts that no document speaks of, too', async () => {
  change(
    `INSERT INTO market_sellers (id, skeleton, account_id, name, description, payout_address, state, version, created_at, updated_at)
     VALUES ('slr_1', 's', 'a', 'n', 'd', '0x1', 'active', 1, 1, 1)`,
  )
  expect(await payouts((await restored()).dataDir)).toEqual({ payouts: { schedule: 'manual' } })
})

it('keeps nothing of data that was wrong before, unless that is wanted', async () => {
  change(
    'UPDATE accounts SET balance = balance + 1',
    `INSERT INTO receipts (id, account_id, jws, created_at) VALUES ('rcp_1', 'a', 'a.b.c', 1)`,
  )
  await expect(restored()).rejects.toThrow(
    /is not what its ledger adds up to; of a sample of receipts 1 do not verify/,
  )
  const { report } = await restored({ acceptFindings: true })
  expect(report.findings).toHaveLength(2)
})

it('says on the chain of each account which of its tokens ended, and how many on that of the installation', async () => {
  const store = await place.open()
  const operatorKey = newToken('sk')
  const { accountId, capability } = await addSetting(store, 5)
  const kept = { label: 'kept', admin: true, role: 'owner', createdAt: NOW, revokedAt: null } as const
  const key = { ...kept, id: newId('key', NOW), accountId }
  await store.addKey({ key, keyHash: hashToken(operatorKey) })
  const crowded = await addAccount(store, 5)
  for (let i = 0; i < 20; i++)
    await store.addKey({
      key: { ...kept, id: newId('key', NOW), accountId: crowded },
      keyHash: randomBytes(32),
    })
  const untouched = await addAccount(store, 5)
  const [first] = (await store.listKeys(accountId, { limit: 9 })).items.filter(({ id }) => id !== key.id)
  const [gone] = (await store.listKeys(untouched, { limit: 9 })).items
  await store.revokeKey({ id: gone?.id ?? '', accountId: untouched, now: NOW })
  await store.close()
  // A record without a secret needs no key to be restored.
  change(`UPDATE credentials SET wrap_kid = ''`)

  const { dataDir } = await restored({ revokeTokens: true, operatorKey })
  const db = new DatabaseSync(join(dataDir, 'gateway.db'), { readOnly: true })
  const rows = db.prepare('SELECT chain, body FROM audit_events').all() as { chain: string; body: string }[]
  db.close()
  const arrivals = new Map(
    rows
      .map(({ chain, body }) => [chain, JSON.parse(body) as { event: string; detail: object }] as const)
      .filter(([, { event }]) => event === 'backup.restored')
      .map(([chain, { detail }]) => [chain, detail]),
  )
  const nothing = { permits: 0, sessions: 0, invitations: 0, assistants: 0 }
  const since = new Date(NOW).toISOString()
  expect(arrivals.get(accountId)).toEqual({
    ...nothing,
    since,
    service_keys: 1,
    key_ids: [first?.id],
    capabilities: 1,
    capability_ids: [capability.id],
  })
  expect(arrivals.get(crowded)).toEqual({ ...nothing, since, service_keys: 21, capabilities: 0 })
  expect(arrivals.has(untouched)).toBe(false)
  // That of the account from the beginning, too.
  expect(arrivals.get('installation')).toMatchObject({ service_keys: 23, capabilities: 1, email_keys: 0 })
})

it('takes a request that was about to be sent for one that was, and leaves a payment to its chain', async () => {
  change(
    `INSERT INTO attempts (id, account_id, capability_id, credential_id, credential_version, boot_id, cost, state, method, host, request_digest, created_at)
     VALUES ('att_1', 'a', '', '', 0, 'b', 1, 'reserved', 'POST', 'h', 'd', 7)`,
    `INSERT INTO payment_claims (id, origin, network, asset, payer, nonce, pay_to, amount, state, tool, method, resource, request_digest, requirement_digest,
       presentation_digest, boot_id, payment_key, created_at)
     VALUES ('clm_1', 'tool', 'n', 'a', 'p', 'o', 't', '1', 'claimed', 't', 'm', 'r', 'd', 'd', 'd', 'b', x'01', 7)`,
  )
  const { dataDir } = await restored()
  const db = new DatabaseSync(join(dataDir, 'gateway.db'), { readOnly: true })
  expect(db.prepare('SELECT state, sending_at AS at FROM attempts').get()).toEqual({
    state: 'sending',
    at: 7,
  })
  expect(db.prepare('SELECT state, submitted_at AS at FROM payment_claims').get()).toEqual({
    state: 'submitted',
    at: 7,
  })
  db.close()
})

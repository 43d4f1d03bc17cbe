// What a restore does to money that may have left since the backup, and to data that was wrong before.
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/app/config.ts'
import { restore } from '../../../../src/app/transfer/restore.ts'
import { writeBackup } from '../../../../src/store/transfer/write-backup.ts'
import { removeFolder } from '../../../support/remove-folder.ts'
import { addAccount, createPlace, NOW, type Place } from '../../../support/store.ts'

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
async function restored(options: { acceptFindings?: boolean } = {}) {
  const file = join(folder, `${++backups}.gz`)
  const origin = { gateway: 'test', taken_at: new Date(NOW).toISOString() }
  await writeBackup({ config: place.config, origin }, file)
  const dataDir = join(folder, `restored-${backups}`)
  await mkdir(dataDir)
  const report = await restore({
    config: loadConfig({ GATEWAY_DATA_DIR: dataDir }),
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

// A secret that was revoked, deleted or replaced is gone: from the row on every engine, from the files of the embedded one.
import { readdir, readFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SealedSecret, Store } from '../../src/store/ports.ts'
import {
  addAccount,
  addCapability,
  createPlace,
  ENGINES,
  NOW,
  type Place,
  reservation,
  sealedCredential,
  times,
} from '../support/store.ts'
import { addGrant, addPermit, execution } from '../support/store-actions.ts'

const NOTHING = { ciphertext: '', iv: '', tag: '', wrap: { kid: '', enc: '', wrapped: '' } }
/** Long enough to be found in a file by its beginning, or not; some go on other pages than their row. */
const seal = (bytes = 60): SealedSecret => ({
  ciphertext: randomBytes(bytes).toString('base64url'),
  iv: 'aXY',
  tag: 'dGFn',
  wrap: { kid: 'k1', enc: 'ZW5j', wrapped: randomBytes(48).toString('base64url') },
})

describe.each(ENGINES)('a secret that ends in %s', (engine) => {
  let place: Place
  let store: Store
  let accountId: string
  beforeAll(async () => {
    place = await createPlace(engine, 'wipe')
    store = await place.open('boot-1')
    accountId = await addAccount(store, 10)
  })
  afterAll(() => place.remove())

  async function add(bytes?: number) {
    const credential = sealedCredential(accountId, { sealed: seal(bytes) })
    await store.insertCredential(credential, [{ unit: 'calls', period: 'day', max: 5 }])
    return credential
  }
  /** The words of a seal that are in a file of the store. */
  async function leftovers(...seals: readonly SealedSecret[]): Promise<string[]> {
    const names = (await readdir(place.config.dataDir)).filter((name) => name.startsWith('gateway.db'))
    expect(names.length).toBeGreaterThan(0)
    const files = await Promise.all(names.map((name) => readFile(join(place.config.dataDir, name), 'latin1')))
    const words = seals.flatMap(({ ciphertext, wrap }) => [
      ciphertext.slice(0, 30),
      ciphertext.slice(-30),
      wrap.wrapped,
    ])
    return words.filter((word) => files.some((file) => file.includes(word)))
  }

  it('is wiped from its row by the revocation itself, and rotates with no authority any more', async () => {
    const credential = await add()
    await store.revokeCredential({ id: credential.id, accountId, now: NOW })
    expect((await store.getCredential(credential.id, accountId))?.sealed).toEqual(NOTHING)
    expect((await store.listWrapsNotUnder('k9', 100)).map(({ id }) => id)).not.toContain(credential.id)
    expect((await store.listCredentials(accountId, { limit: 1 })).items[0]).toMatchObject({ revokedAt: NOW })
  })

  it('goes with its credential, capabilities and budgets, and leaves attempts and receipts', async () => {
    const credential = await add()
    const parent = await addCapability(store, credential, {}, [{ unit: 'calls', period: 'hour', max: 5 }])
    const child = await addCapability(store, credential, { parentId: parent.id })
    const input = { ...reservation({ accountId, credential, capability: child }, 'boot-1'), isBudgeted: true }
    expect(await store.reserveAttempt(input)).toMatchObject({ ok: true })

    const asked = { id: credential.id, now: NOW }
    expect(await store.deleteCredential({ ...asked, accountId: 'acct_other' })).toBeUndefined()
    expect(await store.deleteCredential({ ...asked, accountId })).toMatchObject({ id: credential.id })
    expect(await store.deleteCredential({ ...asked, accountId })).toBeUndefined()
    expect(await store.getCredential(credential.id, accountId)).toBeUndefined()
    expect(await store.findCapability(child.tokenHash)).toBeUndefined()
    expect(await store.listBudgets([credential.id, parent.id], NOW)).toEqual([])
    expect(await place.query(`SELECT * FROM capability_lineage WHERE ancestor_id = '${parent.id}'`)).toEqual(
      [],
    )
    expect(await store.getAttempt(input.attempt.id, accountId)).toMatchObject({ credentialId: credential.id })
    const refund = { id: input.attempt.id, bootId: 'boot-1', outcome: 'x', transactionId: 'txn_x', now: NOW }
    expect(await store.refundAttempt(refund)).toMatchObject({ ok: true })
    expect(await store.reserveAttempt({ ...input, attempt: { ...input.attempt, id: 'att_late' } })).toEqual({
      ok: false,
      reason: 'credential_gone',
    })
  })

  it('takes the permits on it with it', async () => {
    const grant = await addGrant(store, 5)
    const permit = await addPermit(store, grant)
    await store.deleteCredential({ id: grant.credentialId, accountId: grant.accountId, now: NOW })
    expect(await store.reserveAction(execution(permit))).toEqual({ ok: false, reason: 'credential_gone' })
  })

  it('is edited under the next version, once of many at the same moment, and keeps what was used of its budgets', async () => {
    const credential = await add()
    const capability = await addCapability(store, credential)
    const use = (version: number) =>
      store.reserveAttempt({
        ...reservation({ accountId, credential, capability }, 'boot-1', { credentialVersion: version }),
        isBudgeted: true,
      })
    expect(await use(1)).toMatchObject({ ok: true })
    const edit = (sealed: SealedSecret) =>
      store.editCredential({
        id: credential.id,
        accountId,
        fromVersion: 1,
        label: 'edited',
        scope: { ...credential.scope, methods: ['POST'] },
        settings: { encoded_slash: true },
        budgets: [
          { unit: 'calls', period: 'day', max: 1 },
          { unit: 'credits', period: 'month', max: 9 },
        ],
        sealed,
        now: NOW + 1,
      })
    const results = await Promise.all(times(5, () => edit(seal())))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.getCredential(credential.id, accountId)).toMatchObject({
      label: 'edited',
      version: 2,
      scope: { methods: ['POST'] },
      settings: { encoded_slash: true },
      editedAt: NOW + 1,
      rotatedAt: null,
    })
    expect(await store.listBudgets([credential.id], NOW)).toMatchObject([
      { unit: 'calls', max: 1, used: 1 },
      { unit: 'credits', max: 9, used: 0 },
    ])
    expect(await use(1)).toEqual({ ok: false, reason: 'credential_changed' })
    expect(await use(2)).toMatchObject({ ok: false, reason: 'budget' })
    await store.revokeCredential({ id: credential.id, accountId, now: NOW })
    expect(await edit(seal())).toBeUndefined()
  })

  // PostgreSQL gives its space back when it vacuums: the guide says so.
  if (engine === 'sqlite')
    it('is in no file of the store any more when the answer is there', async () => {
      const kept = await Promise.all(times(40, (i) => add(i * 30)))
      const long = await add(6000)
      expect(await leftovers(long.sealed)).toHaveLength(3)
      await store.revokeCredential({ id: long.id, accountId, now: NOW })
      expect(await leftovers(long.sealed)).toEqual([])

      const [rotated, deleted, edited] = [kept[5]!, kept[6]!, kept[7]!]
      const fresh = seal()
      await store.rotateCredential({ id: rotated.id, accountId, fromVersion: 1, sealed: fresh, now: NOW })
      expect(await leftovers(rotated.sealed)).toEqual([])
      expect(await leftovers(fresh)).toHaveLength(3)
      await store.deleteCredential({ id: deleted.id, accountId, now: NOW })
      expect(await leftovers(deleted.sealed)).toEqual([])
      const { id, label, scope, settings } = edited
      await store.editCredential({
        id,
        accountId,
        fromVersion: 1,
        label,
        scope,
        settings,
        sealed: seal(),
        now: NOW,
      })
      expect(await leftovers(edited.sealed)).toEqual([])
      expect(await leftovers(kept[8]!.sealed)).toHaveLength(3)
    })
})

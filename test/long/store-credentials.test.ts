// Credentials and capabilities, held to the same behaviour on every engine.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { Credential, SealedCredential, Store } from '../../src/store/ports.ts'
import {
  addAccount,
  addCapability,
  addCredential,
  addSetting,
  createPlace,
  ENGINES,
  NOW,
  type Place,
  reservation,
  sealedCredential,
  times,
  usesOf,
} from '../support/store.ts'

function metadata(credential: SealedCredential): Credential {
  const rest: Partial<SealedCredential> = { ...credential }
  delete (rest as { sealed?: unknown }).sealed
  return rest as Credential
}
const sealedAgain = (word: string) => ({
  ciphertext: word,
  iv: 'aXYy',
  tag: 'dGFnMg',
  wrap: { kid: 'k2', enc: `enc-${word}`, wrapped: 'bmV3' },
})

describe.each(ENGINES)('credentials in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'credentials')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  it('gives a credential back as stored, to its own account only, and lists metadata without the seal', async () => {
    const accountId = await addAccount(store, 0)
    const credential = await addCredential(store, accountId)
    expect(await store.getCredential(credential.id, accountId)).toEqual(credential)
    expect(await store.getCredential(credential.id, await addAccount(store, 0))).toBeUndefined()
    const page = await store.listCredentials(accountId, { limit: 10 })
    expect(page).toEqual({ items: [metadata(credential)], next: null })
  })

  it('keeps the settings of a credential, which revoking and rotating leave as they are', async () => {
    const accountId = await addAccount(store, 0)
    const settings: Credential['settings'] = {
      parts: { user: 'public', password: 'secret' },
      placements: [{ in: 'query', name: 'key', part: 'password' }],
      limits: { timeout_ms: 60_000 },
    }
    const credential = { ...sealedCredential(accountId), settings }
    await store.insertCredential(credential)
    const { id } = credential
    expect((await store.getCredential(id, accountId))?.settings).toEqual(settings)
    await store.rotateCredential({ id, accountId, fromVersion: 1, sealed: sealedAgain('c'), now: NOW })
    expect((await store.getCredential(id, accountId))?.settings).toEqual(settings)
    expect((await store.revokeCredential({ id, accountId, now: NOW }))?.settings).toEqual(settings)
  })

  it('rotates from the version that was read, once', async () => {
    const accountId = await addAccount(store, 0)
    const { id } = await addCredential(store, accountId)
    const results = await Promise.all(
      times(20, (i) =>
        store.rotateCredential({ id, accountId, fromVersion: 1, sealed: sealedAgain(`c${i}`), now: NOW + 5 }),
      ),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    const winner = results.indexOf(true)
    expect(await store.getCredential(id, accountId)).toMatchObject({
      version: 2,
      rotatedAt: NOW + 5,
      sealed: sealedAgain(`c${winner}`),
    })
    const foreign = { id, accountId: 'acct_other', fromVersion: 2, sealed: sealedAgain('x'), now: NOW }
    expect(await store.rotateCredential(foreign)).toBe(false)
  })

  it('revokes a credential with every capability on it, and does not rotate it afterwards', async () => {
    const accountId = await addAccount(store, 0)
    const credential = await addCredential(store, accountId)
    const capability = await addCapability(store, credential)
    const spared = await addCapability(store, await addCredential(store, accountId))
    expect(
      await store.revokeCredential({ id: credential.id, accountId: 'acct_other', now: NOW }),
    ).toBeUndefined()
    const revoked = await store.revokeCredential({ id: credential.id, accountId, now: NOW + 9 })
    expect(revoked).toEqual({ ...metadata(credential), revokedAt: NOW + 9 })
    expect((await store.findCapability(capability.tokenHash))?.revokedAt).toBe(NOW + 9)
    expect((await store.findCapability(spared.tokenHash))?.revokedAt).toBeNull()
    const again = await store.revokeCredential({ id: credential.id, accountId, now: NOW + 10 })
    expect(again?.revokedAt).toBe(NOW + 9)
    const rotation = { id: credential.id, accountId, fromVersion: 1, sealed: sealedAgain('late'), now: NOW }
    expect(await store.rotateCredential(rotation)).toBe(false)
    await expect(addCapability(store, credential)).rejects.toMatchObject({ code: 'state_conflict' })
  })

  it('refuses a capability on a credential of another account', async () => {
    const credential = await addCredential(store, await addAccount(store, 0))
    const accountId = await addAccount(store, 0)
    const stolen = addCapability(store, { id: credential.id, accountId })
    await expect(stolen).rejects.toMatchObject({ code: 'credential_not_found' })
  })

  it('leaves no usable capability when issuing races with the revocation of the credential', async () => {
    const setting = await addSetting(store, 100)
    const { accountId, credential } = setting
    const issuing = times(10, () => addCapability(store, credential).catch(() => undefined))
    const revoking = store.revokeCredential({ id: credential.id, accountId, now: NOW })
    const issued = await Promise.all([
      ...issuing,
      ...times(10, () => addCapability(store, credential).catch(() => undefined)),
    ])
    await revoking
    for (const capability of issued)
      if (capability) expect((await store.findCapability(capability.tokenHash))?.revokedAt).toBe(NOW)
  })

  it('re-wraps by compare-and-set and touches neither ciphertext nor version', async () => {
    const own = await createPlace(engine, 'wraps')
    try {
      const other = await own.open()
      const accountId = await addAccount(other, 0)
      const a = sealedCredential(accountId)
      const b = sealedCredential(accountId, { id: newId('cred', NOW + 1) })
      await other.insertCredential(a)
      await other.insertCredential(b)
      expect((await other.listWrapsNotUnder('k2', 10)).map((row) => row.id)).toEqual([a.id, b.id])
      expect(await other.listWrapsNotUnder('k2', 1)).toEqual([
        { id: a.id, accountId, version: 1, wrap: a.sealed.wrap },
      ])
      const to = { kid: 'k2', enc: 'ZW5jMg', wrapped: 'd3JhcDI' }
      const change = { id: a.id, version: 1, from: a.sealed.wrap, to }
      expect(await other.replaceWrap({ ...change, version: 2 })).toBe(false)
      expect(await other.replaceWrap({ ...change, from: { ...a.sealed.wrap, enc: 'other' } })).toBe(false)
      expect(await other.replaceWrap(change)).toBe(true)
      expect(await other.replaceWrap(change)).toBe(false)
      expect(await other.getCredential(a.id, accountId)).toEqual({ ...a, sealed: { ...a.sealed, wrap: to } })
      expect((await other.listWrapsNotUnder('k2', 10)).map((row) => row.id)).toEqual([b.id])
    } finally {
      await own.remove()
    }
  })
})

describe.each(ENGINES)('capabilities in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'capabilities')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  it('finds a capability by its token hash, revoked and expired ones too', async () => {
    const { credential, capability } = await addSetting(store, 0)
    const { tokenHash, uses: _, ...stored } = capability
    expect(await store.findCapability(tokenHash)).toEqual(stored)
    const expired = await addCapability(store, credential, { expiresAt: NOW - 1, maxUses: 3 })
    expect(await store.findCapability(expired.tokenHash)).toMatchObject({ expiresAt: NOW - 1, maxUses: 3 })
    await store.revokeCapability({ id: capability.id, accountId: capability.accountId, now: NOW })
    expect(await store.findCapability(tokenHash)).toEqual({ ...stored, revokedAt: NOW })
    expect(await store.findCapability(randomBytes(32))).toBeUndefined()
  })

  it('refuses a token hash that exists', async () => {
    const { credential, capability } = await addSetting(store, 0)
    const { tokenHash, ...rest } = capability
    const copy = { ...rest, id: newId('cap', NOW), accountId: credential.accountId }
    const twice = store.insertCapability({ capability: copy, tokenHash })
    await expect(twice).rejects.toMatchObject({ code: 'state_conflict' })
  })

  it('lists by account and by credential', async () => {
    const accountId = await addAccount(store, 0)
    const [one, two] = [await addCredential(store, accountId), await addCredential(store, accountId)]
    const first = await addCapability(store, one)
    const second = await addCapability(store, two, { id: newId('cap', NOW + 1) })
    const ids = async (filter: { accountId: string; credentialId?: string }) =>
      (await store.listCapabilities(filter, { limit: 10 })).items.map((capability) => capability.id)
    expect(await ids({ accountId })).toEqual([second.id, first.id])
    expect(await ids({ accountId, credentialId: one.id })).toEqual([first.id])
    expect(await ids({ accountId: 'acct_other', credentialId: one.id })).toEqual([])
  })

  it('revokes what was narrowed from a capability, at any depth, and nothing beside it', async () => {
    const { accountId, credential, capability: root } = await addSetting(store, 0)
    const child = await addCapability(store, credential, { parentId: root.id })
    const grandchild = await addCapability(store, credential, { parentId: child.id })
    const sibling = await addCapability(store, credential, { parentId: root.id })
    expect(await store.revokeCapability({ id: child.id, accountId: 'acct_other', now: NOW })).toBeUndefined()
    expect(await store.revokeCapability({ id: child.id, accountId, now: NOW })).toBe(2)
    expect(await store.revokeCapability({ id: child.id, accountId, now: NOW })).toBe(0)
    const revokedAt = async (hash: Buffer) => (await store.findCapability(hash))?.revokedAt
    expect(await revokedAt(grandchild.tokenHash)).toBe(NOW)
    expect(await revokedAt(sibling.tokenHash)).toBeNull()
    expect(await revokedAt(root.tokenHash)).toBeNull()
    expect(await store.revokeCapability({ id: root.id, accountId, now: NOW + 1 })).toBe(2)
    expect(await revokedAt(grandchild.tokenHash)).toBe(NOW)
    await expect(addCapability(store, credential, { parentId: child.id })).rejects.toMatchObject({
      code: 'state_conflict',
    })
    await expect(addCapability(store, credential, { parentId: 'cap_none' })).rejects.toMatchObject({
      code: 'capability_not_found',
    })
  })

  it('counts a use on every ancestor and stops at the first limit that is reached', async () => {
    const setting = await addSetting(store, 100)
    const { accountId, credential } = setting
    const root = await addCapability(store, credential, { maxUses: 3 })
    const child = await addCapability(store, credential, { parentId: root.id, maxUses: 2 })
    const other = await addCapability(store, credential, { parentId: root.id })
    const use = async (capability: typeof root) => {
      const result = await store.reserveAttempt(reservation({ ...setting, capability }, 'boot-1'))
      return result.ok ? 'ok' : result.reason
    }
    expect([await use(child), await use(child), await use(child)]).toEqual(['ok', 'ok', 'capability_used_up'])
    expect([await use(other), await use(other)]).toEqual(['ok', 'capability_used_up'])
    expect(await usesOf(store, root)).toBe(3)
    expect(await usesOf(store, child)).toBe(2)
    expect(await usesOf(store, other)).toBe(1)
    expect(await store.balance(accountId)).toBe(97)
  })

  it('lets exactly as many of forty concurrent uses of two branches through as their root allows', async () => {
    const setting = await addSetting(store, 100)
    const root = await addCapability(store, setting.credential, { maxUses: 17 })
    const branches = [
      await addCapability(store, setting.credential, { parentId: root.id }),
      await addCapability(store, setting.credential, { parentId: root.id }),
    ]
    const results = await Promise.all(
      times(40, (i) =>
        store.reserveAttempt(reservation({ ...setting, capability: branches[i % 2]! }, 'boot-1')),
      ),
    )
    expect(results.filter((result) => result.ok)).toHaveLength(17)
    expect(await usesOf(store, root)).toBe(17)
    expect(await store.balance(setting.accountId)).toBe(83)
  })

  it('reserves nothing once a revocation of the root has been answered, whatever raced with it', async () => {
    const setting = await addSetting(store, 1000)
    const child = await addCapability(store, setting.credential, { parentId: setting.capability.id })
    const use = () => store.reserveAttempt(reservation({ ...setting, capability: child }, 'boot-1'))
    const racing = times(30, use)
    const narrowing = times(10, () =>
      addCapability(store, setting.credential, { parentId: child.id }).catch(() => undefined),
    )
    const { accountId, capability } = setting
    expect(await store.revokeCapability({ id: capability.id, accountId, now: NOW })).toBeGreaterThanOrEqual(2)
    expect(await use()).toEqual({ ok: false, reason: 'capability_gone' })
    const used = (await Promise.all(racing)).filter((result) => result.ok).length
    expect(await store.balance(accountId)).toBe(1000 - used)
    for (const narrowed of await Promise.all(narrowing))
      if (narrowed) expect((await store.findCapability(narrowed.tokenHash))?.revokedAt).toBe(NOW)
  })
})

describe('a capability that is being issued in PostgreSQL', () => {
  let place: Place
  let store: Store
  let blocker: pg.Client
  beforeAll(async () => {
    place = await createPlace('postgres', 'issuing')
    store = await place.open('boot-1')
    blocker = new pg.Client({ connectionString: place.config.databaseUrl })
    await blocker.connect()
  })
  afterAll(async () => {
    await blocker.end()
    await place.remove()
  })

  it.each([
    ['the capability it is cut from', 'root' as const],
    ['a capability further up', 'grandparent' as const],
    ['its credential', 'credential' as const],
  ])('is revoked with %s, though its row was not there yet when that began', async (_, what) => {
    const { accountId, credential, capability: root } = await addSetting(store, 0)
    const parent =
      what === 'grandparent' ? await addCapability(store, credential, { parentId: root.id }) : root
    // The insert waits for this row, at a moment when it has looked at its ancestors and is not committed.
    await blocker.query('BEGIN')
    await blocker.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [accountId])
    // On a connection of its own: a transaction sees the activity of its beginning.
    const waiting = async () =>
      (
        await place.query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).length
    const issuing = addCapability(store, credential, { parentId: parent.id })
    await expect.poll(waiting).toBe(1)
    let isRevoked = false
    const revoking = (
      what === 'credential'
        ? store.revokeCredential({ id: credential.id, accountId, now: NOW })
        : store.revokeCapability({ id: root.id, accountId, now: NOW })
    ).finally(() => (isRevoked = true))
    await expect.poll(async () => isRevoked || (await waiting()) === 2).toBe(true)
    await blocker.query('COMMIT')
    const issued = await issuing
    await revoking
    expect((await store.findCapability(issued.tokenHash))?.revokedAt).toBe(NOW)
  })
})

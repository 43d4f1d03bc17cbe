// Lineages of capabilities: one root, a bounded depth and a bounded crowd, on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_CHILDREN, MAX_LINEAGE } from '../../src/store/commands/capabilities.ts'
import type { Store } from '../../src/store/ports.ts'
import { addCapability, addSetting, createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

describe.each(ENGINES)('a lineage in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'lineage')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  const rootOf = async (hash: Buffer) => (await store.findCapability(hash))?.rootId

  it('is named after the capability that was issued, however often that is narrowed', async () => {
    const { credential, capability: root } = await addSetting(store, 0)
    let last = root
    for (let depth = 0; depth < 5; depth++)
      last = await addCapability(store, credential, { parentId: last.id })
    expect(await rootOf(root.tokenHash)).toBe(root.id)
    expect(await rootOf(last.tokenHash)).toBe(root.id)
    const other = await addCapability(store, credential)
    expect(await rootOf(other.tokenHash)).toBe(other.id)
  })

  it('has at most 64 children of one capability that are still good, also when all are asked for at once', async () => {
    const { accountId, credential, capability: root } = await addSetting(store, 0)
    const narrow = () => addCapability(store, credential, { parentId: root.id })
    const made = await Promise.allSettled(times(MAX_CHILDREN + 6, narrow))
    const refused = made.filter((one) => one.status === 'rejected')
    expect(refused).toHaveLength(6)
    expect(refused[0]!.reason).toMatchObject({
      code: 'state_conflict',
      message: expect.stringContaining('Revoke one'),
    })

    const child = made.find((one) => one.status === 'fulfilled')!.value
    await expect(addCapability(store, credential, { parentId: child.id })).resolves.toBeDefined()
    await store.revokeCapability({ id: child.id, accountId, now: NOW })
    await expect(narrow()).resolves.toBeDefined()
    await expect(narrow()).rejects.toMatchObject({ code: 'state_conflict' })
  })

  it('does not count a child that has expired', async () => {
    const { credential, capability: root } = await addSetting(store, 0)
    const over = { parentId: root.id, createdAt: NOW - 2, expiresAt: NOW - 1 }
    await Promise.all(times(MAX_CHILDREN, () => addCapability(store, credential, over)))
    await expect(addCapability(store, credential, over)).rejects.toMatchObject({ code: 'state_conflict' })
    await expect(addCapability(store, credential, { parentId: root.id })).resolves.toBeDefined()
  })

  it('holds at most a thousand capabilities, those that have ended included', async () => {
    const { accountId, credential, capability: root } = await addSetting(store, 0)
    for (let made = 1; made < MAX_LINEAGE; made += 37) {
      const parent = await addCapability(store, credential, { parentId: root.id })
      const many = Math.min(36, MAX_LINEAGE - made - 1)
      await Promise.all(times(many, () => addCapability(store, credential, { parentId: parent.id })))
      await store.revokeCapability({ id: parent.id, accountId, now: NOW })
    }
    await expect(addCapability(store, credential, { parentId: root.id })).rejects.toMatchObject({
      code: 'state_conflict',
      message: expect.stringContaining('1000'),
    })
  })
})

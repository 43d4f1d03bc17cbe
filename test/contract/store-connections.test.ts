// Assistants that people allowed to connect, held to the same behaviour on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection, Store } from '../../src/store/ports.ts'
import { newId } from '../../src/lib/ids.ts'
import { addMember, addToken, newConnection, termsOn } from '../support/connections.ts'
import { runRaw } from '../support/raw-sql.ts'
import {
  addAccount,
  addCapability,
  addCredential,
  createPlace,
  ENGINES,
  NOW,
  type Place,
  reservation,
  SCOPE,
  times,
  usesOf,
} from '../support/store.ts'

const DAY = 24 * 3_600_000

describe.each(ENGINES)('connections in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'connections')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  /** An account with two credentials, and an assistant that may use both. */
  async function connect(over: Parameters<typeof termsOn>[1] = {}) {
    const accountId = await addAccount(store, 100)
    const personId = await addMember(store, accountId)
    const credentials = [
      await addCredential(store, accountId),
      await addCredential(store, accountId),
    ] as const
    const connection = newConnection(accountId, personId)
    await store.openConnection({ connection, terms: termsOn(credentials, over) })
    return { accountId, personId, credentials, connection, tokenHash: await addToken(store, connection) }
  }
  const partsOf = ({ capabilityId }: Pick<Connection, 'capabilityId'>) => store.findParts(capabilityId)
  const state = async (tokenHash: Buffer) => {
    const found = await store.findAccessToken(tokenHash)
    return found === undefined ? 'gone' : found.capability.revokedAt === null ? 'live' : 'ended'
  }
  const use = async (setting: Awaited<ReturnType<typeof connect>>, at = 0, isBudgeted = false) => {
    const part = (await partsOf(setting.connection))[at]!
    const credential = setting.credentials.find(({ id }) => id === part.credentialId)!
    return store.reserveAttempt({
      ...reservation({ ...setting, credential, capability: part }, 'boot-1'),
      isBudgeted,
    })
  }

  it('is found by the hash of its token, with a part for each credential below the root', async () => {
    const { connection, credentials, tokenHash, personId } = await connect({ mayOperate: true })
    expect(await store.findAccessToken(tokenHash)).toMatchObject({
      capability: {
        id: connection.capabilityId,
        credentialId: null,
        rootId: connection.capabilityId,
        revokedAt: null,
      },
      connection: { id: connection.id, personId, role: 'owner', mayPay: false, mayOperate: true },
    })
    expect(await partsOf(connection)).toMatchObject(
      credentials
        .map(({ id }) => id)
        .toSorted()
        .map((credentialId) => ({
          credentialId,
          parentId: connection.capabilityId,
          rootId: connection.capabilityId,
          scope: SCOPE,
        })),
    )
    expect(await store.getConnection(connection.id, connection.accountId)).toEqual({
      ...connection,
      mayOperate: true,
    })
    expect(await store.findConnectionOfGrant(connection.grantId)).toMatchObject({ id: connection.id })
    expect(await store.getConnection(connection.id, 'acct_other')).toBeUndefined()
  })

  it('carries its parts with the token, as they are at this moment', async () => {
    const { accountId, connection, credentials, tokenHash } = await connect({
      maxUses: 7,
      showsBalance: true,
    })
    const carried = async () => (await store.findAccessToken(tokenHash))?.capability.parts
    const parts = await partsOf(connection)
    expect(parts).toHaveLength(2)
    expect(await carried()).toEqual(parts)
    // What an assistant cut for somebody else is no part.
    const cutFrom = { parentId: parts[0]!.id, rootId: connection.capabilityId }
    await addCapability(store, { id: parts[0]!.credentialId, accountId }, cutFrom)
    expect(await carried()).toEqual(parts)
    await store.revokeCredential({ id: credentials[0].id, accountId, now: NOW })
    expect(await carried()).toEqual(parts.filter(({ credentialId }) => credentialId === credentials[1].id))
    await store.revokeCredential({ id: credentials[1].id, accountId, now: NOW })
    expect(await carried()).toEqual([])
  })

  it('is written whole or not at all', async () => {
    const { accountId, personId } = await connect()
    const foreign = await addCredential(store, await addAccount(store, 0))
    const own = await addCredential(store, accountId)
    const connection = newConnection(accountId, personId)
    await expect(store.openConnection({ connection, terms: termsOn([own, foreign]) })).rejects.toMatchObject({
      code: 'credential_not_found',
    })
    await store.revokeCredential({ id: own.id, accountId, now: NOW })
    await expect(store.openConnection({ connection, terms: termsOn([own]) })).rejects.toMatchObject({
      code: 'state_conflict',
    })
    expect(await store.getConnection(connection.id, accountId)).toBeUndefined()
  })

  it('counts every credential on the limits at its root: uses, and a budget for all time', async () => {
    const setting = await connect({ maxUses: 3 })
    expect([(await use(setting, 0)).ok, (await use(setting, 1)).ok, (await use(setting, 0)).ok]).toEqual([
      true,
      true,
      true,
    ])
    expect(await use(setting, 1)).toMatchObject({ ok: false, reason: 'capability_used_up' })
    const root = { id: setting.connection.capabilityId, accountId: setting.accountId, credentialId: null }
    expect(await usesOf(store, root)).toBe(3)

    const budgeted = await connect({ budgets: [{ unit: 'credits', period: 'total', max: 2 }] })
    const [part] = await partsOf(budgeted.connection)
    expect(part?.isBudgeted).toBe(true)
    const results = await Promise.all(times(8, (i) => use(budgeted, i % 2, true)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(2)
    const holder = budgeted.connection.capabilityId
    for (const now of [NOW, NOW + 400 * DAY])
      expect(await store.listBudgets([holder], now)).toEqual([
        { holder, unit: 'credits', period: 'total', max: 2, used: 2, startedAt: 0 },
      ])
  })

  it('gives back to a budget for all time what was not sent, however late', async () => {
    const setting = await connect({ budgets: [{ unit: 'calls', period: 'total', max: 1 }] })
    const [capability] = await partsOf(setting.connection)
    const credential = setting.credentials.find(({ id }) => id === capability!.credentialId)!
    const held = {
      ...reservation({ ...setting, credential, capability: capability! }, 'boot-1'),
      isBudgeted: true,
    }
    expect(await store.reserveAttempt(held)).toMatchObject({ ok: true })
    await store.refundAttempt({
      id: held.attempt.id,
      bootId: 'boot-1',
      outcome: 'x',
      transactionId: newId('txn', NOW + 60 * DAY),
      now: NOW + 60 * DAY,
    })
    expect(await use(setting, 0, true)).toMatchObject({ ok: true })
  })

  it('changes what it may do, keeps what was counted, and ends what the assistant had narrowed', async () => {
    const setting = await connect({ maxUses: 10 })
    const { connection, accountId, tokenHash } = setting
    await use(setting)
    const [kept, dropped] = await partsOf(connection)
    const narrowed = await addCapability(store, { id: kept!.credentialId, accountId }, { parentId: kept!.id })
    const third = await addCredential(store, accountId)
    const scope = { ...SCOPE, path_prefixes: ['/v1/less'] }
    const terms = termsOn([third], {
      maxUses: 2,
      mayPay: true,
      budgets: [{ unit: 'usdc', period: 'total', max: 5 }],
    })
    const parts = [...terms.parts, { credentialId: kept!.credentialId, capabilityId: 'cap_unused', scope }]
    expect(await store.changeConnection({ connection, terms: { ...terms, parts }, now: NOW + 5 })).toBe(true)

    const after = await partsOf(connection)
    expect(after.find(({ id }) => id === kept!.id)).toMatchObject({ scope, isBudgeted: true })
    expect(after.find(({ credentialId }) => credentialId === third.id)).toMatchObject({ isBudgeted: true })
    expect(after).toHaveLength(2)
    expect(await store.findCapability(narrowed.tokenHash)).toMatchObject({ revokedAt: NOW + 5 })
    expect(await store.findAccessToken(tokenHash)).toMatchObject({
      connection: { mayPay: true },
      capability: { maxUses: 2, isBudgeted: true },
    })
    expect(await usesOf(store, { id: connection.capabilityId, accountId, credentialId: null })).toBe(1)
    const listed = await store.listCapabilities({ accountId, rootId: connection.capabilityId }, { limit: 20 })
    expect(listed.items.find(({ id }) => id === dropped!.id)?.revokedAt).toBe(NOW + 5)
    expect(listed.items).toHaveLength(5)
  })

  it.each<[string, (setting: Awaited<ReturnType<typeof connect>>) => Promise<unknown>, string]>([
    ['it is revoked', ({ accountId, connection }) => revoke(accountId, 'connection', connection.id), 'ended'],
    [
      'its client is',
      ({ accountId, connection }) => revoke(accountId, 'client', connection.clientId),
      'ended',
    ],
    ['its person is', ({ accountId, personId }) => revoke(accountId, 'person', personId), 'ended'],
    [
      'the capability at its root is',
      ({ accountId, connection }) =>
        store.revokeCapability({ id: connection.capabilityId, accountId, now: NOW }),
      'ended',
    ],
    [
      'somebody tries in another account',
      async ({ connection }) => revoke(await addAccount(store, 0), 'connection', connection.id),
      'live',
    ],
  ])('ends at the next call when %s', async (_, end, expected) => {
    const setting = await connect()
    expect(await state(setting.tokenHash)).toBe('live')
    await end(setting)
    expect(await state(setting.tokenHash)).toBe(expected)
    const { connection, accountId } = setting
    expect((await store.getConnection(connection.id, accountId))?.revokedAt).toBe(
      expected === 'ended' ? NOW : null,
    )
    expect(await partsOf(connection)).toHaveLength(expected === 'ended' ? 0 : 2)
    if (expected === 'ended')
      expect(await store.changeConnection({ connection, terms: termsOn([]), now: NOW })).toBe(false)
  })
  const revoke = (accountId: string, of: 'connection' | 'client' | 'person', id: string) =>
    store.revokeConnections({ which: { accountId, of, id }, now: NOW })

  it('is ended once, and says which', async () => {
    const { accountId, connection, personId } = await connect()
    const other = newConnection(accountId, personId)
    await store.openConnection({ connection: other, terms: termsOn([]) })
    const ended = await revoke(accountId, 'client', connection.clientId)
    expect(ended.toSorted()).toEqual([connection.id, other.id].toSorted())
    expect(await revoke(accountId, 'client', connection.clientId)).toEqual([])
  })

  it('is ended though its capabilities stand, as an earlier release left it, until they are ended with it', async () => {
    const { accountId, connection, personId } = await connect()
    await runRaw(place, `UPDATE connections SET revoked_at = ${NOW} WHERE id = '${connection.id}'`)
    expect(await state(await addToken(store, connection))).toBe('ended')
    expect(await partsOf(connection)).toHaveLength(2)
    expect(await revoke(accountId, 'person', personId)).toEqual([])
    expect(await partsOf(connection)).toEqual([])
  })

  it('stands on its person: without a membership, or in a role that connects nothing, it is ended', async () => {
    const accountId = await addAccount(store, 0)
    const credential = await addCredential(store, accountId)
    const states: string[] = []
    for (const role of ['owner', 'operator', 'approver', 'auditor', 'seller'] as const) {
      const connection = newConnection(accountId, await addMember(store, accountId, role))
      await store.openConnection({ connection, terms: termsOn([credential], { mayOperate: true }) })
      const tokenHash = await addToken(store, connection)
      const found = await store.findAccessToken(tokenHash)
      states.push(`${role} ${await state(tokenHash)} ${found?.connection.mayOperate}`)
    }
    const stranger = newConnection(accountId, await addMember(store, await addAccount(store, 0)))
    await store.openConnection({ connection: stranger, terms: termsOn([credential], { mayOperate: true }) })
    states.push(`stranger ${await state(await addToken(store, stranger))}`)
    expect(states).toEqual([
      'owner live true',
      'operator live true',
      'approver ended false',
      'auditor ended false',
      'seller ended false',
      'stranger ended',
    ])
  })

  it('loses one credential when that is revoked or deleted, and keeps the others', async () => {
    const { accountId, connection, credentials, tokenHash } = await connect()
    await store.revokeCredential({ id: credentials[0].id, accountId, now: NOW })
    expect(await partsOf(connection)).toMatchObject([{ credentialId: credentials[1].id }])
    await store.deleteCredential({ id: credentials[1].id, accountId, now: NOW })
    expect(await partsOf(connection)).toEqual([])
    expect(await state(tokenHash)).toBe('live')
  })

  it('ends for whoever reads it, at every replica where there are several', async () => {
    const { accountId, connection, tokenHash } = await connect()
    const other = engine === 'postgres' ? await place.open('boot-2') : store
    expect((await other.findAccessToken(tokenHash))?.capability.revokedAt).toBeNull()
    await revoke(accountId, 'connection', connection.id)
    expect((await other.findAccessToken(tokenHash))?.capability.revokedAt).toBe(NOW)
    expect(await other.findParts(connection.capabilityId)).toEqual([])
  })

  it('forgets a token at once, and knows when it was used', async () => {
    const { accountId, connection, tokenHash } = await connect()
    await store.touchConnection({ id: connection.id, now: NOW + 9 })
    expect((await store.getConnection(connection.id, accountId))?.usedAt).toBe(NOW + 9)
    await store.findAccessToken(tokenHash)
    await store.dropAccessToken(tokenHash)
    expect(await state(tokenHash)).toBe('gone')
  })

  it('tells which attempts are of it', async () => {
    const setting = await connect()
    const { accountId, connection } = setting
    const other = await addCapability(store, setting.credentials[0])
    await use(setting, 0)
    await use(setting, 1)
    await store.reserveAttempt(
      reservation({ accountId, credential: setting.credentials[0], capability: other }, 'boot-1'),
    )
    const rootId = connection.capabilityId
    expect((await store.listAttempts({ accountId, rootId }, { limit: 9 })).items).toHaveLength(2)
    const [part] = await partsOf(connection)
    expect([await store.isCutFrom(part!.id, rootId), await store.isCutFrom(other.id, rootId)]).toEqual([
      true,
      false,
    ])
  })

  it('tells which capabilities nobody has revoked, nor what they stand on', async () => {
    const setting = await connect()
    const { accountId, connection, credentials, personId } = setting
    const [first, second] = await partsOf(connection)
    const own = await addCapability(store, credentials[0])
    const narrowed = await addCapability(store, credentials[0], { parentId: own.id })
    const ids = [connection.capabilityId, first!.id, second!.id, own.id, narrowed.id]
    const standing = async () => {
      const found = await store.listStanding([...ids, 'cap_unknown'])
      return ids.map((id) => Number(found.includes(id))).join('')
    }
    const seen = [await standing()]
    await store.revokeCapability({ id: own.id, accountId, now: NOW })
    seen.push(await standing())
    await store.revokeCredential({ id: second!.credentialId, accountId, now: NOW })
    seen.push(await standing())
    await addMember(store, accountId)
    await store.removeMember({ accountId, personId, keepsKeys: false, now: NOW })
    seen.push(await standing())
    expect(seen).toEqual(['11111', '11100', '11000', '00000'])

    const other = await connect()
    const [part] = await partsOf(other.connection)
    expect(await store.listStanding([part!.id])).toEqual([part!.id])
    await revoke(other.accountId, 'connection', other.connection.id)
    expect(await store.listStanding([part!.id])).toEqual([])
    await store.deleteCredential({ id: credentials[0].id, accountId, now: NOW })
    expect(await store.listStanding([own.id])).toEqual([])
    expect(await store.listStanding([])).toEqual([])
  })

  it('lists those of an account, of a person or of a client, newest first', async () => {
    const { accountId, personId, connection } = await connect()
    const other = newConnection(accountId, await addMember(store, accountId), {
      id: newId('con', NOW + 1),
      clientId: 'other',
    })
    await store.openConnection({ connection: other, terms: termsOn([]) })
    const ids = async (filter: { personId?: string; clientId?: string }) =>
      (await store.listConnections({ accountId, ...filter }, { limit: 9 })).items.map(({ id }) => id)
    expect(await ids({})).toEqual([other.id, connection.id])
    expect(await ids({ personId })).toEqual([connection.id])
    expect(await ids({ clientId: 'other' })).toEqual([other.id])
    const page = await store.listConnections({ accountId }, { limit: 1 })
    expect(page.next).toBe(other.id)
    expect((await store.listConnections({ accountId }, { limit: 1, before: other.id })).items).toEqual([
      connection,
    ])
  })

  it('is swept with the capability at its root, a month after its end, and its tokens before', async () => {
    const { accountId, connection, tokenHash } = await connect()
    const live = await connect({ expiresAt: NOW + 90 * DAY })
    await store.sweep(NOW + 2 * DAY)
    expect(await state(tokenHash)).toBe('gone')
    expect(await store.getConnection(connection.id, accountId)).toBeDefined()
    for (let i = 0; i < 3; i++) await store.sweep(NOW + 40 * DAY)
    expect(await store.listConnections({ accountId }, { limit: 1 })).toEqual({ items: [], next: null })
    expect(await store.getConnection(live.connection.id, live.accountId)).toBeDefined()
    expect(await place.query(`SELECT 1 FROM connections WHERE id = '${connection.id}'`)).toEqual([])
  })
})

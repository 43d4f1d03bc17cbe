// What the authorization server keeps between two requests, held to the same behaviour on every engine.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection, Input, OauthRow, Store } from '../../src/store/ports.ts'
import type { Role } from '../../schemas/role.ts'
import { addMember, addToken, newConnection, termsOn } from '../support/connections.ts'
import { addAccount, addCredential, createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

const DAY = 24 * 3_600_000
/** Engines give bytes in kinds of their own. */
const plain = (row: OauthRow | undefined) => row && { ...row, rowHash: new Uint8Array(row.rowHash) }
const hash = (text: string) => createHash('sha256').update(text).digest()

describe.each(ENGINES)('rows of the authorization server in %s', (engine) => {
  let place: Place
  let store: Store
  let other: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'oauth')
    store = await place.open('boot-1')
    // One process holds a file; a database serves several.
    other = engine === 'postgres' ? await place.open('boot-2') : store
  })
  afterAll(() => place.remove())

  const put = (name: string, over: Partial<Input<'putOauthRow'>> = {}) =>
    store.putOauthRow({
      rowHash: hash(name),
      model: 'AuthorizationCode',
      grantId: undefined,
      clientId: undefined,
      lookupHash: undefined,
      payload: name,
      now: NOW,
      expiresAt: NOW + DAY,
      ...over,
    })
  async function connect(over: Partial<Connection> = {}) {
    const accountId = await addAccount(store, 0)
    const personId = await addMember(store, accountId)
    const connection = newConnection(accountId, personId, over)
    await store.openConnection({ connection, terms: termsOn([await addCredential(store, accountId)]) })
    return { accountId, personId, connection }
  }

  it('are found by their digests, by every process, and replaced', async () => {
    await put('a', { lookupHash: hash('typed') })
    const row = {
      rowHash: new Uint8Array(hash('a')),
      payload: 'a',
      expiresAt: NOW + DAY,
      consumedAt: null,
      answeredAt: null,
    }
    expect(plain(await other.getOauthRow(hash('a')))).toEqual(row)
    expect(plain(await other.findOauthRow(hash('typed')))).toEqual(row)
    expect(await store.getOauthRow(hash('b'))).toBeUndefined()
    await put('a', { payload: 'new', expiresAt: NOW + 1 })
    expect(plain(await other.getOauthRow(hash('a')))).toEqual({ ...row, payload: 'new', expiresAt: NOW + 1 })
    expect(await store.findOauthRow(hash('typed'))).toBeUndefined()
  })

  it('are used once, whoever tries', async () => {
    await put('used')
    const all = await Promise.all(
      times(10, (i) =>
        (i % 2 === 0 ? store : other).consumeOauthRow({ rowHash: hash('used'), now: NOW + i }),
      ),
    )
    expect(all.filter(Boolean)).toHaveLength(1)
    const consumedAt = (await store.getOauthRow(hash('used')))?.consumedAt
    expect(consumedAt).toBeGreaterThanOrEqual(NOW)
    await put('used', { payload: 'again' })
    expect(await store.getOauthRow(hash('used'))).toMatchObject({ payload: 'again', consumedAt })
    expect(await store.consumeOauthRow({ rowHash: hash('never'), now: NOW })).toBe(false)
  })

  it('are answered once, and not when they have expired', async () => {
    await put('asked')
    const answer = (payload: string, now = NOW, from = store) =>
      from.answerOauthRow({ rowHash: hash('asked'), grantId: 'g', payload, now })
    const all = await Promise.all(times(6, (i) => answer(`answer ${i}`, NOW, i % 2 === 0 ? store : other)))
    expect(all.filter(Boolean)).toHaveLength(1)
    expect(await store.getOauthRow(hash('asked'))).toMatchObject({
      payload: `answer ${all.indexOf(true)}`,
      answeredAt: NOW,
    })
    await put('late', { expiresAt: NOW + 5 })
    const late = { rowHash: hash('late'), grantId: undefined, payload: 'x' }
    expect(await store.answerOauthRow({ ...late, now: NOW + 5 })).toBe(false)
    expect(await store.answerOauthRow({ ...late, now: NOW + 4 })).toBe(true)
  })

  it('go with their grant, and alone', async () => {
    await put('one', { grantId: 'grant-1' })
    await put('two', { grantId: 'grant-1', model: 'RefreshToken' })
    await put('three', { grantId: 'grant-2' })
    await store.dropOauthGrant('grant-1')
    const left = await Promise.all(['one', 'two', 'three'].map((name) => other.getOauthRow(hash(name))))
    expect(left.map((row) => row?.payload)).toEqual([undefined, undefined, 'three'])
    await store.dropOauthRow(hash('three'))
    await store.dropOauthRow(hash('three'))
    expect(await store.getOauthRow(hash('three'))).toBeUndefined()
  })

  it('lead to a connection for as long as it stands', async () => {
    const { accountId, personId, connection } = await connect()
    const look = async () => (await other.findGrantedConnection(connection.grantId))?.isLive
    expect(await store.findGrantedConnection(connection.grantId)).toEqual({
      id: connection.id,
      accountId,
      personId,
      clientId: connection.clientId,
      createdAt: connection.createdAt,
      expiresAt: connection.expiresAt,
      isLive: true,
    })
    expect(await store.findGrantedConnection('grant-unknown')).toBeUndefined()
    const setRole = (role: Role) => store.setMemberRole({ accountId, personId, role, now: NOW })
    await addMember(store, accountId)
    await setRole('auditor')
    expect(await look()).toBe(false)
    await setRole('operator')
    expect(await look()).toBe(true)
    await store.revokeConnections({ which: { accountId, of: 'connection', id: connection.id }, now: NOW })
    expect(await look()).toBe(false)
  })

  it('are swept when they have expired; clients after a day, unless they act for somebody', async () => {
    await store.sweep(NOW + 2 * DAY)
    const { accountId, connection } = await connect({ clientId: 'client-busy' })
    const at = NOW + 1
    const client = { model: 'Client', expiresAt: NOW + 4000 * DAY, now: at } as const
    await put('busy', { ...client, clientId: connection.clientId })
    await put('idle', { ...client, clientId: 'nobody' })
    await put('code', { expiresAt: at + 60 })
    const token = await addToken(store, connection)
    expect(await store.sweep(at + 59)).toMatchObject({ oauth: 0 })
    expect(await store.sweep(at + 60)).toMatchObject({ oauth: 1 })
    expect(await store.sweep(at + DAY - 1)).toMatchObject({ oauth: 0 })
    expect(await store.sweep(at + DAY)).toMatchObject({ oauth: 1 })
    expect(await store.getOauthRow(hash('busy'))).toBeDefined()
    await store.revokeConnections({ which: { accountId, of: 'client', id: connection.clientId }, now: NOW })
    expect(await store.sweep(at + DAY)).toMatchObject({ oauth: 1 })
    await store.sweep(NOW + 30 * DAY)
    expect(await store.findAccessToken(token)).toBeUndefined()
  })
})

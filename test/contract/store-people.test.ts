// People, passkeys, invitations, challenges and sessions on both engines, with two processes where the engine has replicas.
import { hash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../schemas/role.ts'
import { newId } from '../../src/lib/ids.ts'
import type { Invitation, Passkey, ServiceKey, Session, Store } from '../../src/store/ports.ts'
import { addAccount, createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

const HOUR = 3_600_000
const PAGE = { limit: 50 }
const keyOf = (accountId: string): ServiceKey => ({
  id: newId('key', NOW),
  accountId,
  label: 'pipeline',
  admin: false,
  role: 'operator',
  createdAt: NOW,
  revokedAt: null,
})
const hashOfKey = ({ id }: Pick<ServiceKey, 'id'>) => hash('sha256', id, 'buffer')

describe.each(ENGINES)('people in %s', (engine) => {
  let place: Place
  let store: Store
  /** A replica where the engine has any. */
  let other: Store
  let accountId: string
  beforeAll(async () => {
    place = await createPlace(engine, 'people')
    store = await place.open('boot-1')
    other = engine === 'postgres' ? await place.open('boot-2') : store
    accountId = await addAccount(store, 0)
  })
  afterAll(() => place.remove())

  const personOf = (name = 'Somebody') => ({
    id: newId('per', NOW),
    name,
    createdAt: NOW,
    disabledAt: null,
  })
  async function member(role: Role, account = accountId): Promise<string> {
    const person = personOf()
    const membership = { accountId: account, personId: person.id, role, admin: false, createdAt: NOW }
    await store.addPerson({ person, membership })
    return person.id
  }
  const passkeyOf = (personId: string, over: Partial<Passkey> = {}): Passkey => ({
    id: newId('psk', NOW),
    personId,
    credentialId: randomBytes(16).toString('base64url'),
    publicKey: randomBytes(77),
    counter: 0,
    transports: ['internal'],
    label: 'Chrome, Mac',
    isBackedUp: false,
    createdAt: NOW,
    usedAt: null,
    ...over,
  })
  async function session(personId: string, account = accountId): Promise<{ id: string; tokenHash: Buffer }> {
    const opened: Session = {
      id: newId('ses', NOW),
      personId,
      accountId: account,
      method: 'passkey',
      address: '192.0.2.1',
      userAgent: 'x',
      createdAt: NOW,
      seenAt: NOW,
      freshAt: NOW,
      expiresAt: NOW + HOUR,
      revokedAt: null,
    }
    const tokenHash = randomBytes(32)
    await store.insertSession({ session: opened, tokenHash })
    return { id: opened.id, tokenHash }
  }
  async function invitation(over: Partial<Invitation> = {}): Promise<Buffer> {
    const tokenHash = randomBytes(32)
    await store.insertInvitation({
      invitation: {
        id: newId('inv', NOW),
        accountId,
        role: 'operator',
        admin: false,
        name: 'New',
        personId: null,
        invitedBy: 'key_1',
        createdAt: NOW,
        expiresAt: NOW + HOUR,
        usedAt: null,
        revokedAt: null,
        ...over,
      },
      tokenHash,
    })
    return tokenHash
  }
  const bring = (personId: string) => ({
    passkey: passkeyOf(personId),
    recoveryHashes: [randomBytes(32), randomBytes(32)],
  })

  it('are listed with their roles, keys and last visit, by account alone', async () => {
    const mine = await addAccount(store, 0)
    const id = await member('approver', mine)
    await store.addPasskey({ passkey: passkeyOf(id), accountId: mine, maxPasskeys: 2 })
    const { id: sessionId } = await session(id, mine)
    await store.touchSession({ id: sessionId, now: NOW + 5 })
    const { items } = await other.listMembers(mine, PAGE)
    expect(items).toMatchObject([
      { personId: id, role: 'approver', passkeys: 1, lastSeenAt: NOW + 5, person: { name: 'Somebody' } },
    ])
    expect(await store.getMember(accountId, id)).toBeUndefined()
    expect(await store.membershipsOf(id)).toMatchObject([{ accountId: mine, accountName: 'someone' }])
    await store.renamePerson({ personId: id, name: 'Renamed', now: NOW })
    expect((await store.getMember(mine, id))?.person.name).toBe('Renamed')
    expect([await store.hasPeople(), await store.firstAccount()]).toEqual([true, undefined])
  })

  it('keep an owner, whoever demotes and removes whom at once, in whichever process', async () => {
    for (let round = 0; round < 5; round++) {
      const mine = await addAccount(store, 0)
      const owners = await Promise.all(times(4, () => member('owner', mine)))
      const results = await Promise.all(
        owners.map((personId, at) => {
          const by = at % 2 === 0 ? store : other
          return at < 2
            ? by.setMemberRole({ accountId: mine, personId, role: 'auditor', now: NOW })
            : by.removeMember({ accountId: mine, personId, keepsKeys: false, now: NOW })
        }),
      )
      expect(results.filter(({ ok }) => !ok)).toEqual([{ ok: false, reason: 'last_owner' }])
      const { items } = await store.listMembers(mine, PAGE)
      expect(items.filter(({ role }) => role === 'owner')).toHaveLength(1)
    }
  })

  it('who are removed lose sessions and passkeys, and are nobody of the account', async () => {
    const id = await member('operator')
    await store.addPasskey({ passkey: passkeyOf(id), accountId, maxPasskeys: 2 })
    const { tokenHash } = await session(id)
    expect(await other.findSession(tokenHash)).toMatchObject({ personId: id, role: 'operator' })
    await store.setMemberRole({ accountId, personId: id, role: 'auditor', now: NOW })
    expect(await other.findSession(tokenHash)).toMatchObject({ role: 'auditor' })
    const removed = await store.removeMember({ accountId, personId: id, keepsKeys: false, now: NOW })
    expect(removed).toMatchObject({ ok: true, was: 'auditor' })
    expect(await other.findSession(tokenHash)).toBeUndefined()
    expect(await store.listPasskeys(id)).toEqual([])
    expect(await store.removeMember({ accountId, personId: id, keepsKeys: false, now: NOW })).toEqual({
      ok: false,
      reason: 'not_found',
    })
  })

  it('who are removed leave no service key behind that they made, or a key of theirs, unless somebody keeps them', async () => {
    for (const keepsKeys of [false, true]) {
      const id = await member('operator')
      const [own, further, foreign] = [keyOf(accountId), keyOf(accountId), keyOf(accountId)]
      for (const [key, by] of [
        [own, id],
        [further, own.id],
        [foreign, undefined],
      ] as const)
        await store.addKey({ key, keyHash: hashOfKey(key), by })
      const removed = await store.removeMember({ accountId, personId: id, keepsKeys, now: NOW })
      expect(removed).toMatchObject({
        revokedKeys: keepsKeys ? [] : expect.arrayContaining([own.id, further.id]),
      })
      const chain = await store.getAuditChain(accountId)
      const from = { chain: accountId, after: (chain?.seq ?? 1) - 1, upTo: 1e9, limit: 9 }
      const [event] = await store.listAuditEvents(from)
      expect(JSON.parse(event?.body ?? '')).toMatchObject({
        event: 'person.removed',
        detail: keepsKeys
          ? { revoked_keys: 0, key_ids: [] }
          : { revoked_keys: 2, key_ids: expect.arrayContaining([own.id, further.id]) },
      })
      expect((await other.findKey(hashOfKey(own))) !== undefined).toBe(keepsKeys)
      expect((await other.findKey(hashOfKey(further))) !== undefined).toBe(keepsKeys)
      expect(await other.findKey(hashOfKey(foreign))).toMatchObject({ id: foreign.id })
    }
  })

  it('join by an invitation, of twenty at once one, in whichever process', async () => {
    const tokenHash = await invitation()
    expect(await other.findInvitation(tokenHash, NOW + 1)).toMatchObject({ role: 'operator' })
    const results = await Promise.all(
      times(20, (at) => {
        const person = personOf()
        const by = at % 2 === 0 ? store : other
        return by.acceptInvitation({ tokenHash, person, credentials: bring(person.id), now: NOW + 1 })
      }),
    )
    expect(results.filter((result) => result !== undefined)).toHaveLength(1)
    expect(await store.findInvitation(tokenHash, NOW + 1)).toBeUndefined()
    const former = await store.findFormerInvitation(tokenHash)
    expect(former).toEqual({ id: expect.stringMatching(/^inv/), accountId })
    expect(await store.findFormerInvitation(Buffer.alloc(32))).toBeUndefined()
  })

  it('find no invitation that is over or withdrawn', async () => {
    const id = newId('inv', NOW)
    const [late, gone] = [await invitation(), await invitation({ id })]
    const waiting = async () => (await store.listInvitations(accountId, NOW)).map((one) => one.id)
    expect(await waiting()).toContain(id)
    await store.revokeInvitation({ id, accountId, now: NOW })
    expect(await waiting()).not.toContain(id)
    const foreign = await addAccount(store, 0)
    expect(await store.revokeInvitation({ id, accountId: foreign, now: NOW })).toBeUndefined()
    for (const [tokenHash, now] of [
      [late, NOW + HOUR],
      [gone, NOW],
    ] as const) {
      const person = personOf()
      expect(
        await store.acceptInvitation({ tokenHash, person, credentials: bring(person.id), now }),
      ).toBeUndefined()
    }
  })

  it('are let in by nobody who may not any more: an owner who was removed or demoted, a key that was revoked', async () => {
    const [stays, removed, demoted] = [await member('owner'), await member('owner'), await member('owner')]
    const key = { id: newId('key', NOW), accountId, label: 'ci', admin: false, role: 'owner' as const }
    await store.addKey({ key: { ...key, createdAt: NOW, revokedAt: null }, keyHash: randomBytes(32) })
    const links = await Promise.all(
      [stays, removed, demoted, key.id].map((invitedBy) => invitation({ role: 'owner', invitedBy })),
    )
    for (const tokenHash of links) expect(await store.findInvitation(tokenHash, NOW)).toBeDefined()
    await store.removeMember({ accountId, personId: removed, keepsKeys: false, now: NOW })
    await store.setMemberRole({ accountId, personId: demoted, role: 'operator', now: NOW })
    await store.revokeKey({ id: key.id, accountId, now: NOW })
    const accepted = await Promise.all(
      links.map(async (tokenHash) => {
        const person = personOf()
        const found = await other.findInvitation(tokenHash, NOW + 1)
        const joined = await other.acceptInvitation({
          tokenHash,
          person,
          credentials: bring(person.id),
          now: NOW + 1,
        })
        return [found !== undefined, joined !== undefined]
      }),
    )
    const no = [false, false]
    expect(accepted).toEqual([[true, true], no, no, no])
  })

  it('who joined another account meanwhile get no passkey from an owner of the first', async () => {
    const id = await member('operator')
    const old = passkeyOf(id)
    await store.addPasskey({ passkey: old, accountId, maxPasskeys: 2 })
    const link = await invitation({ personId: id })
    const elsewhere = await addAccount(store, 0)
    await store.acceptInvitation({
      tokenHash: await invitation({ accountId: elsewhere, role: 'owner' }),
      person: { ...personOf(), id },
      now: NOW + 1,
    })
    expect(await store.findInvitation(link, NOW + 2)).toBeUndefined()
    const person = { ...personOf(), id }
    const taken = { tokenHash: link, person, credentials: bring(id), now: NOW + 2 }
    expect(await store.acceptInvitation(taken)).toBeUndefined()
    expect(await store.findPasskey(old.credentialId)).toBeDefined()
  })

  it('get a new passkey by invitation, and lose the old one, the codes and the sessions', async () => {
    const id = await member('operator')
    const old = passkeyOf(id)
    await store.addPasskey({ passkey: old, accountId, maxPasskeys: 2 })
    const { tokenHash } = await session(id)
    const credentials = bring(id)
    await store.acceptInvitation({
      tokenHash: await invitation({ personId: id }),
      person: { ...personOf(), id },
      credentials,
      now: NOW + 1,
    })
    expect(await store.findPasskey(old.credentialId)).toBeUndefined()
    expect(await store.findSession(tokenHash)).toBeUndefined()
    const found = await other.findPasskey(credentials.passkey.credentialId)
    expect(found && { ...found, publicKey: Buffer.from(found.publicKey) }).toEqual({
      ...credentials.passkey,
      publicKey: credentials.passkey.publicKey,
    })
    expect(await store.countRecoveryCodes(id)).toBe(2)
  })

  it('answer a challenge once, in time, and for what it was made', async () => {
    const challenge = { hash: randomBytes(32), purpose: 'sign_in', holder: '' } as const
    const make = () => store.insertChallenge({ ...challenge, expiresAt: NOW + 10, now: NOW })
    await make()
    const taken = await Promise.all(
      times(10, (at) => (at % 2 === 0 ? store : other).takeChallenge({ ...challenge, now: NOW + 1 })),
    )
    expect(taken.filter(Boolean)).toHaveLength(1)
    for (const wrong of [{ purpose: 'join' }, { holder: 'x' }, { now: NOW + 10 }] as const) {
      await make()
      expect(await store.takeChallenge({ ...challenge, now: NOW + 1, ...wrong })).toBe(false)
      expect(await store.takeChallenge({ ...challenge, now: NOW + 1 })).toBe(false)
    }
  })

  it('have passkeys that only count forwards, and keep the last one', async () => {
    const id = await member('operator')
    const passkey = passkeyOf(id)
    expect(await store.addPasskey({ passkey, accountId, maxPasskeys: 2 })).toBe(true)
    expect(
      await store.addPasskey({ passkey: { ...passkey, id: newId('psk', NOW) }, accountId, maxPasskeys: 2 }),
    ).toBe(false)
    const use = (counter: number) =>
      other.noteAuthenticatorUse({ id: passkey.id, counter, isBackedUp: true, now: NOW + 1 })
    expect([await use(0), await use(5), await use(5), await use(4), await use(0), await use(6)]).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ])
    const remove = () => store.removePasskey({ id: passkey.id, personId: id, accountId, now: NOW })
    expect(await remove()).toBe('last')
    await store.addPasskey({ passkey: passkeyOf(id), accountId, maxPasskeys: 2 })
    expect(await store.addPasskey({ passkey: passkeyOf(id), accountId, maxPasskeys: 2 })).toBe(false)
    expect([await remove(), await remove()]).toEqual(['removed', 'not_found'])
  })

  it('spend a recovery code once', async () => {
    const id = await member('operator')
    const hashes = [randomBytes(32), randomBytes(32)]
    await store.replaceRecoveryCodes({ personId: id, accountId, hashes, now: NOW })
    const [hash = Buffer.alloc(0)] = hashes
    const spent = await Promise.all(times(6, () => other.useRecoveryCode({ hash, now: NOW })))
    expect(spent.filter((found) => found === id)).toHaveLength(1)
    expect(await store.countRecoveryCodes(id)).toBe(1)
    await store.replaceRecoveryCodes({ personId: id, accountId, hashes: [randomBytes(32)], now: NOW })
    expect(await store.useRecoveryCode({ hash: hashes[1] ?? hash, now: NOW })).toBeUndefined()
  })

  it('have sessions that are freshened, listed, switched and ended', async () => {
    const [id, elsewhere] = [await member('operator'), await addAccount(store, 0)]
    const [first, second, third] = [await session(id), await session(id), await session(id)]
    await store.freshenSession({ id: first.id, now: NOW + 7 })
    expect(await other.findSession(first.tokenHash)).toMatchObject({ freshAt: NOW + 7 })
    const mine = { personId: id, now: NOW }
    expect((await store.listSessions(mine, PAGE)).items).toHaveLength(3)
    expect((await store.listSessions({ ...mine, now: NOW + HOUR }, PAGE)).items).toEqual([])
    expect((await store.listSessions({ ...mine, accountId: elsewhere }, PAGE)).items).toEqual([])

    const to = { id: first.id, personId: id, accountId: elsewhere, now: NOW }
    expect(await store.switchSession(to)).toBe(false)
    const link = await invitation({ accountId: elsewhere, role: 'seller' })
    await store.acceptInvitation({ tokenHash: link, person: { ...personOf(), id }, now: NOW })
    expect(await store.switchSession(to)).toBe(true)
    expect(await other.findSession(first.tokenHash)).toMatchObject({ accountId: elsewhere, role: 'seller' })

    expect(await store.endSession({ id: second.id, accountId: elsewhere, now: NOW })).toBeUndefined()
    expect(await store.endSession({ id: second.id, accountId, now: NOW })).toMatchObject({ revokedAt: NOW })
    const ended = await store.endOtherSessions({ personId: id, accountId, exceptId: first.id, now: NOW })
    expect(ended).toBe(1)
    expect(await store.findSession(third.tokenHash)).toBeUndefined()
    expect(await store.findSession(first.tokenHash)).toBeDefined()
  })

  it('of an identity provider have its role, but for the last owner, and stay out where they were removed', async () => {
    const mine = await addAccount(store, 0)
    const enter = (role: Role, subject = 'boss') =>
      store.signInThroughProvider({
        issuer: 'https://id.example.com',
        subject,
        person: personOf(subject),
        accountId: mine,
        role,
        admin: true,
        now: NOW,
      })
    const made = await enter('owner')
    expect(made).toMatchObject({ ok: true, isNew: true, role: 'owner' })
    expect(await enter('auditor')).toMatchObject({ ok: true, isNew: false, role: 'owner' })
    const clerk = await enter('operator', 'clerk')
    expect(await enter('auditor', 'clerk')).toMatchObject({ role: 'auditor', was: 'operator' })
    if (!clerk.ok) throw new Error('the clerk was refused')
    await store.removeMember({ accountId: mine, personId: clerk.personId, keepsKeys: false, now: NOW })
    expect(await enter('operator', 'clerk')).toEqual({ ok: false, reason: 'removed' })
  })
})

// A capability that is narrowed while the terms above it change: it has no more than they allow now, or it ends with them.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { NewCapability, Store } from '../../src/store/ports.ts'
import { addMember, newConnection, termsOn } from '../support/connections.ts'
import { runRaw } from '../support/raw-sql.ts'
import {
  addAccount,
  addCapability,
  addCredential,
  createPlace,
  ENGINES,
  NOW,
  type Place,
  SCOPE,
} from '../support/store.ts'

const HOUR = 3_600_000
const LESS = { ...SCOPE, path_prefixes: ['/v1/less'] }
const ISSUER = 'https://id.example.com'

/** An operator's assistant with one credential, beside an owner who is left; the operator signs in through an identity provider. */
async function connect(store: Store) {
  const accountId = await addAccount(store, 0)
  await addMember(store, accountId)
  const subject = randomBytes(8).toString('hex')
  const signIn = (role: 'operator' | 'auditor') =>
    store.signInThroughProvider({
      issuer: ISSUER,
      subject,
      person: { id: newId('per', NOW), name: 'Ben', createdAt: NOW, disabledAt: null },
      accountId,
      role,
      admin: false,
      now: NOW,
    })
  const made = await signIn('operator')
  if (!made.ok) throw new Error('the operator was refused')
  const { personId } = made
  const credential = await addCredential(store, accountId)
  const connection = newConnection(accountId, personId)
  const terms = termsOn([credential], { showsBalance: true })
  await store.openConnection({ connection, terms })
  return { accountId, personId, signIn, credential, connection, terms, part: terms.parts[0]! }
}
type Connected = Awaited<ReturnType<typeof connect>>

/** Cuts a capability from the part of the connection, as it was before anything changed. */
async function narrow(
  store: Store,
  { accountId, credential, part }: Connected,
  over: Partial<NewCapability> = {},
  judged: { readonly parentScope?: typeof SCOPE } = { parentScope: SCOPE },
): Promise<Buffer> {
  const tokenHash = randomBytes(32)
  const capability: NewCapability = {
    id: newId('cap', NOW),
    accountId,
    credentialId: credential.id,
    parentId: part.capabilityId,
    label: 'helper',
    scope: SCOPE,
    maxUses: null,
    uses: 0,
    showsBalance: true,
    createdAt: NOW,
    expiresAt: NOW + HOUR,
    revokedAt: null,
    ...over,
  }
  await store.insertCapability({ capability, tokenHash, ...judged })
  return tokenHash
}

const ENDINGS: readonly (readonly [string, (store: Store, connected: Connected) => Promise<unknown>])[] = [
  [
    'the connection is changed',
    (store, { connection, terms, part }) =>
      store.changeConnection({
        connection,
        terms: { ...terms, scope: LESS, parts: [{ ...part, scope: LESS }] },
        now: NOW,
      }),
  ],
  [
    'its person is demoted',
    (store, { accountId, personId }) =>
      store.setMemberRole({ accountId, personId, role: 'auditor', now: NOW }),
  ],
  ['an identity provider demotes its person', (_, { signIn }) => signIn('auditor')],
  [
    'its person is removed',
    (store, { accountId, personId }) =>
      store.removeMember({ accountId, personId, keepsKeys: false, now: NOW }),
  ],
  [
    'the connection is revoked',
    (store, { accountId, connection: { id } }) =>
      store.revokeConnections({ which: { accountId, of: 'connection', id }, now: NOW }),
  ],
]

describe.each(ENGINES)('what is narrowed while terms change, in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'narrowing')
    store = await place.open('boot-1')
  })
  afterAll(() => place.remove())

  const refused = { code: 'state_conflict' }

  it.each(ENDINGS)('is refused when it was judged before %s', async (_, end) => {
    const connected = await connect(store)
    const before = await narrow(store, connected)
    await end(store, connected)
    expect((await store.findCapability(before))?.revokedAt).toBe(NOW)
    await expect(narrow(store, connected)).rejects.toMatchObject(refused)
  })

  it('lies within the terms as they are now: their scope, their end, and the balance', async () => {
    const connected = await connect(store)
    const { connection, terms, part } = connected
    const change = (over: Partial<typeof terms>) =>
      store.changeConnection({ connection, terms: { ...terms, ...over }, now: NOW })
    await change({ parts: [{ ...part, scope: LESS }] })
    const stale = narrow(store, connected)
    await expect(stale).rejects.toMatchObject({ ...refused, reason: 'parent_changed' })
    await expect(narrow(store, connected, { scope: LESS }, {})).rejects.toMatchObject(refused)
    await expect(narrow(store, connected, { scope: LESS }, { parentScope: LESS })).resolves.toBeDefined()

    await change({ expiresAt: NOW + HOUR - 1 })
    await expect(narrow(store, connected)).rejects.toMatchObject({ reason: 'parent_changed' })
    await expect(narrow(store, connected, { expiresAt: NOW + HOUR - 1 })).resolves.toBeDefined()

    await change({ showsBalance: false })
    await expect(narrow(store, connected)).rejects.toMatchObject({ reason: 'parent_changed' })
    await expect(narrow(store, connected, { showsBalance: false })).resolves.toBeDefined()
  })

  it('is refused once its person may not connect, though its own connection stands', async () => {
    const connected = await connect(store)
    const { accountId, personId, credential } = connected
    await store.setMemberRole({ accountId, personId, role: 'approver', now: NOW })
    await expect(narrow(store, connected)).rejects.toMatchObject(refused)
    // Nobody's connection is asked about where an operator issued it.
    const own = await addCapability(store, credential)
    await expect(addCapability(store, credential, { parentId: own.id })).resolves.toBeDefined()
    await store.setMemberRole({ accountId, personId, role: 'operator', now: NOW })
    await expect(narrow(store, connected)).resolves.toBeDefined()
  })
})

describe('what is narrowed while terms change, with both waiting for one lock', () => {
  let place: Place
  let store: Store
  let other: Store
  let blocker: pg.Client
  beforeAll(async () => {
    place = await createPlace('postgres', 'narrowing_race')
    store = await place.open('boot-1')
    other = await place.open('boot-2')
    blocker = new pg.Client({ connectionString: place.config.databaseUrl })
    await blocker.connect()
  })
  afterAll(async () => {
    await blocker.end()
    await place.remove()
  })

  // On a connection of its own: a transaction sees the activity of its beginning.
  const waiting = async () =>
    (
      await place.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).length

  /** Starts the second one once the first one waits, and lets go once both wait, or the second one is through. */
  async function inOrder<A, B>(
    lock: () => Promise<unknown>,
    first: () => Promise<A>,
    second: () => Promise<B>,
  ) {
    await blocker.query('BEGIN')
    try {
      await lock()
      const started = first().catch((thrown: unknown) => ({ thrown }))
      await expect.poll(waiting).toBe(1)
      let isThrough = false
      const following = second()
        .catch((thrown: unknown) => ({ thrown }))
        .finally(() => (isThrough = true))
      await expect.poll(async () => isThrough || (await waiting()) === 2).toBe(true)
      await blocker.query('COMMIT')
      return [await started, await following] as const
    } finally {
      // Of one that failed: the next one finds nothing locked.
      await blocker.query('ROLLBACK')
    }
  }
  const lockPart = ({ part }: Connected) =>
    blocker.query('SELECT 1 FROM capabilities WHERE id = $1 FOR UPDATE', [part.capabilityId])

  it.each(ENDINGS)('ends where it came first and %s', async (_, end) => {
    const connected = await connect(store)
    const [tokenHash] = await inOrder(
      () => lockPart(connected),
      () => narrow(store, connected),
      () => end(other, connected),
    )
    expect(tokenHash).toBeInstanceOf(Buffer)
    expect((await store.findCapability(tokenHash as Buffer))?.revokedAt).toBe(NOW)
  })

  it.each(ENDINGS)('is refused where it came second and %s', async (_, end) => {
    const connected = await connect(store)
    const [, narrowed] = await inOrder(
      () => lockPart(connected),
      () => end(other, connected),
      () => narrow(store, connected),
    )
    expect(narrowed).toMatchObject({ thrown: { code: 'state_conflict' } })
  })

  it('is refused on a connection that was opened while its person was demoted', async () => {
    const { accountId, personId, credential } = await connect(store)
    const connection = newConnection(accountId, personId)
    const terms = termsOn([credential], { showsBalance: true })
    const [, narrowed] = await inOrder(
      () => blocker.query('SELECT 1 FROM memberships WHERE person_id = $1 FOR UPDATE', [personId]),
      () => other.setMemberRole({ accountId, personId, role: 'auditor', now: NOW }),
      async () => {
        await store.openConnection({ connection, terms })
        const [part] = terms.parts
        return narrow(store, { accountId, credential, part: part! } as Connected)
      },
    )
    expect(narrowed).toMatchObject({ thrown: { code: 'state_conflict' } })
  })

  const ofClient = ({ accountId, connection: { clientId } }: Connected) =>
    other.revokeConnections({ which: { accountId, of: 'client', id: clientId }, now: NOW })
  it.each<[string, (connected: Connected) => Promise<unknown>]>([
    ['all of its client are revoked', ofClient],
    [
      'all of its person are',
      ({ accountId, personId: id }) =>
        other.revokeConnections({ which: { accountId, of: 'person', id }, now: NOW }),
    ],
    [
      'its person is removed',
      ({ accountId, personId }) => other.removeMember({ accountId, personId, keepsKeys: false, now: NOW }),
    ],
  ])('is ended whole or not at all where its connection is opened while %s', async (_, end) => {
    const connected = await connect(store)
    const { accountId, personId, credential } = connected
    const connection = newConnection(accountId, personId)
    // Between two statements of whoever ends connections: the one that ends capabilities has seen which there are, and not begun yet.
    await runRaw(
      place,
      `CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END'`,
      `CREATE TRIGGER pause BEFORE UPDATE OF revoked_at ON capabilities EXECUTE FUNCTION pause()`,
    )
    try {
      await inOrder(
        () => blocker.query('SELECT pg_advisory_xact_lock(1)'),
        () => end(connected),
        () => store.openConnection({ connection, terms: termsOn([credential]) }),
      )
    } finally {
      await runRaw(place, 'DROP TRIGGER pause ON capabilities', 'DROP FUNCTION pause')
    }
    const root = await store.findCapabilityById(connection.capabilityId, accountId)
    expect(root).toBeDefined()
    expect((await store.getConnection(connection.id, accountId))?.revokedAt).toBe(root?.revokedAt)
    const old = await store.findCapabilityById(connected.connection.capabilityId, accountId)
    expect(old?.revokedAt).toBe(NOW)
  })

  it('ends with a connection that was opened while whoever ends it waited', async () => {
    const connected = await connect(store)
    const { accountId, personId, credential } = connected
    const connection = newConnection(accountId, personId)
    const terms = termsOn([credential], { showsBalance: true })
    const { rows } = await blocker.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const waitingForOthers = async () =>
      (
        await place.query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
             AND NOT ${rows[0]!.pid} = ANY (pg_blocking_pids(pid))`,
        )
      ).length
    await blocker.query('BEGIN')
    try {
      await blocker.query('SELECT 1 FROM memberships WHERE person_id = $1 FOR UPDATE', [personId])
      await blocker.query('SAVEPOINT before')
      await lockPart(connected)
      const revoked = ofClient(connected)
      await expect.poll(waiting).toBe(1)
      await store.openConnection({ connection, terms })
      const narrowed = narrow(store, { ...connected, part: terms.parts[0]! })
      await expect.poll(waiting).toBe(2)
      await blocker.query('ROLLBACK TO before')
      await expect.poll(waitingForOthers).toBe(1)
      await blocker.query('COMMIT')
      expect(await revoked).toContain(connection.id)
      expect((await store.findCapability(await narrowed))?.revokedAt).toBe(NOW)
    } finally {
      await blocker.query('ROLLBACK')
    }
  })
})

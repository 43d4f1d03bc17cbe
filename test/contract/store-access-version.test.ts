// What replicas remember of who may do what is forgotten by all of them with the change itself: whoever makes it, in whatever words.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type pg from 'pg'
import { newId } from '../../src/lib/ids.ts'
import type { Row } from '../../src/store/command.ts'
import { createPool } from '../../src/store/postgres/pool.ts'
import type { Store } from '../../src/store/ports.ts'
import { addMember, addToken, newConnection, termsOn } from '../support/connections.ts'
import {
  addCapability,
  addSetting,
  createPlace,
  log,
  NOW,
  type Place,
  type Setting,
} from '../support/store.ts'

let place: Place
/** The one that remembers, and the one that changes what it remembers. */
let here: Store
let there: Store
let pool: pg.Pool
beforeAll(async () => {
  place = await createPlace('postgres', 'access_version')
  here = await place.open('boot-1')
  there = await place.open('boot-2')
  pool = createPool({ url: place.config.databaseUrl! }, log, 1)
})
afterAll(async () => {
  await pool.end()
  await place.remove()
})

/** Past the store, as an operator would. */
const query = async (text: string) => (await pool.query<Row>(text)).rows
const version = async () => (await query('SELECT version FROM access_version'))[0]!['version']

interface World extends Setting {
  readonly personId: string
  readonly key: { readonly id: string; readonly hash: string }
  readonly connection: ReturnType<typeof newConnection>
  readonly access: Buffer
  readonly session: { readonly id: string; readonly tokenHash: Buffer }
}
async function makeWorld(): Promise<World> {
  const setting = await addSetting(there, 10)
  const { accountId, credential } = setting
  const personId = await addMember(there, accountId)
  // One owner has to stay.
  await addMember(there, accountId)
  const connection = newConnection(accountId, personId)
  await there.openConnection({ connection, terms: termsOn([credential]) })
  const access = await addToken(there, connection)
  const session = { id: newId('ses', NOW), tokenHash: randomBytes(32) }
  await there.insertSession({
    tokenHash: session.tokenHash,
    session: {
      id: session.id,
      personId,
      accountId,
      method: 'passkey',
      address: '192.0.2.1',
      userAgent: 'test',
      createdAt: NOW,
      seenAt: NOW,
      freshAt: NOW,
      expiresAt: NOW + 3_600_000,
      revokedAt: null,
    },
  })
  const [row] = await query(
    `SELECT id, encode(key_hash, 'hex') AS hash FROM service_keys WHERE account_id = '${accountId}'`,
  )
  return {
    ...setting,
    personId,
    connection,
    access,
    session,
    key: { id: String(row!['id']), hash: String(row!['hash']) },
  }
}

/** Everything that this replica finds of it, as it finds it for a call. */
const look = async (w: World) => ({
  key: await here.findKey(Buffer.from(w.key.hash, 'hex')),
  capability: await here.findCapability(w.capability.tokenHash),
  credential: await here.getCredential(w.credential.id, w.accountId),
  access: await here.findAccessToken(w.access),
  parts: await here.findParts(w.connection.capabilityId),
  session: await here.findSession(w.session.tokenHash),
})
/** Everything of it as the database says. */
async function fresh(w: World) {
  const store = await place.open()
  const key = await store.findKey(Buffer.from(w.key.hash, 'hex'))
  const capability = await store.findCapability(w.capability.tokenHash)
  const credential = await store.getCredential(w.credential.id, w.accountId)
  const access = await store.findAccessToken(w.access)
  const parts = await store.findParts(w.connection.capabilityId)
  const session = await store.findSession(w.session.tokenHash)
  await store.close()
  return { key, capability, credential, access, parts, session }
}

const sql = (text: (w: World) => string) => async (w: World) => void (await query(text(w)))
const CHANGES: Readonly<Record<string, (w: World) => Promise<unknown>>> = {
  'a key that is revoked': ({ key, accountId }) => there.revokeKey({ id: key.id, accountId, now: NOW }),
  'a capability that is revoked': ({ capability: { id }, accountId }) =>
    there.revokeCapability({ id, accountId, now: NOW }),
  'a credential that is replaced': ({ credential: { id, sealed }, accountId }) =>
    there.rotateCredential({
      id,
      accountId,
      fromVersion: 1,
      sealed: { ...sealed, ciphertext: 'bmV3' },
      now: NOW,
    }),
  'a credential that is revoked': ({ credential: { id }, accountId }) =>
    there.revokeCredential({ id, accountId, now: NOW }),
  'a connection that is ended': ({ connection: { id }, accountId }) =>
    there.revokeConnections({ which: { of: 'connection', accountId, id }, now: NOW }),
  'a person who becomes an auditor': ({ personId, accountId }) =>
    there.setMemberRole({ personId, accountId, role: 'auditor', now: NOW }),
  'a token that is dropped': ({ access }) => there.dropAccessToken(access),
  'a session that is ended': ({ session, personId }) =>
    there.endSession({ id: session.id, personId, now: NOW }),
  'a part that is added by hand': sql(
    (
      w,
    ) => `INSERT INTO capabilities (id, account_id, credential_id, parent_id, root_id, token_hash, label, scope, uses, created_at, expires_at)
      SELECT '${newId('cap')}', account_id, credential_id, parent_id, root_id, sha256('${newId('cap')}'), label, scope, 0, created_at, expires_at
      FROM capabilities WHERE parent_id = '${w.connection.capabilityId}'`,
  ),
  'a person who is disabled by hand': sql(
    (w) => `UPDATE people SET disabled_at = 1 WHERE id = '${w.personId}'`,
  ),
  'a membership that is removed by hand': sql(
    (w) => `DELETE FROM memberships WHERE person_id = '${w.personId}'`,
  ),
  'a key that is revoked by hand': sql(
    (w) => `UPDATE service_keys SET revoked_at = 1 WHERE id = '${w.key.id}'`,
  ),
}

describe('what a replica remembers', () => {
  it.each(Object.entries(CHANGES))('is as the database says after %s', async (_, change) => {
    const world = await makeWorld()
    const before = await look(world)
    expect(await look(world)).toEqual(before)
    await change(world)
    const after = await fresh(world)
    expect(after).not.toEqual(before)
    expect(await look(world)).toEqual(after)
  })

  it('is as the database says after a member came back', async () => {
    const world = await makeWorld()
    const { personId, accountId } = world
    await query(`DELETE FROM memberships WHERE person_id = '${personId}'`)
    expect((await look(world)).access?.capability.revokedAt).not.toBeNull()
    await query(
      `INSERT INTO memberships (account_id, person_id, role, admin, created_at) VALUES ('${accountId}', '${personId}', 'owner', 0, 1)`,
    )
    expect((await look(world)).access?.capability.revokedAt).toBeNull()
  })

  it('outlives what every call does', async () => {
    const world = await makeWorld()
    const before = await version()
    await there.touchConnection({ id: world.connection.id, now: NOW + 1 })
    await query(`UPDATE capabilities SET uses = uses + 1 WHERE id = '${world.capability.id}'`)
    await addCapability(there, world.credential)
    await addToken(there, world.connection)
    expect(await version()).toBe(before)
  })
})

/** Nothing that is remembered says these: uses and times that calls write, and what only lists show. */
const UNREMEMBERED = [
  'capabilities.id',
  'capabilities.uses',
  'connections.client_host',
  'connections.created_at',
  'connections.grant_id',
  'connections.id',
  'connections.redirect_host',
  'connections.used_at',
  'sessions.address',
  'sessions.created_at',
  'sessions.id',
  'sessions.seen_at',
  'sessions.user_agent',
]

it('every column of the tables that rows are remembered from is watched, but for those that none of them says', async () => {
  await makeWorld()
  const columns = await query(`SELECT table_name, column_name FROM information_schema.columns
    WHERE table_name IN ('service_keys', 'credentials', 'capabilities', 'access_tokens', 'connections', 'people', 'memberships', 'sessions')
    ORDER BY 1, 2`)
  const unwatched: string[] = []
  for (const { table_name: table, column_name: column } of columns) {
    const before = await version()
    // To itself: what is watched is that it is written.
    await query(`UPDATE ${String(table)} SET ${String(column)} = ${String(column)}`)
    if ((await version()) === before) unwatched.push(`${String(table)}.${String(column)}`)
  }
  expect(unwatched).toEqual(UNREMEMBERED)
})

it('many changes at once neither wait for each other for ever nor leave one unseen', async () => {
  const worlds = await Promise.all(Array.from({ length: 8 }, makeWorld))
  for (const world of worlds) await look(world)
  await Promise.all(
    worlds.flatMap(({ credential, capability, accountId, key }) => [
      there.revokeCredential({ id: credential.id, accountId, now: NOW }),
      here.revokeCapability({ id: capability.id, accountId, now: NOW }),
      there.revokeKey({ id: key.id, accountId, now: NOW }),
    ]),
  )
  for (const world of worlds) {
    const seen = await look(world)
    expect(seen.key).toBeUndefined()
    expect(seen.credential?.revokedAt).toBe(NOW)
    expect(seen.capability?.revokedAt).toBe(NOW)
  }
})

it('every table has a key, by which a replica in another database finds what was changed', async () => {
  const without =
    await query(`SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = 'public' AND NOT EXISTS (
      SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary
    )`)
  expect(without).toEqual([])
})

// Databases of a real PostgreSQL whose advisory locks are of no use: in one a role may not call them, in the other they answer as CockroachDB
// does, yes to everybody, and lock nothing.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createPlace, type EngineName, type Place } from './store.ts'

export const USELESS_LOCKS = ['denied', 'void'] as const
export type UselessLocks = (typeof USELESS_LOCKS)[number]

const FUNCTIONS = `SELECT oid::regprocedure::text AS name FROM pg_proc
  WHERE pronamespace = 'pg_catalog'::regnamespace AND proname LIKE 'pg\\_%advisory%'`

const VOID = [
  ['pg_advisory_lock', 'void', 'SELECT'],
  ['pg_advisory_xact_lock', 'void', 'SELECT'],
  ['pg_try_advisory_lock', 'boolean', 'SELECT TRUE'],
  ['pg_try_advisory_xact_lock', 'boolean', 'SELECT TRUE'],
  ['pg_advisory_unlock', 'boolean', 'SELECT TRUE'],
]

/** Runs statements as a superuser. @param url of the database */
export async function asSuperuser(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Makes the advisory locks of a database useless for the role that it returns.
 * @param url a superuser's, of a database of its own
 * @returns the URL for the gateway: of a role that owns the database and is no superuser
 */
export async function withUselessLocks(url: string, how: UselessLocks): Promise<string> {
  const { database, owner } = await withOwner(url)
  await asSuperuser(url, async (client) => {
    if (how === 'denied') return deny(client)
    for (const [name, answer, body] of VOID)
      await client.query(
        `CREATE FUNCTION public.${name}(int, int) RETURNS ${answer} LANGUAGE sql AS '${body}'`,
      )
    // The schema of the server comes first unless it is named.
    await client.query(`ALTER DATABASE ${database} SET search_path = public, pg_catalog`)
  })
  return owner
}

/** Nobody but a superuser may call the functions of this database. */
export async function deny(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(FUNCTIONS)
  for (const { name } of rows) await client.query(`REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`)
}

/** Everybody may again. */
export async function allow(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(FUNCTIONS)
  for (const { name } of rows) await client.query(`GRANT EXECUTE ON FUNCTION ${name} TO PUBLIC`)
}

/** Gives a database to a role of its own. */
export async function withOwner(url: string): Promise<{ database: string; owner: string }> {
  const place = new URL(url)
  const database = place.pathname.slice(1)
  place.username = `gateway_${randomUUID().slice(0, 8)}`
  place.password = randomUUID()
  await asSuperuser(url, async (client) => {
    await client.query(`CREATE ROLE ${place.username} LOGIN PASSWORD '${place.password}'`)
    await client.query(`ALTER DATABASE ${database} OWNER TO ${place.username}`)
  })
  return { database, owner: place.href }
}

/** Databases that several processes share, by their locks. Once a start has found out, both that are of no use are one. */
export const SHARED_PLACES = [
  ['postgres', 'of use'],
  ['postgres', 'void'],
] as const satisfies readonly (readonly [EngineName, string])[]
/** And the engine that one process has for itself. */
export const PLACES = [['sqlite', 'its own'], ...SHARED_PLACES] as const

type Locks = (typeof PLACES)[number][1]
/** A place as a line of `PLACES` names it. */
export function createPlaceWith([engine, locks]: readonly [EngineName, Locks], name: string): Promise<Place> {
  const how = USELESS_LOCKS.find((useless) => useless === locks)
  return createPlace(engine, name, how && ((url) => withUselessLocks(url, how)))
}

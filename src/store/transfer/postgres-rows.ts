// Rows of one PostgreSQL connection as lines, for the source and the sink. COPY streams them past the memory of both sides; pg has no COPY, and
// pg-copy-streams, by the same hands, adds it.
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import type { Row } from '../command.ts'
import { connectionConfig, type DatabaseAddress } from '../postgres/pool.ts'
import { toFailure } from '../failure.ts'
import { TransferFault } from './ports.ts'
import { wholeLines } from './row-text.ts'
import { CARRIED_TABLES, carriedColumns } from './tables.ts'

/** A connection of one session, whose statements take as long as they take. @throws {TransferFault} */
export async function connectForTransfer({ url, directUrl }: DatabaseAddress): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionConfig(directUrl ?? url),
    application_name: 'agent-gateway transfer',
    query_timeout: 0,
  })
  // A connection that breaks is reported by the statement that it breaks.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (thrown) {
    throw ofServer(thrown)
  }
}

/** What every transfer sets in its transaction: no limit of a role or of the gateway cuts it off. */
export const WITHOUT_LIMITS = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL lock_timeout = 0; SET LOCAL bytea_output = 'hex'`

/** Columns of the carried tables, as the connection's schema has them now. */
export async function readColumns(client: pg.Client): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `SELECT table_name AS "table", array_agg(column_name::text) AS columns FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = ANY ($1) GROUP BY table_name`,
    [[...CARRIED_TABLES]],
  )
  return new Map(rows.map(({ table, columns }) => [table, carriedColumns(table, columns)]))
}

/** Version of the tables; 0 where there are none. */
export async function readVersion(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS there`,
  )
  if (!rows[0]?.there) return 0
  const found = await client.query<{ version: number | null }>(
    'SELECT max(version) AS version FROM migrations',
  )
  return found.rows[0]?.version ?? 0
}

export async function readSize(client: pg.Client): Promise<{ rows: number; bytes: number }> {
  const { rows } = await client.query<{ rows: number; bytes: number }>(
    `SELECT COALESCE(sum(greatest(reltuples, 0)), 0)::bigint AS rows,
            COALESCE(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes
     FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname = ANY ($1)`,
    [[...CARRIED_TABLES]],
  )
  return rows[0] ?? { rows: 0, bytes: 0 }
}

export async function* copyOut(
  client: pg.Client,
  table: string,
  columns: readonly string[],
): AsyncGenerator<Buffer> {
  const stream = client.query(copyTo(`COPY (SELECT ${columns.join(', ')} FROM ${table}) TO STDOUT`))
  try {
    yield* wholeLines(stream as AsyncIterable<Buffer>)
  } catch (thrown) {
    throw ofServer(thrown, table)
  }
}

export async function copyIn(
  client: pg.Client,
  table: string,
  columns: readonly string[],
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  const stream = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`))
  // What fails where the rows come from is no fault of the server.
  let ofRows: { readonly thrown: unknown } | undefined
  async function* watched() {
    try {
      yield* pieces
    } catch (thrown) {
      ofRows = { thrown }
      throw thrown
    }
  }
  try {
    await pipeline(Readable.from(watched()), stream)
  } catch (thrown) {
    throw ofRows ? ofRows.thrown : ofServer(thrown, table)
  }
}

export const queryRows = async <R extends Row>(client: pg.Client, text: string): Promise<readonly R[]> => {
  try {
    return (await client.query<R>(text)).rows
  } catch (thrown) {
    throw ofServer(thrown)
  }
}

/** In words, without what a driver says: it may quote rows, hosts and passwords. */
export function ofServer(thrown: unknown, table?: string): unknown {
  if (thrown instanceof TransferFault) return thrown
  const { reason = 'unknown' } = toFailure(thrown)
  const where = table === undefined ? '' : ` at table ${table}`
  const words: Readonly<Record<string, string>> = {
    'postgres 53100': `The database server has no space left${where}. Make room there, then run this again; nothing was kept.`,
    'postgres 22021': `A text of ${table ?? 'a table'} holds the character U+0000, which PostgreSQL cannot keep. Nothing was kept.`,
    'postgres 42501': `The role in GATEWAY_DATABASE_URL may not do this${where} (permission denied). It has to own the tables of the gateway, and may make tables in an empty database.`,
    'postgres 28P01': 'The database refuses user and password of GATEWAY_DATABASE_URL.',
    'postgres 3D000':
      'The database that GATEWAY_DATABASE_URL names does not exist. Make it first (CREATE DATABASE).',
  }
  const isOfRows = /^postgres 2[23]/.test(reason)
  return new TransferFault(
    words[reason] ??
      (isOfRows
        ? `A row of ${table ?? 'a table'} does not fit its table (${reason}): the file is not what the gateway wrote, or is of a release that this one does not know.`
        : `The database cannot be used${where} (${reason}). Check that the server runs and that GATEWAY_DATABASE_URL is right; nothing was kept.`),
    { cause: thrown },
  )
}

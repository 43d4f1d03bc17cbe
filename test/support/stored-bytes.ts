// Everything that a gateway under test has stored, as bytes to search: its files with their write-ahead logs, and its tables.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { World } from './gateway.ts'

/** Reads while the gateway runs: what is in a write-ahead log counts as stored. */
export async function storedBytes({ dataDir, env }: Pick<World, 'dataDir' | 'env'>): Promise<Buffer> {
  const files = await readAll(dataDir)
  const url = env['GATEWAY_DATABASE_URL']
  return url === undefined ? files : Buffer.concat([files, await dumpTables(url)])
}

async function readAll(directory: string): Promise<Buffer> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true })
  const contents = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name)))
  return Buffer.concat(await Promise.all(contents))
}

async function dumpTables(url: string): Promise<Buffer> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    )
    const rows: string[] = []
    for (const { name } of tables.rows)
      rows.push(
        ...(await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)).rows.map(
          ({ row }) => row,
        ),
      )
    return Buffer.from(rows.join('\n'))
  } finally {
    await client.end()
  }
}

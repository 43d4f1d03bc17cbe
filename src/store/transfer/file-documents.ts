// Documents beside a SQLite database as rows, so that they travel like those that PostgreSQL keeps in a table.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeValue } from './row-text.ts'

export const DOCUMENT_COLUMNS = ['json', 'name'] as const

/** Files of one process, or of one directory, which say nothing elsewhere. */
const NOTES = new Set(['gateway', 'moved'])
/** A name from a stranger's file must lead nowhere else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

export const isDocumentName = (name: string): boolean => NAME.test(name) && !NOTES.has(name)

/** Names of the documents in the data directory, without their ending. */
export async function listDocumentFiles(dataDir: string): Promise<readonly string[]> {
  const names = await readdir(dataDir)
  return names
    .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
    .filter(isDocumentName)
    .toSorted()
}

/** Each document as a line. */
export async function* readDocumentRows(dataDir: string): AsyncGenerator<Buffer> {
  for (const name of await listDocumentFiles(dataDir)) {
    const text = await readFile(join(dataDir, `${name}.json`), 'utf8')
    yield documentLine(name, text)
  }
}

export const documentLine = (name: string, json: string): Buffer =>
  Buffer.from(`${encodeValue(json)}\t${encodeValue(name)}\n`)

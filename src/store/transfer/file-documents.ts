// Documents beside a SQLite database as rows, so that they travel like those that PostgreSQL keeps in a table.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DOCUMENT_NAMES, type DocumentName } from '../documents/names.ts'
import { encodeValue } from './row-text.ts'

export const DOCUMENT_COLUMNS = ['json', 'name'] as const

/** Files of one process, or of one directory, which say nothing elsewhere. */
const NOTES = new Set(['gateway', 'moved'])
/** A name from a stranger's file must lead nowhere else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** Whether a file of a document may have this name. */
export const isFileName = (name: string): boolean => NAME.test(name) && !NOTES.has(name)

const KNOWN: ReadonlySet<string> = new Set(DOCUMENT_NAMES)
/** Backups of releases before hold every file that ended in .json. */
export const isKnownDocument = (name: string): boolean => KNOWN.has(name)

/** Names of the documents in the data directory, without their ending. Other files may be there, and are not ours. */
export async function listDocumentFiles(dataDir: string): Promise<readonly DocumentName[]> {
  const found = new Set(await readdir(dataDir))
  return DOCUMENT_NAMES.filter((name) => found.has(`${name}.json`))
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

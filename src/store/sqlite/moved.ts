// A data directory whose database went on elsewhere says so: two gateways on the two copies would both take payments, and each would count its own.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../../core/errors.ts'

const Moved = z.strictObject({
  /** `begun`: it is not known whether it ended. */
  state: z.enum(['begun', 'moved']),
  /** Names this move in the database that the data went to. */
  move_id: z.string(),
  /** Host, port and name of that database; no password. */
  to: z.string(),
  at: z.string(),
})
export type Moved = z.infer<typeof Moved>

export const movedFile = (dataDir: string) => join(dataDir, 'moved.json')

/** @throws {ConfigError} where the note cannot be read */
export function readMoved(dataDir: string): Moved | undefined {
  const file = movedFile(dataDir)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw thrown
  }
  try {
    return Moved.parse(JSON.parse(text))
  } catch {
    throw new ConfigError([
      `GATEWAY_DATA_DIR: ${file} says that this data was moved to another database, and cannot be read. See where the data is; only if it is here, ` +
        'remove the file',
    ])
  }
}

/** @throws {ConfigError} where the data of this directory is, or may be, elsewhere */
export function refuseMoved(dataDir: string): void {
  const moved = readMoved(dataDir)
  if (!moved) return
  throw new ConfigError([
    moved.state === 'moved'
      ? `GATEWAY_DATA_DIR: the data of ${dataDir} was moved to PostgreSQL (${moved.to}) on ${moved.at}. Set GATEWAY_DATABASE_URL to that database. To go back ` +
        'to this copy, without what has happened since: `agent-gateway migrate --back`'
      : `GATEWAY_DATA_DIR: moving the data of ${dataDir} to PostgreSQL (${moved.to}) was begun on ${moved.at} and did not end. Run \`agent-gateway migrate\` ` +
        'again, or `agent-gateway migrate --back` to stay with this copy',
  ])
}

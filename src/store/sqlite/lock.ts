// One process owns a data directory. The lock is the kernel's (through SQLite), so it ends with the process, however
// that ends; there is no stale lock file to remove.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ConfigError } from '../../core/errors.ts'
import { isHeldByAnother } from './open-failure.ts'
import { createPrivate } from './private-files.ts'

export class DirectoryInUse extends ConfigError {
  override readonly name = 'DirectoryInUse'
}

/**
 * @throws {DirectoryInUse} when another process owns the directory
 * @throws {ConfigError} when its lock file cannot be made, or is no lock file
 */
export function lockDirectory(dataDir: string): { release(): void } {
  const file = join(dataDir, 'lock.db')
  let db: DatabaseSync | undefined
  const refusal = createPrivate(file)
  try {
    db = new DatabaseSync(file, { timeout: 0 })
    db.exec('BEGIN EXCLUSIVE')
  } catch (thrown) {
    db?.close()
    if (refusal !== undefined)
      throw new ConfigError([
        `GATEWAY_DATA_DIR: this user may not write in ${dataDir} (${refusal}). Give the directory to the user that runs the gateway, or set ` +
          'another one',
      ])
    if (!isHeldByAnother(thrown))
      throw new ConfigError([
        `GATEWAY_DATA_DIR: ${file} cannot be used as the lock of the directory. Nothing is kept in it: remove it while no gateway ` +
          'runs there, and see that this user may write the directory',
      ])
    throw new DirectoryInUse([
      `GATEWAY_DATA_DIR: ${dataDir} is in use by another gateway process. Stop that one, or give this one a directory ` +
        'of its own; several replicas share a PostgreSQL database (GATEWAY_DATABASE_URL).',
    ])
  }
  const held = db
  return { release: () => held.close() }
}

// One process owns a data directory. The lock is the kernel's (through SQLite), so it ends with the process, however
// that ends; there is no stale lock file to remove.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ConfigError } from '../../core/errors.ts'

/** @throws {ConfigError} when another process owns the directory */
export function lockDirectory(dataDir: string): { release(): void } {
  const db = new DatabaseSync(join(dataDir, 'lock.db'), { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch {
    db.close()
    throw new ConfigError([
      `GATEWAY_DATA_DIR: ${dataDir} is in use by another gateway process. Stop that one, or give this one a directory ` +
        'of its own; several replicas share a PostgreSQL database (GATEWAY_DATABASE_URL).',
    ])
  }
  return { release: () => db.close() }
}

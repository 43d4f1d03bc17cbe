import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import { openFileDocuments } from './documents/files.ts'
import type { DocumentStore, Store } from './ports.ts'
import { openSqliteStore } from './sqlite/store.ts'

/**
 * SQLite in the data directory, or PostgreSQL when GATEWAY_DATABASE_URL is set. Migrated and ready.
 * @throws {ConfigError} when another process owns the data directory
 * @throws {GatewayError} store_unavailable
 */
export async function openStore(parts: { config: Config; log: Logger; bootId: string }): Promise<Store> {
  const { config, log } = parts
  return openSqliteStore({ dataDir: config.dataDir, log })
}

export async function openDocumentStore(parts: { config: Config; log: Logger }): Promise<DocumentStore> {
  const { config } = parts
  return openFileDocuments(config.dataDir)
}

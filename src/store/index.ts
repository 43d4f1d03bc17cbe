// Choice of the engine: PostgreSQL when GATEWAY_DATABASE_URL is set, else SQLite and files in the data directory.
import type { Logger } from '../lib/log.ts'
import { openFileDocuments } from './documents/files.ts'
import type { DocumentStore, Store } from './ports.ts'
import { openSqliteStore } from './sqlite/store.ts'

/** Engine and its place: PostgreSQL at `databaseUrl`, else SQLite in `dataDir`. */
export interface StoreConfig {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  /** Past the pooler that `databaseUrl` leads through, where it does. */
  readonly databaseDirectUrl?: string | undefined
}

/**
 * @returns a store that is migrated and ready
 * @throws {ConfigError} when another process owns the data directory
 * @throws {GatewayError} store_unavailable when the database server cannot be reached
 */
export async function openStore(parts: {
  config: StoreConfig
  log: Logger
  bootId: string
  /** Told when pieces of tables could not be added ahead of their time. */
  onPartitionsMissing?: () => void
}): Promise<Store> {
  const { config, log, bootId, onPartitionsMissing } = parts
  if (config.databaseUrl === undefined) return openSqliteStore({ dataDir: config.dataDir, log })
  // Loaded on demand: an embedded gateway starts without the driver.
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore({
    address: { url: config.databaseUrl, directUrl: config.databaseDirectUrl },
    bootId,
    log,
    onPartitionsMissing,
  })
}

/** Opens the documents beside the store, which must be open: it makes the tables. */
export async function openDocumentStore(parts: { config: StoreConfig; log: Logger }): Promise<DocumentStore> {
  const { config, log } = parts
  if (config.databaseUrl === undefined) return openFileDocuments(config.dataDir)
  const { openTableDocuments } = await import('./documents/table.ts')
  return openTableDocuments({ url: config.databaseUrl, directUrl: config.databaseDirectUrl }, log)
}

import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import type { DocumentStore, Store } from './ports.ts'

/** SQLite in the data directory, or PostgreSQL when GATEWAY_DATABASE_URL is set. Migrated and ready. */
export async function openStore(_parts: { config: Config; log: Logger; bootId: string }): Promise<Store> {
  throw new Error('being written')
}

export async function openDocumentStore(_parts: { config: Config; log: Logger }): Promise<DocumentStore> {
  throw new Error('being written')
}

// The store: SQLite in the data directory, or PostgreSQL. Looked at read-only; nothing is migrated or repaired here.
import { type Check } from './finding.ts'

export const checkDatabase: Check = async () => []

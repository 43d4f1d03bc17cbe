// The embedded store in a directory of its own, for tests of the services above it.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '../../src/lib/log.ts'
import type { Store } from '../../src/store/ports.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { removeFolder } from './remove-folder.ts'

export interface TempStore {
  readonly store: Store
  readonly directory: string
  close(): Promise<void>
}

export async function openTempStore(): Promise<TempStore> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-gateway-store-'))
  const store = await openSqliteStore({ dataDir: directory, log: createLogger('silent') })
  return {
    store,
    directory,
    async close() {
      await store.close()
      await removeFolder(directory)
    },
  }
}

// A SQLite store on the thread of the test, whose commands can be driven one by one: to look at a single transaction,
// or at the statements of one.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { audited } from '../../src/store/audited.ts'
import type { Command } from '../../src/store/command.ts'
import { storeOf } from '../../src/store/engine-store.ts'
import { sqliteDialect } from '../../src/store/dialects.ts'
import { migrate } from '../../src/store/migrations.ts'
import type { Store } from '../../src/store/ports.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { NOW } from './store.ts'
import { referenceCommands } from './reference-commands.ts'
import { removeFolder } from './remove-folder.ts'

export interface DirectStore {
  readonly store: Store
  readonly drive: <T>(command: Command<T>) => T
  /** Texts of the statements that a command runs. */
  readonly record: (command: Command<unknown>) => readonly string[]
  readonly remove: () => Promise<void>
}

export async function openDirectStore(): Promise<DirectStore> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-direct-'))
  const db = openDatabase(join(folder, 'gateway.db'))
  // Nobody waits for a disk: what is looked at here is not durability.
  db.exec('PRAGMA synchronous = OFF')
  db.drive(migrate(sqliteDialect, NOW))
  type Start = (...args: unknown[]) => Command<unknown>
  return {
    store: storeOf({
      engine: 'sqlite',
      run: async (name, args) => db.drive(audited(name, referenceCommands[name] as Start)(...args)),
      health: async () => ({ ok: true, latencyMs: 0, detail: 'direct' }),
      close: async () => {},
    }),
    drive: db.drive,
    record(command) {
      const texts: string[] = []
      function* recorded(): Command<unknown> {
        let step = command.next()
        while (!step.done) {
          texts.push(step.value.text)
          step = command.next(yield step.value)
        }
        return step.value
      }
      db.drive(recorded())
      return texts
    },
    async remove() {
      db.close()
      await removeFolder(folder)
    },
  }
}

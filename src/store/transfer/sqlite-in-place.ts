// A copy in a data directory that is about to be the data of a gateway again: it is changed in one transaction, at the tables of this release.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault } from '../../lib/fault-points.ts'
import type { Command } from '../command.ts'
import { sqliteDialect } from '../dialects.ts'
import { migrate } from '../migrations.ts'
import { openDatabase } from '../sqlite/database.ts'
import { explainOpenFailure } from '../sqlite/open-failure.ts'
import { TransferFault } from './ports.ts'

/** Runs the command; all of it is on disk afterwards, or nothing is. @throws {TransferFault} where there is no database, or it cannot be written */
export async function changeInPlace<T>(
  dataDir: string,
  options: { readonly now: number; readonly fault: Fault },
  command: () => Command<T>,
): Promise<T> {
  const file = join(dataDir, 'gateway.db')
  // SQLite would make an empty one.
  if (!statSync(file, { throwIfNoEntry: false })?.size)
    throw new TransferFault(
      `There is no copy in ${dataDir} any more. Make a backup where the data is, and restore it into an empty data directory.`,
    )
  try {
    const db = openDatabase(file)
    try {
      db.begin()
      // What is removed from the rows is gone from the file as well.
      const result = db.overwriting(() => {
        db.drive(migrate(sqliteDialect, options.now))
        return db.drive(command())
      })
      await options.fault.at('after_rows_loaded')
      db.commit()
      db.emptyLog()
      return result
    } finally {
      db.rollback()
      db.close()
    }
  } catch (thrown) {
    const why = explainOpenFailure(file, thrown)
    throw why === undefined ? thrown : new TransferFault(`${why}. Nothing was changed.`, { cause: thrown })
  }
}

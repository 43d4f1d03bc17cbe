// Why the files of the database could not be opened, for whoever starts the gateway: which file it is, and what to do.
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, GatewayError } from '../../core/errors.ts'

const CORRUPT = 11
const NOT_A_DATABASE = 26
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
export const IO = 10
export const FULL = 13
const CANNOT_OPEN = 14

/** The low byte of SQLite's extended code; undefined for what is no failure of SQLite. */
export function primaryCode(thrown: unknown): number | undefined {
  const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined
  return typeof code === 'number' ? code & 255 : undefined
}

export const isHeldByAnother = (thrown: unknown): boolean => [BUSY, LOCKED].includes(primaryCode(thrown) ?? 0)

export const damaged = (file: string): string =>
  `${file} is damaged, or is no database of this gateway. Restore the data directory from a backup, or set GATEWAY_DATA_DIR to ` +
  'another one; `agent-gateway doctor` looks at all of it'

/**
 * SQLite takes an empty file for a new database. The mode of an installation is noted once its database is there, so that one which
 * is empty beside it was emptied.
 * @throws {ConfigError}
 */
export function refuseEmptied(dataDir: string, file: string): void {
  const isEmpty = statSync(file, { throwIfNoEntry: false })?.size === 0
  if (isEmpty && existsSync(join(dataDir, 'installation.json')))
    throw new ConfigError([`GATEWAY_DATA_DIR: ${damaged(file)}`])
}

/** A database that is being filled has this name, and gets its own when all of it is there. */
export const UNFINISHED_FILE = 'gateway.db.restoring'

/** A gateway that started now would begin an installation of its own. @throws {ConfigError} */
export function refuseUnfinished(dataDir: string): void {
  const file = join(dataDir, UNFINISHED_FILE)
  if (existsSync(file))
    throw new ConfigError([
      `GATEWAY_DATA_DIR: a restore into ${dataDir} was begun and did not end. Run \`agent-gateway restore\` again: it begins anew. To begin ` +
        `without that data instead, remove ${file}`,
    ])
}

/** The words of SQLite stay behind: they may quote rows. @returns undefined for what nobody foresaw */
export function explainOpenFailure(file: string, thrown: unknown): string | undefined {
  // A newer release has been here.
  if (thrown instanceof GatewayError) return `${file}: ${thrown.message}`
  switch (primaryCode(thrown)) {
    case undefined:
      return undefined
    case BUSY:
    case LOCKED:
      return `${file} is held by another program, such as a backup. Wait until that is done, then start again`
    case READ_ONLY:
    case CANNOT_OPEN:
      return `${file} cannot be opened for writing by this user. Give it to the user that runs the gateway, or set GATEWAY_DATA_DIR`
    case FULL:
      return `There is no space left for ${file}. Free some, or move the data directory to another disk`
    case IO:
      return `${file} cannot be read or written: its disk or file system fails. Look at the system's log`
    case CORRUPT:
    case NOT_A_DATABASE:
    default:
      return damaged(file)
  }
}

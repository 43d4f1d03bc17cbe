// The store: SQLite in the data directory, or PostgreSQL. Only looked at; nothing is migrated or repaired here.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../core/config.ts'
import { ConfigError } from '../../core/errors.ts'
import { isServiceKid } from '../../egress/authority/spec.ts'
import { shellQuote } from '../../lib/shell-quote.ts'
import { TABLE_VERSION } from '../../store/migrations.ts'
import { IS_UNFINISHED, UNFINISHED } from '../../store/postgres/unfinished.ts'
import { runAside } from '../../store/sqlite/aside.ts'
import { DirectoryInUse, lockDirectory } from '../../store/sqlite/lock.ts'
import { findUndecided, type FoundTerms, termsIn, termsOf } from '../../store/table-version.ts'
import { isUsable } from '../../store/table-terms.ts'
import type { Running } from '../running.ts'
import { keyIdsIn } from './files.ts'
import { type Check, errorCode, fail, type Finding, ok, warn } from './finding.ts'
import { checkLocks } from './locks.ts'

const CONNECT_TIMEOUT_MS = 5000
const TOLERATED_SKEW_MS = 2000
/** A whole check reads every page: beyond this size it would keep the operator waiting. */
const CHECKED_BYTES = 512 * 1024 * 1024

/** Looks at SQLite's file or PostgreSQL: whether it opens, at which version, and whether it holds this authority's key. */
export const checkDatabase: Check = (examined) =>
  examined.config.databaseUrl === undefined
    ? checkSqlite(examined)
    : checkPostgres(examined.config.databaseUrl, examined.config)

const DECIDE = 'The gateway does not start until this is decided.'

const checkSqlite: Check = async ({ config: { dataDir, authorityKeyFile }, running }) => {
  const file = join(dataDir, 'gateway.db')
  const undecided = findUndecided(dataDir)
  if (undecided !== undefined) return [fail('database', undecided, DECIDE)]
  if (!existsSync(file))
    return [warn('database', `${file} does not exist yet`, 'It is made at the first start.')]
  return [...(await readDatabase(file, authorityKeyFile)), checkOwner(dataDir, running)]
}

async function readDatabase(file: string, authorityKeyFile: string): Promise<readonly Finding[]> {
  const { DatabaseSync } = await import('node:sqlite')
  const restore = 'Stop the gateway and restore the data directory from a backup.'
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: CONNECT_TIMEOUT_MS })
    try {
      const { size } = await stat(file)
      if (size <= CHECKED_BYTES && (await runAside({ task: 'check', file })) !== 'ok')
        return [fail('database', `${file} is damaged`, restore)]
      const sealing = db.prepare(SEALING_KEYS).all() as { kid: string }[]
      return [
        judgeVersion(termsIn(db), `${file}, ${Math.ceil(size / 1024 / 1024)} MiB`),
        ...(await judgeSealing(sealing, authorityKeyFile)),
      ]
    } finally {
      db.close()
    }
  } catch {
    return [fail('database', `${file} cannot be read as a database of this gateway`, restore)]
  }
}

function judgeVersion({ reached: found, usableFrom }: FoundTerms, place: string): Finding {
  if (found > TABLE_VERSION && isUsable(usableFrom))
    return warn(
      'database',
      `${place}: table version ${found}, of a newer release, which this one can use`,
      'Back up, restore and migrate with the newer one.',
    )
  if (found > TABLE_VERSION)
    return fail(
      'database',
      `${place}: table version ${found}, this release knows ${TABLE_VERSION}`,
      'A newer release has been here: run that one.',
    )
  if (found < TABLE_VERSION)
    return warn(
      'database',
      `${place}: table version ${found}`,
      `The next start brings it to ${TABLE_VERSION}.`,
    )
  return ok('database', place)
}

/** The lock itself is tried: it is the kernel's, so it tells the truth whatever files say. */
function checkOwner(dataDir: string, running: Running | undefined): Finding {
  const check = 'data directory owner'
  // Whoever holds the lock and asks itself does not try it.
  if (running?.pid === process.pid) return ok(check, 'the running gateway')
  if (!existsSync(join(dataDir, 'lock.db'))) return ok(check, 'nobody')
  try {
    lockDirectory(dataDir).release()
    return ok(check, 'nobody')
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    if (!(thrown instanceof DirectoryInUse))
      return fail(check, thrown.problems.join('; '), 'The gateway does not start until this is mended.')
    return running !== undefined
      ? ok(check, 'the running gateway')
      : warn(
          check,
          'a process that is starting, stopping or stuck',
          `Wait a moment and look again; \`fuser ${shellQuote(join(dataDir, 'lock.db'))}\` names the process.`,
        )
  }
}

const SEALING_KEYS = `SELECT DISTINCT wrap_kid AS kid FROM credentials WHERE wrap_kid <> ''`

/** Credentials and key file are backed up apart, and only together are they worth anything. */
async function judgeSealing(
  sealing: readonly { kid: string }[],
  authorityKeyFile: string,
): Promise<readonly Finding[]> {
  const held = await keyIdsIn(authorityKeyFile)
  const missing = sealing.filter(({ kid }) => !isServiceKid(kid) && !held.includes(kid)).map(({ kid }) => kid)
  return missing.length === 0
    ? []
    : [
        fail(
          'authority key',
          `stored credentials are sealed to ${missing.join(', ')}, which ${authorityKeyFile} does not hold`,
          'Restore that key from a backup; replicas share one key file. Without it those secrets cannot be opened.',
        ),
      ]
}

async function checkPostgres(
  url: string,
  { databaseDirectUrl, authorityKeyFile }: Pick<Config, 'databaseDirectUrl' | 'authorityKeyFile'>,
): Promise<readonly Finding[]> {
  const { Client } = (await import('pg')).default
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  })
  // A connection that breaks later is reported by the query it breaks.
  client.on('error', () => {})
  const todo =
    'Check that PostgreSQL runs, that host, port, user and database in GATEWAY_DATABASE_URL are right and that it may be reached.'
  try {
    await client.connect()
    const asked = Date.now()
    const { rows } = await client.query(
      `SELECT current_setting('server_version') AS version, extract(epoch FROM clock_timestamp()) * 1000 AS now,
              to_regclass('migrations') IS NOT NULL AS migrated, ${IS_UNFINISHED} AS unfinished`,
    )
    const answered = Date.now()
    const { version, now, migrated, unfinished } = rows[0] as {
      version: string
      now: string
      migrated: boolean
      unfinished: boolean
    }
    if (unfinished) return [fail('database', UNFINISHED, DECIDE)]
    const terms = migrated ? await termsOf(client) : { reached: 0, usableFrom: undefined }
    const sealing = terms.reached > 0 ? (await client.query<{ kid: string }>(SEALING_KEYS)).rows : []
    return [
      judgeVersion(terms, `PostgreSQL ${version}`),
      judgeSkew(Number(now) - (asked + answered) / 2),
      await checkLocks(databaseDirectUrl ?? url),
      ...(await judgeSealing(sealing, authorityKeyFile)),
    ]
  } catch (thrown) {
    return [fail('database', `PostgreSQL does not answer (${errorCode(thrown) ?? 'timeout'})`, todo)]
  } finally {
    await client.end().catch(() => {})
  }
}

function judgeSkew(skewMs: number): Finding {
  const says = `${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? 'ahead of' : 'behind'} the database`
  return Math.abs(skewMs) <= TOLERATED_SKEW_MS
    ? ok('clock skew', says)
    : warn('clock skew', says, 'Set both clocks (NTP): replicas judge expiry by their own.')
}

// Connections to PostgreSQL, and how a command runs on one: statements prepared by name, a transaction around what
// needs one, and a repeat only where the server has said that nothing happened.
import { hash } from 'node:crypto'
import pg from 'pg'
import { GatewayError } from '../../core/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { type Command, first, type Row, type Statement, Undo } from '../command.ts'
import { toFailure, toStoreError } from '../failure.ts'
import { BEGIN, type Patience, SHORT_WAIT_MS, STATEMENT_TIMEOUT_MS } from './patience.ts'

/** Measured: on the cores of one gateway more connections are slower, not faster. */
const POOL_SIZE = 14
/** Beside those: who asks whether a key still holds, or whether the database takes writes, waits for nobody who waits for a lock. */
const LOOKING_SIZE = 2
const CONNECT_TIMEOUT_MS = 5000
const IDLE_IN_TRANSACTION_MS = 30_000
/** After which a connection that says nothing is given up, though nobody has closed it: the server has ended every statement by then. */
const SILENCE_MS = STATEMENT_TIMEOUT_MS + 2000
const MAX_TRIES = 8
/** After which a connection is replaced: whatever a name led to once, it leads elsewhere some day. */
const LIFETIME_S = 15 * 60
/** A connection that is younger is not given up for what the server is: one that stays read-only would be dialled for each call. */
const YOUNG_MS = 1000

/** Where the database is. */
export interface DatabaseAddress {
  readonly url: string
  /** Given where `url` leads through a pooler, which lends a session to whoever asks next: the way past it. */
  readonly directUrl?: string | undefined
}

/** Settings that every connection of the gateway has in common. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'agent-gateway',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: SILENCE_MS,
    keepAlive: true,
    types: { getTypeParser },
  }
}
/**
 * A pooler refuses a session that wants settings of its own: its operator sets them for the role. A statement alone looks again after a lock
 * that it waited for, where a database with another default would have it fail.
 */
const SESSION = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  options: '-c default_transaction_isolation=read\\ committed',
}

/** What pools of one address know of it together. */
class Address {
  /** Statements are prepared by name until a pooler turns out to mix up sessions. */
  canName = true
  /** Connections that were opened before this are not used again. */
  distrustedUntil = -Infinity
}

/** Connections for commands. */
export class Pool extends pg.Pool {
  readonly #openedAt = new WeakMap<pg.PoolClient, number>()
  readonly #address: Address

  constructor(config: pg.PoolConfig, beside?: Pool) {
    super(config)
    this.#address = beside ? beside.#address : new Address()
    this.on('connect', (client) => this.#openedAt.set(client, performance.now()))
  }

  get canName(): boolean {
    return this.#address.canName
  }
  set canName(can: boolean) {
    this.#address.canName = can
  }
  /** Where its address leads there may be another server by now: no connection of before is used again, nor one of a pool beside. */
  distrust(): void {
    this.#address.distrustedUntil = performance.now() - YOUNG_MS
  }
  isDistrusted(client: pg.PoolClient): boolean {
    return (this.#openedAt.get(client) ?? Infinity) < this.#address.distrustedUntil
  }
}

/**
 * @param size connections at most; a lost one is replaced and logged
 * @param waitMs how long a command waits for one
 * @param settings of each session, where no pooler is in between
 * @param beside of the same address: what one learns of it, both know
 */
export function createPool(
  address: DatabaseAddress,
  log: Logger,
  size: number = POOL_SIZE,
  waitMs: number = CONNECT_TIMEOUT_MS,
  settings: Pick<pg.ClientConfig, 'lock_timeout'> = {},
  beside?: Pool,
): Pool {
  const session = address.directUrl === undefined ? { ...SESSION, ...settings } : {}
  const config = {
    ...connectionConfig(address.url),
    ...session,
    connectionTimeoutMillis: waitMs,
    max: size,
    maxLifetimeSeconds: LIFETIME_S,
  }
  const pool = new Pool(config, beside)
  // An idle connection that breaks is only replaced; without a listener it would end the process.
  pool.on('error', (thrown) => log.warn({ err: thrown }, 'a database connection was lost'))
  return pool
}

/** Of commands, whose statements do not wait long for a lock; behind a pooler those that stand alone do all the same (`isImpatient`). */
export const createCommandPool = (address: DatabaseAddress, log: Logger, waitMs?: number): Pool =>
  createPool(address, log, POOL_SIZE, waitMs, { lock_timeout: SHORT_WAIT_MS })

/** Whether a statement that says nothing of it gives up a lock soon: a pooler refuses a session that wants that. */
export const isImpatient = ({ directUrl }: DatabaseAddress): boolean => directUrl === undefined

/** A few connections beside a pool, for what is asked by every call and may not wait for the others. */
export const createLookingPool = (
  address: DatabaseAddress,
  log: Logger,
  beside: Pool,
  waitMs?: number,
): Pool => createPool(address, log, LOOKING_SIZE, waitMs, {}, beside)

const INT8_OID = 20
/** Every int8 of ours is a count, a version or a time: checked to be exact as a number. */
function getTypeParser(oid: number, format?: unknown): (text: string) => unknown {
  if (oid !== INT8_OID) return pg.types.getTypeParser(oid, format as 'text')
  return (text) => {
    const value = Number(text)
    if (!Number.isSafeInteger(value)) throw new RangeError('an int8 is larger than a number holds exactly')
    return value
  }
}

type Queryable = Pick<pg.ClientBase, 'query'>

const names = new Map<string, string>()
/** The same for the same text in every process: where a pooler lends a session on, a name there means what it means here. */
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `gw_${hash('sha256', text, 'base64url').slice(0, 22)}`
    names.set(text, name)
  }
  return name
}

async function runStatement(
  client: Queryable,
  { text, values, once }: Statement,
  canName: boolean,
): Promise<readonly Row[]> {
  const query = { text, values: values as unknown[] }
  const result = await client.query<Row>(once || !canName ? query : { ...query, name: nameOf(text) })
  return result.rows
}

async function drive<T>(client: Queryable, command: Command<T>, { canName }: Pool): Promise<T> {
  let step = command.next()
  while (!step.done) step = command.next(await runStatement(client, step.value, canName))
  return step.value
}

/** One statement, or reads that need not agree with each other: no transaction around it. */
export async function runDirect<T>(pool: Pool, start: () => Command<T>): Promise<T> {
  return repeat(pool, () => onConnection(pool, (client) => drive(client, start(), pool)))
}

/** All or nothing; answers when COMMIT has returned. */
export async function runTransaction<T>(
  pool: Pool,
  start: () => Command<T>,
  patience: Patience = 'long',
): Promise<T> {
  const run = async (client: pg.PoolClient) => {
    await client.query(BEGIN[patience])
    try {
      const value = await drive(client, start(), pool)
      await client.query('COMMIT')
      return value
    } catch (thrown) {
      if (!isOfConnection(thrown)) await client.query('ROLLBACK')
      if (thrown instanceof Undo) return thrown.result as T
      throw thrown
    }
  }
  return repeat(pool, () => onConnection(pool, run))
}

/** Gives the connection back, with what is prepared on it, unless it is the connection that failed. */
export async function onConnection<T>(pool: Pool, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await takeTrusted(pool)
  let broken: Error | undefined
  // A connection that is lost between statements is an event; the statement that follows reports it.
  const onError = (thrown: Error) => (broken = thrown)
  client.on('error', onError)
  try {
    return await run(client)
  } catch (thrown) {
    if (isOfConnection(thrown)) broken ??= thrown as Error
    if (isReadOnly(thrown)) pool.distrust()
    throw thrown
  } finally {
    client.off('error', onError)
    client.release(broken ?? pool.isDistrusted(client))
  }
}

async function takeTrusted(pool: Pool): Promise<pg.PoolClient> {
  for (;;) {
    const client = await pool.connect()
    if (!pool.isDistrusted(client)) return client
    client.release(true)
  }
}

// read_only_sql_transaction: a standby, as a primary is after a failover, or a server that its operator has closed for writes.
const isReadOnly = (thrown: unknown): boolean => (thrown as { code?: unknown } | null)?.code === '25006'

// connection_exception; idle_in_transaction_session_timeout and transaction_timeout; admin_shutdown and what else ends a session. How severe
// it is the server says in words of its language.
const ENDS_SESSION = /^(08|25P03|25P04|57P0)/

/** Whether it was neither the server's word on a statement nor one of ours. */
function isOfConnection(thrown: unknown): boolean {
  if (thrown instanceof pg.DatabaseError) return thrown.code === undefined || ENDS_SESSION.test(thrown.code)
  return !(thrown instanceof Undo || thrown instanceof GatewayError)
}

// serialization_failure and deadlock_detected: the server rolled the transaction back, so it can be run again.
const ROLLED_BACK = new Set(['40001', '40P01'])

// data_exception and integrity_constraint_violation: the server refused what a value says, and did nothing.
const FAULT = /^postgres 2[23]/
/** Whether a statement was refused for what it was given, and not for how the server is. */
export const isStatementFault = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && FAULT.test(thrown.reason ?? '')

/** Whether the server takes writes, which a standby does not. One that does not know the setting is taken for such a one. */
export function* takesWrites(): Command<boolean> {
  const row = yield* first<{ readOnly: string | null }>(
    `SELECT current_setting('transaction_read_only', true) AS "readOnly"`,
  )
  return row?.readOnly !== 'on'
}

/** Whether there is such a row already (unique_violation). */
export const isTaken = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.reason === 'postgres 23505'

/** Whether somebody else kept a row locked for longer than the statement waits (lock_not_available): it did nothing. */
export const isLockedOut = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.reason === 'postgres 55P03'

// invalid_sql_statement_name and duplicate_prepared_statement: a pooler gave the session to somebody else in between, and nothing was run.
const MIXED_UP = new Set(['26000', '42P05'])

/** A caller's key was claimed by another statement at the same moment: run again, this one finds who did. */
const isKeyClaim = (thrown: unknown) => (thrown as { constraint?: unknown }).constraint === 'attempts_key'

async function repeat<T>(pool: Pool, run: () => Promise<T>): Promise<T> {
  let wasReadOnly = false
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (thrown) {
      const code = (thrown as { code?: unknown }).code
      if (tries < MAX_TRIES && typeof code === 'string' && MIXED_UP.has(code)) {
        pool.canName = false
        continue
      }
      if (tries < MAX_TRIES && typeof code === 'string' && ROLLED_BACK.has(code)) continue
      if (tries < MAX_TRIES && code === '23505' && isKeyClaim(thrown)) continue
      // Nothing was done, and the next connection may lead to the server that takes writes now.
      if (!wasReadOnly && isReadOnly(thrown)) {
        wasReadOnly = true
        continue
      }
      throw toStoreError(toFailure(thrown), thrown)
    }
  }
}

// PostgreSQL: any number of gateway processes on one database.
import type { Logger } from '../../lib/log.ts'
import { GatewayError } from '../../core/errors.ts'
import { createOwnSemaphores, createSemaphore } from '../../lib/semaphore.ts'
import { audited, isAudited } from '../audited.ts'
import { storeClosed, toFailure, toStoreError } from '../failure.ts'
import { type Command, first, type Traits } from '../command.ts'
import { type CommandName, type Commands, commands, isRead, isSingle, traitsOf } from '../commands/index.ts'
import { storeOf } from '../engine-store.ts'
import { rowName } from '../row-name.ts'
import type { Store } from '../ports.ts'
import { createApart } from './apart.ts'
import { claimPaymentUnder } from './claim-lock.ts'
import { type Coordination, type Lease, LEASE_MS, prepareLocks } from './coordination/index.ts'
import { fused } from './fused/index.ts'
import { gather } from './gathered/gather.ts'
import { type Gathered, gathered } from './gathered/index.ts'
import { type Patience, SHORT_WAIT_MS, STATEMENT_TIMEOUT_MS } from './patience.ts'
import { keepPartitions } from './partitions/keep.ts'
import { takeLeadership } from './leadership.ts'
import { savePushConfigUnder } from './push-lock.ts'
import { queuesByTheDatabase } from './queue-clock.ts'
import { exchangeRates } from './rate-counts.ts'
import { recoveryOf } from './recovery.ts'
import { accessVersion, rememberRows } from './remembered.ts'
import {
  createCommandPool,
  createLookingPool,
  type DatabaseAddress,
  isImpatient,
  isLockedOut,
  isStatementFault,
  isTaken,
  onConnection,
  runDirect,
  runTransaction,
  takesWrites,
} from './pool.ts'
import { readServerClock } from './server-clock.ts'
import { upgradeTables } from './upgrade.ts'
import { findWeakSettings } from './weak-settings.ts'

type Start = (...args: unknown[]) => Command<unknown>

/** Many processes share the database: only what dead ones left behind is taken over, and a payer's claims queue up. */
const sharedUnder = (coordination: Coordination, recovery: Partial<Commands>): Partial<Commands> => ({
  ...recovery,
  ...queuesByTheDatabase,
  claimPayment: claimPaymentUnder(coordination),
  savePushConfig: savePushConfigUnder(coordination),
  takeLeadership,
})

/** Its commands wait for its row one after the other anyway: more connections would only be taken from others (POOL_SIZE). */
const MOST_OF_ONE_ACCOUNT = 4
// What waits for locks has so many connections together that one at least is left to everybody else (POOL_SIZE).
/** Of those who found something locked, and try again. */
const MOST_APART = 4
/**
 * Of those who wait for a lock in the order in which they came: transactions that say who may do what, and behind a pooler statements that stand
 * alone, because nothing says how long these wait. Whoever finds no place waits briefly, as everybody does.
 */
const MOST_PATIENT = 4
/** Of those who wait in the queue of a whole table, each of its own, and of the one that settles what dead processes left. */
const MOST_QUEUED = 4
function accountOf(name: CommandName, [input]: readonly unknown[]): string | undefined {
  const { accountId, owner, attempt } = Object(input) as {
    accountId?: unknown
    owner?: unknown
    attempt?: { accountId?: unknown }
  }
  const account = traitsOf(name).namesAccount ? input : (accountId ?? owner ?? attempt?.accountId)
  return typeof account === 'string' ? account : undefined
}

/** The table that a command locks before it begins: the queue for a table is fair, unlike the one for a row that others share. */
function tableOf(traits: Traits): string | undefined {
  if (!('touches' in traits)) return undefined
  return traits.overtakes ?? traits.excludesWritersOf
}

/** Whether it is a transaction that says who may do what. */
function saysWhoMay(name: CommandName): boolean {
  const traits = traitsOf(name)
  return 'touches' in traits && traits.touches === 'access' && (!isSingle(name) || isAudited(name))
}

/** @throws {GatewayError} store_unavailable when the server cannot be reached or is no server for us */
export async function openPostgresStore(parts: {
  address: DatabaseAddress
  bootId: string
  log: Logger
  /** How often a session that holds the lease is asked whether it is there yet. */
  leaseCheckMs?: number
  /** How long a command waits for a connection. */
  waitMs?: number
  onPartitionsMissing?: (() => void) | undefined
}): Promise<Store> {
  const { address, bootId, log, leaseCheckMs, waitMs, onPartitionsMissing } = parts
  const pool = createCommandPool(address, log, waitMs)
  const looking = createLookingPool(address, log, pool, waitMs)
  const endPools = () => Promise.all([pool.end(), looking.end()])
  let closing: Promise<void> | undefined
  const running = new Set<Promise<unknown>>()

  const { lease, coordination } = await prepare().catch(async (thrown: unknown) => {
    await endPools()
    throw explain(address, thrown)
  })
  const recovery = recoveryOf(coordination)
  const shared = sharedUnder(coordination, recovery)
  async function prepare(): Promise<{ lease: Lease; coordination: Coordination }> {
    const url = address.directUrl ?? address.url
    const fault = await prepareLocks(url)
    const { coordination: agreed, fallback } = await upgradeTables(address.url, fault)
    if (fallback !== undefined)
      log.warn(
        `PostgreSQL: rows are locked in the place of advisory locks, because ${fallback}. A process that dies is noticed after ${LEASE_MS / 1000} s`,
      )
    const held = await agreed.holdLease({ url, bootId, log, checkMs: leaseCheckMs })
    if (address.directUrl !== undefined) await requireSameDatabase(held, agreed)
    for (const weak of await runDirect(pool, findWeakSettings)) log.warn(`PostgreSQL: ${weak}`)
    await keepTables(Date.now(), agreed)
    return { lease: held, coordination: agreed }
  }
  /** Nobody looked for a long time, perhaps: before the first row of a month that has no partition yet. */
  async function keepTables(now: number, { tryPartitions }: Coordination): Promise<void> {
    try {
      await onConnection(pool, (client) => keepPartitions(client, { now, tryPartitions, log }))
    } catch (thrown) {
      onPartitionsMissing?.()
      log.error(
        { err: thrown },
        'partitions could not be added; they are made weeks ahead, so look at this soon',
      )
    }
  }
  /** Leases in another database would have every process take all others for dead. */
  async function requireSameDatabase(held: Lease, { leaseTable }: Coordination): Promise<void> {
    const find = `SELECT boot_id FROM ${leaseTable} WHERE boot_id = $1`
    const here = await runDirect(pool, () => first(find, bootId))
    if (here) return
    await held.close()
    throw new GatewayError(
      'store_unavailable',
      'GATEWAY_DATABASE_DIRECT_URL leads to another database than GATEWAY_DATABASE_URL. Give both the same one: through the pooler, and past it.',
    )
  }

  /** Nothing begins while others may take this process for dead. */
  function requireLease(traits: Traits): void {
    if (lease.isHeld() || !('startsWork' in traits)) return
    throw toStoreError({
      code: 'store_unavailable',
      detail:
        'The database connection is being restored; nothing was charged or sent. Try again in a moment.',
      reason: 'lease lost',
    })
  }
  const remembered = rememberRows(() => runDirect(looking, accessVersion))
  async function execute(name: CommandName, args: unknown[]): Promise<unknown> {
    const traits = traitsOf(name)
    if (traits.kind === 'lookup' && traits.cached)
      return remembered.through(rowName(name, args), () => executeAlone(name, args))
    const group = groups.get(name)
    return group?.fits(args[0]) ? group.ask(args[0]) : executeAlone(name, args)
  }
  const places = createOwnSemaphores(MOST_OF_ONE_ACCOUNT)
  const apart = createApart(MOST_APART, STATEMENT_TIMEOUT_MS)
  const queues = createApart(MOST_QUEUED, STATEMENT_TIMEOUT_MS)
  const patient = createSemaphore(MOST_PATIENT)
  /** Whoever's rows are locked waits for them with a few connections, and nobody else for him. */
  async function executeAlone(
    name: CommandName,
    args: unknown[],
    owner: string | undefined = accountOf(name, args),
  ): Promise<unknown> {
    const queue = name in recovery ? 'recovery' : tableOf(traitsOf(name))
    const inOrder = () => runOnce(name, args, 'long')
    if (queue !== undefined) return queues.takeTurn(queue, performance.now() + STATEMENT_TIMEOUT_MS, inOrder)
    const release = saysWhoMay(name) ? await patient.acquire(0) : undefined
    if (release) return inOrder().finally(release)
    return apart.run(name, owner, () => runOnce(name, args), places)
  }
  async function runOnce(name: CommandName, args: unknown[], patience: Patience = 'short'): Promise<unknown> {
    const traits = traitsOf(name)
    requireLease(traits)
    const atOnce = fused[name] as Start | undefined
    if (atOnce) {
      const answer = await runDirect(pool, () => atOnce(...args)).catch((thrown: unknown) => {
        // While it waited for a lock, somebody made the row that it then wanted to make: step by step it is found.
        if ('isPerEngine' in commands[name] || !isTaken(thrown)) throw thrown
      })
      if (answer !== undefined) return answer
    }
    const start = audited(name, (shared[name] ?? commands[name]) as Start)
    const table = tableOf(traits)
    const run = () => start(...args)
    if (table === undefined && isSingle(name) && !isAudited(name)) {
      if (isRead(name) || isImpatient(address)) return runDirect(pool, run)
      const release = await patient.acquire(SHORT_WAIT_MS)
      if (release) return runDirect(pool, run).finally(release)
    }
    const inTable = function* () {
      yield { text: `LOCK TABLE ${table} IN EXCLUSIVE MODE`, values: [] }
      return yield* run()
    }
    return runTransaction(pool, table === undefined ? run : inTable, patience)
  }
  const groups = new Map(
    Object.entries(gathered as Record<string, Gathered<unknown, unknown>>).map(
      ([name, { fits, run, accountOf: ownerOf }]) => {
        const ask = gather<unknown, unknown>({
          async together(inputs) {
            requireLease(traitsOf(name as CommandName))
            return runDirect(pool, () => run(inputs))
          },
          once: (input) => runOnce(name as CommandName, [input]),
          alone: (input) => executeAlone(name as CommandName, [input], ownerOf(input)),
          waitMs: STATEMENT_TIMEOUT_MS,
          takeTurn: apart.takeTurn,
          ownerOf,
          isOfOne: isStatementFault,
          isHeldUp: isLockedOut,
        })
        return [name, { fits, ask }]
      },
    ),
  )
  function whileOpen<T>(start: () => Promise<T>): Promise<T> {
    if (closing) return Promise.reject(storeClosed())
    const done = start()
    running.add(done)
    const settle = () => running.delete(done)
    done.then(settle, settle)
    return done
  }
  const run = (name: CommandName, args: unknown[]) => whileOpen(() => execute(name, args))

  async function shutDown(): Promise<void> {
    await Promise.allSettled(running)
    await endPools()
    await lease.close()
  }
  return storeOf({
    engine: 'postgres',
    run,
    async health() {
      const started = performance.now()
      // At once: where everybody waits for a connection, both wait for one turn.
      const [isWritable] = await Promise.all([
        whileOpen(() => runDirect(looking, takesWrites)),
        run('listPublishedKeys', []),
      ])
      // Its address may lead to the server that takes writes soon, and nobody finds out by reading.
      if (!isWritable) pool.distrust()
      const [open, waiting] = [pool.totalCount + looking.totalCount, pool.waitingCount + looking.waitingCount]
      const counts = `${open} connections, ${waiting} waiting`
      const detail = `PostgreSQL${isWritable ? '' : ' that takes no writes'}, ${counts}`
      return { ok: lease.isHeld() && isWritable, latencyMs: performance.now() - started, detail }
    },
    keepTables: (now) => whileOpen(() => keepTables(now, coordination)),
    readClock: () => whileOpen(() => runDirect(looking, readServerClock)),
    exchangeRates: (counts) => whileOpen(() => runDirect(pool, () => exchangeRates(counts, bootId))),
    close: () => (closing ??= shutDown()),
  })
}

/** Why the gateway cannot start, without the password that the URL may hold. */
function explain({ url, directUrl }: DatabaseAddress, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError && thrown.reason === undefined) return thrown
  const places = [url, ...(directUrl === undefined ? [] : [directUrl])].map((place) => {
    const { hostname, port } = new URL(place)
    return `${hostname}:${port || 5432}`
  })
  const reason = (thrown instanceof GatewayError ? thrown.reason : toFailure(thrown).reason) ?? 'unknown'
  return new GatewayError(
    'store_unavailable',
    `The database at ${places.join(' or ')} cannot be used (${reason}). ${CUT_OFF[reason] ?? CHECK}`,
    { cause: thrown, reason },
  )
}

const CHECK =
  'Check that the server runs and that GATEWAY_DATABASE_URL ' +
  '(and GATEWAY_DATABASE_DIRECT_URL, behind a pooler) names an existing database, user and password.'
/** What the server ended although it could do it. */
const CUT_OFF: Readonly<Record<string, string>> = {
  // query_canceled
  'postgres 57014':
    'Somebody, or a limit of the server or of a pooler, ended a statement of the start, as one that brings a large table to this release. ' +
    'Nothing was changed: start again without that limit.',
  // lock_not_available
  'postgres 55P03':
    'Other sessions keep a table locked that is brought to this release (a backup, a long transaction). ' +
    'Nothing was changed: start again when they have ended.',
}

// PostgreSQL: any number of gateway processes on one database.
import type { Logger } from '../../lib/log.ts'
import { GatewayError } from '../../core/errors.ts'
import { storeClosed, toFailure, toStoreError } from '../failure.ts'
import type { Command } from '../command.ts'
import { type CommandName, commands, reads, singleStatements } from '../commands/index.ts'
import { storeOf } from '../engine-store.ts'
import { postgresDialect } from '../dialects.ts'
import { migrate } from '../migrations.ts'
import type { FinishAttempt, PaymentClaim, Store } from '../ports.ts'
import {
  holdLiveness,
  type Liveness,
  LOCK_MIGRATIONS,
  recoverDeadBoots,
  recoverDeadClaims,
} from './leases.ts'
import { settleAtOnce, submitAtOnce } from './fused-claims.ts'
import { reserveActionAtOnce, reserveEdgeCallAtOnce } from './fused-actions.ts'
import { finishAtOnce, isRefusedReservation, reserveAtOnce } from './fused.ts'
import { createPool, runDirect, runTransaction } from './pool.ts'

type Start = (...args: unknown[]) => Command<unknown>
type Boot = Parameters<Store['recoverClaims']>[0]
type Submission = Parameters<Store['submitClaim']>[0]

/** @throws {GatewayError} store_unavailable when the server cannot be reached or is no server for us */
export async function openPostgresStore(parts: { url: string; bootId: string; log: Logger }): Promise<Store> {
  const { url, bootId, log } = parts
  const pool = createPool(url, log)
  let closing: Promise<void> | undefined
  const running = new Set<Promise<unknown>>()

  const liveness = await prepare().catch(async (thrown: unknown) => {
    await pool.end()
    throw explain(url, thrown)
  })
  async function prepare(): Promise<Liveness> {
    await runTransaction(pool, function* () {
      yield { text: LOCK_MIGRATIONS, values: [], once: true }
      yield* migrate(postgresDialect, Date.now())
    })
    return holdLiveness({ url, bootId, log })
  }

  /** Nothing begins while others may take this process for dead. */
  function requireLiveness(): void {
    if (liveness.isHeld()) return
    throw toStoreError({
      code: 'store_unavailable',
      detail:
        'The database connection is being restored; nothing was charged or sent. Try again in a moment.',
      reason: 'liveness lost',
    })
  }
  /** In one statement; refused, step by step in a transaction, which finds the reason and decides anew. */
  const reserve =
    <I, R>(atOnce: (input: I) => Command<R>, stepwise: (input: I) => Command<R>) =>
    async (input: I): Promise<R> => {
      requireLiveness()
      try {
        return await runDirect(pool, () => atOnce(input))
      } catch (thrown) {
        if (!isRefusedReservation((thrown as Error).cause)) throw thrown
        return runTransaction(pool, () => stepwise(input))
      }
    }
  /**
   * Every execution share-locks the rows that it stands on, and PostgreSQL lets more and more sharers in while a writer waits:
   * what is to stop an agent would wait as long as the agent goes on. The queue for a table is fair.
   */
  const beforeOthers =
    <I, R>(table: string, start: (input: I) => Command<R>) =>
    (input: I): Promise<R> =>
      runTransaction(pool, function* () {
        yield { text: `LOCK TABLE ${table} IN EXCLUSIVE MODE`, values: [] }
        return yield* start(input)
      })
  async function reserveEdgeCall(input: Parameters<Store['reserveEdgeCall']>[0]): Promise<unknown> {
    requireLiveness()
    return runDirect(pool, () => reserveEdgeCallAtOnce(input))
  }
  async function claim(input: Parameters<Store['claimPayment']>[0]): Promise<unknown> {
    requireLiveness()
    return runDirect(pool, () => commands.claimPayment(input))
  }
  async function settle(input: Parameters<Store['settleClaim']>[0]): Promise<PaymentClaim | undefined> {
    const settled = await runDirect(pool, () => settleAtOnce(input))
    return settled ?? runTransaction(pool, () => commands.settleClaim(input))
  }
  type Execute = (...args: never) => Promise<unknown>
  /** What this engine does in another way than the commands say. */
  const own: Partial<Record<CommandName, Execute>> = {
    reserveAttempt: reserve(reserveAtOnce, commands.reserveAttempt),
    reserveAction: reserve(reserveActionAtOnce, commands.reserveAction),
    reserveEdgeCall,
    rotateCredential: beforeOthers('credentials', commands.rotateCredential),
    revokeCredential: beforeOthers('credentials', commands.revokeCredential),
    revokeMandate: beforeOthers('mandates', commands.revokeMandate),
    finishAttempt: (input: FinishAttempt) => runDirect(pool, () => finishAtOnce(input)),
    recoverAttempts: (input: Boot) => runTransaction(pool, () => recoverDeadBoots(input)),
    claimPayment: claim,
    submitClaim: (input: Submission) => runDirect(pool, () => submitAtOnce(input)),
    settleClaim: settle,
    recoverClaims: (input: Boot) => runTransaction(pool, () => recoverDeadClaims(input)),
  }
  function execute(name: CommandName, args: unknown[]): Promise<unknown> {
    const special = own[name]
    if (special) return special(...(args as never))
    const start = commands[name] as Start
    return reads.has(name) || singleStatements.has(name)
      ? runDirect(pool, () => start(...args))
      : runTransaction(pool, () => start(...args))
  }
  function run(name: CommandName, args: unknown[]): Promise<unknown> {
    if (closing) return Promise.reject(storeClosed())
    const done = execute(name, args)
    running.add(done)
    const settle = () => running.delete(done)
    done.then(settle, settle)
    return done
  }

  async function shutDown(): Promise<void> {
    await Promise.allSettled(running)
    await pool.end()
    await liveness.close()
  }
  return storeOf({
    engine: 'postgres',
    run,
    async health() {
      const started = performance.now()
      await run('listPublishedKeys', [])
      const detail = `PostgreSQL, ${pool.totalCount} connections, ${pool.waitingCount} waiting`
      return { ok: liveness.isHeld(), latencyMs: performance.now() - started, detail }
    },
    close: () => (closing ??= shutDown()),
  })
}

/** Why the gateway cannot start, without the password that the URL may hold. */
function explain(url: string, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError && thrown.reason === undefined) return thrown
  const { hostname, port } = new URL(url)
  const reason = (thrown instanceof GatewayError ? thrown.reason : toFailure(thrown).reason) ?? 'unknown'
  return new GatewayError(
    'store_unavailable',
    `The database at ${hostname}:${port || 5432} cannot be used (${reason}). Check that the server runs and that ` +
      'GATEWAY_DATABASE_URL names an existing database, user and password.',
    { cause: thrown, reason },
  )
}

// The store as the gateway uses it: domain commands, each one atomic and durable when its promise resolves. No SQL, no
// engine and no policy here; `test/contract/store-*.test.ts` hold every engine to the same behaviour.
import type { Command } from './command.ts'
import type { Definitions } from './commands/index.ts'
import type { Millis } from './model.ts'
import type { RateCount } from './ports/rates.ts'

export type * from './ports/accounts.ts'
export type * from './ports/actions.ts'
export type * from './ports/attempts.ts'
export type * from './ports/audit.ts'
export type * from './ports/budgets.ts'
export type * from './ports/credentials.ts'
export type * from './ports/documents.ts'
export type * from './ports/email.ts'
export type * from './ports/figures.ts'
export type * from './ports/idempotency.ts'
export type * from './ports/identity.ts'
export type * from './ports/market.ts'
export type * from './ports/market-money.ts'
export type * from './ports/minted-tokens.ts'
export type * from './ports/oauth.ts'
export type * from './ports/notifications.ts'
export type * from './ports/payments.ts'
export type * from './ports/people.ts'
export type * from './ports/policies.ts'
export type * from './ports/push.ts'
export type * from './ports/rates.ts'
export type * from './ports/records.ts'
export type * from './ports/refunds.ts'
export type * from './ports/rotations.ts'
export type * from './ports/searches.ts'
export type * from './ports/spend-windows.ts'

/** Every definition of commands/, as a method: what a command takes, answers and promises stands there. */
export type StoreCommands = {
  readonly [K in keyof Definitions]: Definitions[K] extends (...args: infer A) => Command<infer T>
    ? (...args: A) => Promise<T>
    : never
}

export interface Store extends StoreCommands {
  readonly engine: 'sqlite' | 'postgres'
  /**
   * Stores what this process has counted of limits, in place of what it told before, and tells what the others have in windows that are
   * still open. Undefined where the database has one process.
   */
  readonly exchangeRates?: ((counts: readonly RateCount[]) => Promise<readonly RateCount[]>) | undefined
  /** What time it is by the database, in milliseconds since the epoch. Undefined where the database has one process. */
  readonly readClock?: (() => Promise<Millis>) | undefined
  /** Counters for health and statistics; cheap. */
  health(): Promise<{ ok: boolean; latencyMs: number; detail: string }>
  /** Finishes what is queued, then closes. Later calls reject with `store_unavailable`. */
  close(): Promise<void>
}

/** Input of a method of the port, of those that take one value. */
export type Input<K extends keyof Store> = Store[K] extends (input: infer I) => unknown ? I : never

// The port's face over an engine: every command by name, what remains by hand.
import { currentActor } from '../lib/acting.ts'
import { everyTurn } from '../lib/every-turn.ts'
import { isAudited } from './audited.ts'
import { type CommandName, commandNames } from './commands/index.ts'
import { SWEEP_LIMIT, SWEPT_KINDS } from './commands/records.ts'
import type { Store, StoreCommands } from './ports.ts'

export interface Engine {
  readonly engine: Store['engine']
  /**
   * Runs the command as one durable transaction and answers when it is committed. The last argument of an audited one is who
   * acts (audited.ts).
   */
  readonly run: (name: CommandName, args: unknown[]) => Promise<unknown>
  readonly health: () => ReturnType<Store['health']>
  readonly exchangeRates?: Store['exchangeRates']
  readonly readClock?: Store['readClock']
  /** What the engine's own tables need from time to time; it says in the log what fails. */
  readonly keepTables?: (now: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** The port over an engine: each definition of commands/ as a method that runs it. */
export function storeOf({ engine, run, health, exchangeRates, readClock, keepTables, close }: Engine): Store {
  const methods = Object.fromEntries(
    commandNames.map((name) => [
      name,
      isAudited(name)
        ? (...args: unknown[]) => run(name, [...args, currentActor()])
        : (...args: unknown[]) => run(name, args),
    ]),
  ) as StoreCommands

  /** Sweeps in pieces, so that nobody waits behind one long transaction. */
  async function sweepPieces(
    total: Record<string, number>,
    ...args: Parameters<Store['sweep']>
  ): Promise<void> {
    for (let again = true; again;) {
      again = false
      const removed = (await run('sweep', args)) as Record<string, number>
      for (const [kind, count] of Object.entries(removed)) {
        total[kind] = (total[kind] ?? 0) + count
        if (count >= SWEEP_LIMIT) again = true
      }
    }
  }
  /** @throws what was said of the first kind that cannot be swept, once every other one is */
  async function sweep(now: number): Promise<Readonly<Record<string, number>>> {
    await keepTables?.(now)
    const total: Record<string, number> = {}
    await sweepPieces(total, now).catch(() => everyTurn(SWEPT_KINDS, (kind) => sweepPieces(total, now, kind)))
    return total
  }
  /** An answer in any case: who asks for health wants to hear of a failure, not to have one. */
  async function reportHealth(): ReturnType<Store['health']> {
    const started = performance.now()
    try {
      return await health()
    } catch {
      return { ok: false, latencyMs: performance.now() - started, detail: `${engine} does not answer` }
    }
  }
  return { ...methods, engine, sweep, health: reportHealth, exchangeRates, readClock, close }
}

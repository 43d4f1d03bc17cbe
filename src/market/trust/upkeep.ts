// Background work of figures, done by one process for all of them: what nobody counted, whose money buyers pay with, and whether services answer.
import type { Logger } from '../../lib/log.ts'
import type { Store } from '../../store/ports.ts'
import type { Probes } from './probes.ts'

export interface UpkeepParts {
  readonly store: Pick<Store, 'takeLeadership' | 'giveUpLeadership' | 'engine'>
  readonly recount: () => Promise<number>
  readonly washTrading: { check(): Promise<number> }
  readonly probes: Probes
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
}

export interface TrustUpkeep {
  /** Counts what this process, or another, died before it counted; at the start, whoever leads. Never throws. */
  begin(): Promise<void>
  /** One pass, unless one is under way here or elsewhere. Never throws. */
  keep(): Promise<void>
  close(): Promise<void>
}

const NAME = 'market-figures'
/** Longer than a pass takes: a process that died is followed by another after so long. */
const HELD_MS = 150_000

export function createTrustUpkeep(parts: UpkeepParts): TrustUpkeep {
  const { store, recount, washTrading, probes, bootId: holder, now, log } = parts
  const closing = new AbortController()
  let running: Promise<void> | undefined

  async function pass(): Promise<void> {
    try {
      const isAlone = store.engine === 'sqlite'
      const isLeader = await store.takeLeadership({
        name: NAME,
        holder,
        until: now() + HELD_MS,
        isAlone,
        now: now(),
      })
      if (!isLeader || closing.signal.aborted) return
      await recount()
      await washTrading.check()
      await probes.pass(closing.signal)
    } catch (err) {
      if (!closing.signal.aborted) log.warn({ err }, 'market: figures could not be kept; it is tried again')
    }
  }

  async function begin(): Promise<void> {
    try {
      await recount()
    } catch (err) {
      if (!closing.signal.aborted)
        log.warn({ err }, 'market: missed sales could not be counted; it is tried again')
    }
  }

  return {
    begin: () => (running ??= begin().finally(() => (running = undefined))),
    keep: () => (running ??= pass().finally(() => (running = undefined))),
    async close() {
      closing.abort()
      await running
      await store.giveUpLeadership({ name: NAME, holder }).catch(() => undefined)
    },
  }
}

// What processes on one database promise each other. There are two ways to keep it (advisory-locks.ts, row-locks.ts), and all processes on
// one database use the same at one time (agreement.ts).
import type { Logger } from '../../../lib/log.ts'
import type { Command } from '../../command.ts'

export interface Lease {
  /** False while the lease is lost: others may take this process for dead, so it must start nothing. */
  readonly isHeld: () => boolean
  readonly close: () => Promise<void>
}

/** Process starts that are dead, of which `listed` have a lease in the table. */
export interface Dead {
  readonly dead: readonly string[]
  readonly listed: readonly string[]
}

export interface Coordination {
  /** Names the process starts that hold or held a lease (`boot_id`). */
  readonly leaseTable: string
  /**
   * Takes a lease for this process start, and takes it again whenever it is lost.
   * @throws the driver's error when it cannot be taken the first time
   */
  readonly holdLease: (parts: {
    url: string
    bootId: string
    log: Logger
    /** How often a session that holds it is asked whether it is there yet. */
    checkMs?: number | undefined
  }) => Promise<Lease>
  /**
   * Which processes are dead. None of them comes back until the transaction ends, and no other transaction is told of one meanwhile.
   * @param working process starts with unfinished rows, as they were before this was asked
   */
  readonly findDead: (bootId: string, working: readonly string[]) => Command<Dead>
  /**
   * Waits for locks, which are kept until the transaction ends: in one order, whoever asks for which. What the next statement sees begins
   * after the wait, so that it sees what was committed by whom it waited for.
   * @param space what kind of thing is locked; `numbers`, of 32 bits, stand for the things. Some share a lock, and wait for each other
   */
  readonly lock: (space: number, numbers: readonly number[]) => Command<void>
  /** A statement whose row says `isOurs` where nobody else divides tables or adds to them until the transaction ends. */
  readonly tryPartitions: string
}

/** Locks of the gateway itself, so that other users of the database stay out of the way; those of processes have the numbers from 1 on. */
export const LOCK_SPACE = 0x6177
export const MIGRATIONS_NUMBER = 0
/** Whoever holds it is the only one who divides tables or adds to them. */
export const PARTITIONS_NUMBER = -1
/** Claims of a payer. */
export const PAYER_SPACE = 0x6178
/** Where the clients of a task, or of a holder, want to be told. */
export const PUSH_SPACE = 0x6179

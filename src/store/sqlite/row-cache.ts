// Rows that every call reads and hardly any call changes: tokens, capabilities, credentials. One process owns the file, so
// a row holds until this process changes one. Which commands cannot do that is listed; every other one forgets them all.
import type { CommandName } from '../commands/index.ts'

const REMEMBERED: ReadonlySet<CommandName> = new Set<CommandName>([
  'findKey',
  'findCapability',
  'getCredential',
])

/** The commands of calls: they move money, attempts, permits and claims, and of a capability its counter, which is not in the row. */
export const HARMLESS: ReadonlySet<CommandName> = new Set<CommandName>([
  'debitCredits',
  'refundCredits',
  'reserveAttempt',
  'reserveAction',
  'reserveEdgeCall',
  'markSending',
  'finishAttempt',
  'refundAttempt',
  'attachReceipt',
  'preparePermit',
  'claimPayment',
  'submitClaim',
  'settleClaim',
  'moveClaim',
  'cancelClaim',
  'takeSettlement',
  'returnSettlement',
  'saveQuote',
  'saveTask',
  'takeEmailQuota',
  'returnEmailQuota',
  'takeReference',
  'seeResources',
  'recordLiveness',
])

const MAX_ROWS = 5_000

export interface RememberedRows {
  /** What `read` finds, or found before; what it does not find is asked for every time. */
  through(name: CommandName, args: readonly unknown[], read: () => unknown): unknown
  /** A command was answered, well or not. */
  after(name: CommandName): void
}

/** @param reads commands that change nothing */
export function createRememberedRows(reads: ReadonlySet<CommandName>): RememberedRows {
  const rows = new Map<string, unknown>()
  return {
    through(name, args, read) {
      if (!REMEMBERED.has(name)) return read()
      const key = keyOf(name, args)
      const known = rows.get(key)
      if (known !== undefined) return known
      const found = read()
      if (found === undefined) return undefined
      rows.set(key, found)
      if (rows.size > MAX_ROWS) rows.delete(rows.keys().next().value!)
      return found
    },
    after(name) {
      if (!HARMLESS.has(name) && !reads.has(name)) rows.clear()
    },
  }
}

/** Arguments are one digest, or ids, which hold no space. */
function keyOf(name: CommandName, args: readonly unknown[]): string {
  let key: string = name
  for (const arg of args)
    key += ` ${arg instanceof Uint8Array ? Buffer.from(arg.buffer, arg.byteOffset, arg.byteLength).toString('latin1') : String(arg)}`
  return key
}

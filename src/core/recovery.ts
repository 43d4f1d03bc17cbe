// Rows that are not ended, and nobody works on any more: those of dead processes, and of this one. Nobody else's recovery takes the latter
// while it lives, and no count of looks finds them all: a commit that waits for a standby comes when that is back.
import type { Logger } from '../lib/log.ts'
import type { Store } from '../store/ports.ts'
import { type OnFault, uncounted } from './faults.ts'

/** The commands that list what a process start has not ended. */
type List<Row> = (input: { bootId: string; after: string; limit: number }) => Promise<readonly Row[]>

const PAGE = 500

async function* rowsOf<Row extends { readonly id: string }>(
  list: List<Row>,
  bootId: string,
): AsyncGenerator<Row> {
  for (let after = ''; ;) {
    const rows = await list({ bootId, after, limit: PAGE })
    yield* rows
    const last = rows.at(-1)
    if (rows.length < PAGE || last === undefined) return
    after = last.id
  }
}

/**
 * Rows of this very process that it does not work on.
 * @param inHand ids of what it works on: one is there before the store is asked to begin it, and until its end is written
 */
export async function* rowsLeft<Row extends { readonly id: string }>(
  list: List<Row>,
  bootId: string,
  inHand: { has(id: string): boolean },
): AsyncGenerator<Row> {
  // It is asked after the row was read: what began or ended in between is in hand, or is no more what it was when it was read.
  for await (const row of rowsOf(list, bootId)) if (!inHand.has(row.id)) yield row
}

/**
 * Settles what dead processes left, all at once; where the store refuses that, row by row, so that one that it refuses keeps no other from
 * its turn. That one is told of, and is tried again in the next round.
 * @param parts.recover all of it, or the row of this id
 * @throws what the store throws when it is asked for the rows
 */
export async function recoverDead(parts: {
  readonly store: Pick<Store, 'listDeadOwners'>
  readonly bootId: string
  readonly list: List<{ readonly id: string }>
  readonly recover: (id?: string) => Promise<void>
  readonly log: Logger
  readonly onFault?: OnFault | undefined
}): Promise<void> {
  const { store, bootId, list, recover, log, onFault = uncounted } = parts
  try {
    return await recover()
  } catch (err) {
    log.warn({ err }, 'what a crash left behind could not be settled at once, and is settled row by row')
  }
  for (const owner of await store.listDeadOwners({ bootId }))
    for await (const { id } of rowsOf(list, owner))
      try {
        await recover(id)
      } catch (err) {
        onFault('credits_kept')
        log.error({ id, err }, 'a row that a crash left behind could not be settled')
      }
}

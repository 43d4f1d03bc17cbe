// Uses of capabilities that come back. One is counted on a capability and on all it was narrowed from in the transaction that
// reserves an attempt (perEngine, attempts.ts); what becomes of the attempt decides whether it was one.
import { all, type Command } from '../command.ts'

const LINEAGE = 'SELECT ancestor_id AS id FROM capability_lineage WHERE capability_id = $1'
const GIVE_BACK = 'UPDATE capabilities SET uses = uses - $1 WHERE id = $2 AND uses >= $1'

/**
 * Gives back the use of each attempt of which nothing was sent. Nothing of a capability that was swept.
 * @param capabilityIds of the attempts, one for each; null or '' for those without a capability
 */
export function* returnUses(capabilityIds: readonly (string | null)[]): Command<void> {
  const uses = new Map<string, number>()
  for (const capabilityId of capabilityIds)
    if (capabilityId)
      for (const { id } of yield* all<{ id: string }>(LINEAGE, capabilityId))
        uses.set(id, (uses.get(id) ?? 0) + 1)
  // Capabilities are locked in the order of their ids, as by whoever reserves: nobody waits for whoever waits for them.
  for (const [id, count] of [...uses].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    yield* all(GIVE_BACK, count, id)
}

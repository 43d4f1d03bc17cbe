// The commands that take over from processes that are dead; who that is, the way of locking says (coordination/).
import { all, type Command } from '../command.ts'
import { recoverAttemptsOf, type RecoverInput, UNFINISHED_ATTEMPT_OWNERS } from '../commands/attempts.ts'
import { OPEN_DEBIT_OWNERS, recoverDebitsOf } from '../commands/charges.ts'
import { recoverClaimsOf, UNFINISHED_CLAIM_OWNERS } from '../commands/claims.ts'
import { UNFINISHED_OWNERS } from '../commands/dead-owners.ts'
import { RUNNING_ROTATION_OWNERS, takeOverRotationOf } from '../commands/rotations.ts'
import type { Rotation } from '../ports/rotations.ts'
import type { Attempt } from '../model.ts'
import type { Coordination, Dead } from './coordination/coordination.ts'

type Leases = Pick<Coordination, 'findDead' | 'leaseTable'>

/** @param owners statement that names the process starts with unfinished rows, other than $1 */
function* findDead(
  { findDead }: Leases,
  { bootId }: Pick<RecoverInput, 'bootId'>,
  owners: string,
): Command<Dead> {
  // This statement comes first: a process that starts between the two has no unfinished rows in its answer.
  const working = yield* all<{ bootId: string }>(owners, bootId)
  return yield* findDead(
    bootId,
    working.map((owner) => owner.bootId),
  )
}

/** `recoverAttempts`, `recoverClaims`, `recoverDebits`, `listDeadOwners` and `takeOverRotation`, for the processes that are dead. */
export const recoveryOf = (leases: Leases) => ({
  *recoverAttempts(
    asked: RecoverInput,
  ): Command<{ refunded: readonly Attempt[]; ambiguous: readonly Attempt[] }> {
    const { dead, listed } = yield* findDead(leases, asked, UNFINISHED_ATTEMPT_OWNERS)
    const recovered = yield* recoverAttemptsOf(dead, asked)
    // One of its attempts is not all that it left.
    if (asked.id !== undefined) return recovered
    for (const bootId of listed) yield* all(`DELETE FROM ${leases.leaseTable} WHERE boot_id = $1`, bootId)
    return recovered
  },
  /** The leases stay listed, since the attempts of those processes may not be settled yet. */
  *recoverClaims(asked: RecoverInput): Command<{ canceled: number; unknown: number }> {
    const { dead } = yield* findDead(leases, asked, UNFINISHED_CLAIM_OWNERS)
    return yield* recoverClaimsOf(dead, asked)
  },
  /** The leases stay listed here too. */
  *recoverDebits(asked: RecoverInput): Command<{ refunded: number }> {
    const { dead } = yield* findDead(leases, asked, OPEN_DEBIT_OWNERS)
    return yield* recoverDebitsOf(dead, asked)
  },
  *listDeadOwners(asked: Pick<RecoverInput, 'bootId'>): Command<readonly string[]> {
    return (yield* findDead(leases, asked, UNFINISHED_OWNERS)).dead
  },
  *takeOverRotation(asked: RecoverInput): Command<Rotation | undefined> {
    const { dead } = yield* findDead(leases, asked, RUNNING_ROTATION_OWNERS)
    return yield* takeOverRotationOf(dead, asked)
  },
})

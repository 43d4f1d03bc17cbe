// Which processes are dead, for whoever settles what they left row by row.
import { all, type Command, command } from '../command.ts'
import { UNFINISHED_ATTEMPT_OWNERS } from './attempts.ts'
import { OPEN_DEBIT_OWNERS } from './charges.ts'
import { UNFINISHED_CLAIM_OWNERS } from './claims.ts'

/** Names the process starts with anything unfinished, other than $1. */
export const UNFINISHED_OWNERS = `${UNFINISHED_ATTEMPT_OWNERS} UNION ${OPEN_DEBIT_OWNERS} UNION ${UNFINISHED_CLAIM_OWNERS}`
/**
 * Process starts that are dead and left attempts, debits or claims. Whoever recovers one of their rows looks again whether they are:
 * a process that had lost its lease for a while is back by then.
 */
export const listDeadOwners = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  bootId: string
}): Command<readonly string[]> {
  const owners = yield* all<{ bootId: string }>(UNFINISHED_OWNERS, input.bootId)
  return owners.map(({ bootId }) => bootId)
})

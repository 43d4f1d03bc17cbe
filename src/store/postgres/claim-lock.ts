// Claims of one payer, one after the other, whatever process they come from: each has to see what the one before it claimed.
// The server has no other way to forbid what is not there yet.
import { hash } from 'node:crypto'
import type { Command } from '../command.ts'
import { type Claimed, claimPayment as claimUnlocked, type ClaimPaymentInput } from '../commands/claims.ts'
import { type Coordination, PAYER_SPACE } from './coordination/coordination.ts'

/** Two payers that share a number wait for each other, and nothing else happens. */
const numberOf = ({ network, asset, payer }: ClaimPaymentInput['claim']): number =>
  Buffer.from(hash('sha256', JSON.stringify([network, asset, payer]), 'binary'), 'binary').readInt32BE(0)

/**
 * The command `claimPayment`, after the lock of its payer. The lock is a statement of its own: what the next one sees begins
 * after the wait, and what it waited for is committed by then.
 */
export const claimPaymentUnder = ({ lock }: Pick<Coordination, 'lock'>) =>
  function* (input: ClaimPaymentInput): Command<Claimed> {
    const { claim, funds, maxOpen, maxWorking } = input
    if (claim.payer !== '' && (funds ?? maxOpen ?? maxWorking) !== undefined)
      yield* lock(PAYER_SPACE, [numberOf(claim)])
    return yield* claimUnlocked(input)
  }

// The commands of calls and payments as single statements: PostgreSQL is a network away, and what one statement locks it
// holds for one round trip. Each behaves as the command that it stands for; the contract suite holds both to it.
import type { Command } from '../../command.ts'
import type { Commands, PerEngineName } from '../../commands/index.ts'
import { findAccessToken } from './access.ts'
import { reserveAction, reserveEdgeCall } from './actions.ts'
import { finishAttempt, reserveAttempt } from './attempts.ts'
import { debitCredits, settleDebit } from './charges.ts'
import { settleClaim, submitClaim } from './claims.ts'

type FusedOf<C> = C extends (...args: infer A) => Command<infer T>
  ? (...args: A) => Command<T | undefined>
  : never
/** Answers undefined where there is more to do than the statement does: the command itself runs then, in a transaction. */
export type Fused = { readonly [K in keyof Commands]?: FusedOf<Commands[K]> } & {
  readonly [K in PerEngineName]: Commands[K]
}

export const fused: Fused = {
  reserveAttempt,
  reserveAction,
  reserveEdgeCall,
  finishAttempt,
  submitClaim,
  settleClaim,
  debitCredits,
  settleDebit,
  findAccessToken,
}

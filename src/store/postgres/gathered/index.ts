// The commands that go together when many callers ask at once. Each answers as the command of its name does for one.
import type { Command } from '../../command.ts'
import type { CommandName, Commands } from '../../commands/index.ts'
import { debitTogether, isAmount, settleTogether } from './charges.ts'
import { finishTogether, isBare } from './endings.ts'
import { isPlain, reserveTogether } from './reservations.ts'

type InputOf<C> = C extends (input: infer I) => Command<unknown> ? I : never
type AnswerOf<C> = C extends (...args: never) => Command<infer T> ? T : never

export interface Gathered<I, R> {
  /** Whether this one can go with others. */
  readonly fits: (input: I) => boolean
  /** One statement. An answer for each in order; undefined, and nothing done, for one that the command has to be run for. */
  readonly run: (inputs: readonly I[]) => Command<readonly (R | undefined)[]>
  /** The account whose rows it locks. */
  readonly accountOf: (input: I) => string
}

export const gathered: {
  readonly [K in CommandName]?: Gathered<InputOf<Commands[K]>, AnswerOf<Commands[K]>>
} = {
  reserveAttempt: { fits: isPlain, run: reserveTogether, accountOf: ({ attempt }) => attempt.accountId },
  finishAttempt: { fits: isBare, run: finishTogether, accountOf: ({ receipt }) => receipt.accountId },
  debitCredits: { fits: isAmount, run: debitTogether, accountOf: ({ accountId }) => accountId },
  settleDebit: { fits: () => true, run: settleTogether, accountOf: ({ receipt }) => receipt.accountId },
}

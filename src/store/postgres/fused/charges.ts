// A debit and its end as one statement each: a group of one.
import type { Command } from '../../command.ts'
import type { Commands } from '../../commands/index.ts'
import { debitTogether, isAmount, settleTogether } from '../gathered/charges.ts'

type InputOf<Name extends 'debitCredits' | 'settleDebit'> = Parameters<Commands[Name]>[0]

export function* debitCredits(
  input: InputOf<'debitCredits'>,
): Command<{ ok: boolean; balance: number } | undefined> {
  if (!isAmount(input)) return undefined
  const [answer] = yield* debitTogether([input])
  return answer
}

export function* settleDebit(input: InputOf<'settleDebit'>): Command<true | undefined> {
  const [answer] = yield* settleTogether([input])
  return answer
}

// Where clients want to be told: those of one task, and of one holder, are stored one after the other, whatever process they come from.
// Each has to count the one before it, and the server has no other way to forbid what is not there yet.
import { hash } from 'node:crypto'
import { all, type Command } from '../command.ts'
import { savePushConfig as saveUnlocked } from '../commands/push-configs.ts'
import type { PushConfigSaved } from '../ports/push.ts'

/** First key of these locks; payers and processes have others (claim-lock.ts, leases.ts). */
const LOCK_SPACE = 0x6179

const numberOf = (what: string, id: string): number =>
  Buffer.from(hash('sha256', JSON.stringify([what, id]), 'binary'), 'binary').readInt32BE(0)

/** The command `savePushConfig`, after the locks of its task and its holder: in the order of their numbers, so that no two wait for each other. */
export function* savePushConfig(input: Parameters<typeof saveUnlocked>[0]): Command<PushConfigSaved> {
  const { taskId, holder } = input.config
  const numbers = [numberOf('task', taskId), numberOf('holder', holder)].toSorted((a, b) => a - b)
  for (const number of numbers)
    yield* all('SELECT pg_advisory_xact_lock($1::int, $2::int)', LOCK_SPACE, number)
  return yield* saveUnlocked(input)
}

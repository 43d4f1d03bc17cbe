// Where clients want to be told: those of one task, and of one holder, are stored one after the other, whatever process they come from.
// Each has to count the one before it, and the server has no other way to forbid what is not there yet.
import { hash } from 'node:crypto'
import type { Command } from '../command.ts'
import { savePushConfig as saveUnlocked } from '../commands/push-configs.ts'
import type { PushConfigSaved } from '../ports/push.ts'
import { type Coordination, PUSH_SPACE } from './coordination/coordination.ts'
import { aheadOf } from './queue-clock.ts'

const numberOf = (what: string, id: string): number =>
  Buffer.from(hash('sha256', JSON.stringify([what, id]), 'binary'), 'binary').readInt32BE(0)

/**
 * The command `savePushConfig`, after the locks of its task and its holder, which are taken in one order, so that no two wait for each other.
 * It is due from its beginning on, which is therefore none that has yet to come.
 */
export const savePushConfigUnder = ({ lock }: Pick<Coordination, 'lock'>) =>
  function* (input: Parameters<typeof saveUnlocked>[0]): Command<PushConfigSaved> {
    const { taskId, holder } = input.config
    yield* lock(PUSH_SPACE, [numberOf('task', taskId), numberOf('holder', holder)])
    const createdAt = input.config.createdAt - (yield* aheadOf(input.config.createdAt))
    return yield* saveUnlocked({ ...input, config: { ...input.config, createdAt } })
  }

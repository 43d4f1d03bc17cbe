// Queues of what is to be told, by the clock of the database where the one of a process goes ahead of it: what such a process takes, puts
// off or adds would be nobody's until that time has come. A clock that is behind puts nothing off for others.
import { type Command, first } from '../command.ts'
import type { Commands } from '../commands/index.ts'
import { finishMarketEvent, takeMarketEvents } from '../commands/market-events.ts'
import { finishNotification, queueNotifications, takeNotifications } from '../commands/notifications.ts'
import { finishPush, takePushes } from '../commands/push-configs.ts'
import type { Millis } from '../model.ts'
import { SERVER_NOW } from './server-clock.ts'

const AHEAD = `SELECT greatest(0, $1::bigint - ${SERVER_NOW}) AS ahead`

/** How far the clock that says `now` goes ahead of the database's; 0 where it does not. */
export function* aheadOf(now: Millis): Command<number> {
  return (yield* first<{ ahead: number }>(AHEAD, now))?.ahead ?? 0
}

/** @param move the input as a clock says it that goes so much less ahead */
const byTheDatabase = <I extends { readonly now: Millis }, T>(
  run: (input: I) => Command<T>,
  move: (input: I, ahead: number) => I,
) =>
  function* (input: I): Command<T> {
    return yield* run(move(input, yield* aheadOf(input.now)))
  }

const moveTaking = <I extends { readonly now: Millis; readonly busyUntil: Millis }>(
  input: I,
  ahead: number,
): I => ({ ...input, now: input.now - ahead, busyUntil: input.busyUntil - ahead })

const moveEnding = <I extends { readonly now: Millis; readonly nextAt: Millis | null }>(
  input: I,
  ahead: number,
): I => ({
  ...input,
  now: input.now - ahead,
  nextAt: input.nextAt === null ? null : input.nextAt - ahead,
})

/** In the place of the commands of the same names. */
export const queuesByTheDatabase: Partial<Commands> = {
  queueNotifications: byTheDatabase(queueNotifications, (input, ahead) => ({
    ...input,
    now: input.now - ahead,
  })),
  takeNotifications: byTheDatabase(takeNotifications, moveTaking),
  finishNotification: byTheDatabase(finishNotification, moveEnding),
  takeMarketEvents: byTheDatabase(takeMarketEvents, moveTaking),
  finishMarketEvent: byTheDatabase(finishMarketEvent, moveEnding),
  takePushes: byTheDatabase(takePushes, moveTaking),
  finishPush: byTheDatabase(finishPush, moveEnding),
}

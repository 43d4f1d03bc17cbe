// Work that is written as steps, so that the same work is done at once by who may take the time, and in portions by who may not.
import { setImmediate } from 'node:timers/promises'

/** All steps, one after the other. */
export function finish<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/**
 * All steps, with a turn of the event loop in between.
 * @param stepsOfTurn at least 1; whoever made the steps knows what one takes
 */
export async function finishInTurns<T>(steps: Generator<unknown, T>, stepsOfTurn: number): Promise<T> {
  for (let taken = 1; ; taken++) {
    const step = steps.next()
    if (step.done) return step.value
    if (taken % stepsOfTurn === 0) await setImmediate()
  }
}

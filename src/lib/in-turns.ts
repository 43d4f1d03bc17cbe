// Work that is written as steps, so that the same work is done at once by who may take the time, and in portions by who may not.
import { setImmediate } from 'node:timers/promises'

/** All steps, one after the other. */
export function finish<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The event loop comes round where steps have taken so long; one step may take longer. */
const TURN_MS = 2

/** All steps, with turns of the event loop in between. */
export async function finishInTurns<T>(steps: Generator<unknown, T>): Promise<T> {
  for (let began = performance.now(); ;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - began < TURN_MS) continue
    await setImmediate()
    began = performance.now()
  }
}

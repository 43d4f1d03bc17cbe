// Long work asks many times: where the gateway says to come back later, it waits as long as it was told, and asks the same again.
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFailure } from './exit.ts'

/** Longer than a window of any limit; whoever is told to wait longer is told so. */
const MOST_SECONDS = 90
const TRIES = 5

/**
 * @param ask reads, or may be repeated
 * @throws {CommandFailure} as `ask` does, for anything but a limit, and for one that does not end
 */
export async function patiently<T>(ask: () => Promise<T>, wait = (ms: number) => sleep(ms)): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (thrown) {
      const seconds = secondsToWait(thrown)
      if (seconds === undefined || tries === TRIES) throw thrown
      await wait(seconds * 1000)
    }
  }
}

function secondsToWait(thrown: unknown): number | undefined {
  if (!(thrown instanceof CommandFailure) || thrown.problem?.['code'] !== 'rate_limited') return undefined
  const seconds = Number(thrown.problem['retry_after_seconds'] ?? 1)
  return seconds >= 0 && seconds <= MOST_SECONDS ? Math.max(1, seconds) : undefined
}

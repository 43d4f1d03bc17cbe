// What is counted by day begins anew at midnight UTC, also in the middle of a test that counts. Processes and chains have no clock
// that a test could hold, so a test waits for midnight to pass where it is near.
import { setTimeout as sleep } from 'node:timers/promises'

const DAY_MS = 86_400_000

/** @param within what follows needs no longer than this, in seconds: less than the hook or test that waits may take */
export async function awayFromMidnight(within = 60): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left <= within * 1000) await sleep(left + 100)
}

// One wait for people: until they have decided, the time is over, the caller is gone, or the gateway closes. Whatever ends it, the caller reads
// the permit and answers with that: a wait decides nothing.
import type { Progress } from '../core/progress.ts'
import type { Permit } from '../store/ports.ts'
import { type PermitWaits, SIGN_SECONDS } from './permit-waits.ts'

/** What a caller that waits brings. */
export interface Wait {
  readonly seconds: number
  /** Aborts when the caller is gone. */
  readonly signal: () => AbortSignal
  readonly report: Progress
}

/** The wait that a caller asks for; undefined where it asks for none. */
export const waitOf = (
  seconds: number | undefined,
  { signal, progress }: { readonly signal: () => AbortSignal; readonly progress: Progress },
): Wait | undefined => (seconds ? { seconds, signal, report: progress } : undefined)

const WAITING = 'Waits for a person to approve the permit'

/**
 * @param isPending reads the permit as it stands
 * @returns whether it still waits for people
 * @throws {GatewayError} rate_limited, and what `isPending` throws
 */
export async function untilDecided(
  waits: PermitWaits,
  permit: Pick<Permit, 'id' | 'accountId'>,
  { seconds, signal, report }: Wait,
  isPending: () => Promise<boolean>,
): Promise<boolean> {
  const gone = signal()
  let wake = () => {}
  let isNews = false
  let isOver = false
  let waited = 0
  const tell = () => {
    isNews = true
    wake()
  }
  const say = () => report({ done: waited, total: seconds, message: WAITING, waitsFor: 'approval' })
  const leave = waits.enter(permit, {
    news: tell,
    still() {
      waited = Math.min(waited + SIGN_SECONDS, seconds)
      say()
    },
  })
  gone.addEventListener('abort', tell)
  const timer = setTimeout(() => {
    isOver = true
    tell()
  }, seconds * 1000).unref()
  try {
    for (;;) {
      isNews = false
      if (!(await isPending())) {
        report({ done: seconds, total: seconds, message: 'The permit is decided' })
        return false
      }
      if (waits.isClosed || gone.aborted || isOver) return true
      say()
      if (isNews) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', tell)
    leave()
  }
}

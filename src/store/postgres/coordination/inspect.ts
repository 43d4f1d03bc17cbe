// In which way processes on a database lock, for who only looks: nothing is made and nothing is decided.
import { USES_ROWS } from './agreement.ts'
import { tryAdvisoryLocks } from './lock-trial.ts'
import { withTwoSessions } from './sessions.ts'
import { LEASE_MS } from './timed-lease.ts'

interface FoundLocks {
  /** Why advisory locks are of no use, as the end of a sentence; undefined: they are of use. */
  readonly fault: string | undefined
  readonly usesRows: boolean
  /** After which one that dies is noticed, where rows are used. */
  readonly noticedAfterMs: number
}

/** @param url past any pooler @throws the driver's error */
export const findLocks = (url: string): Promise<FoundLocks> =>
  withTwoSessions(url, async (pair) => {
    const { rows } = await pair[0].query<{ usesRows: boolean }>(USES_ROWS)
    const fault = await tryAdvisoryLocks(pair)
    return { fault, usesRows: rows[0]?.usesRows === true, noticedAfterMs: LEASE_MS }
  })

// How processes on one PostgreSQL tell who is alive, and why not by advisory locks where it is by rows.
import { errorCode, type Finding, ok, warn } from './finding.ts'

const CHECK = 'locks'

/** @param url past any pooler */
export async function checkLocks(url: string): Promise<Finding> {
  const { findLocks } = await import('../../store/postgres/coordination/inspect.ts')
  const { fault, usesRows, noticedAfterMs } = await findLocks(url).catch((thrown: unknown) => ({
    fault: `they could not be tried (${errorCode(thrown) ?? 'timeout'})`,
    usesRows: undefined,
    noticedAfterMs: 0,
  }))
  if (usesRows === undefined)
    return warn(CHECK, `advisory locks: ${fault}`, 'The next start tries them again.')
  if (fault === undefined && !usesRows) return ok(CHECK, 'advisory locks')
  const seconds = noticedAfterMs / 1000
  return fault === undefined
    ? warn(
        CHECK,
        'rows, though advisory locks can be used again',
        `A process that dies is noticed after ${seconds} s. Stop every process, and start the first one ${seconds} s later: it goes back to advisory locks.`,
      )
    : warn(
        CHECK,
        `rows in the place of advisory locks, because ${fault}`,
        `A process that dies is noticed after ${seconds} s and not at once. Where the server has such locks, let the role use them (GRANT EXECUTE).`,
      )
}

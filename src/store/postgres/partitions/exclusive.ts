// One division at a time, and no other change of partitions meanwhile, for as long as it takes: many transactions, and statements outside of any.
import { TRY_PARTITIONS, UNLOCK_PARTITIONS } from '../coordination/advisory-locks.ts'
import { USES_ROWS } from '../coordination/agreement.ts'
import { TRY_PARTITIONS_ROW } from '../coordination/row-locks.ts'
import { type OwnSession, rowsOf, type Session } from './session.ts'

interface Tried {
  readonly isOurs: boolean
}

/**
 * Takes the lock of partitions in the way in which the processes on this database lock.
 * @param openSession opens one beside it: a lock on a row ends with its transaction, so a transaction is kept open for it
 * @returns gives it back; undefined where somebody else has it
 */
export async function takePartitions(
  session: Session,
  openSession: () => Promise<OwnSession>,
): Promise<(() => Promise<void>) | undefined> {
  const [found] = await rowsOf<{ usesRows: boolean }>(session, USES_ROWS)
  if (found?.usesRows !== true) {
    const [lock] = await rowsOf<Tried>(session, TRY_PARTITIONS)
    if (lock?.isOurs !== true) return undefined
    return async () => void (await session.query(UNLOCK_PARTITIONS).catch(() => undefined))
  }
  const beside = await openSession()
  const giveBack = () => beside.end().catch(() => undefined)
  try {
    await beside.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await beside.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    const [lock] = await rowsOf<Tried>(beside, TRY_PARTITIONS_ROW)
    if (lock?.isOurs === true) return giveBack
  } catch (thrown) {
    await giveBack()
    throw thrown
  }
  await giveBack()
  return undefined
}

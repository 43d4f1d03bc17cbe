// Takes a piece out of a table: it becomes a table of its own, to be kept elsewhere.
import { GatewayError } from '../../../core/errors.ts'
import type { Millis } from '../../model.ts'
import { findDivisions, serverVersion } from './catalogue.ts'
import { LAYOUTS } from './layout.ts'
import { givingWay, type Session } from './session.ts'

/** Whoever paid has a month to ask for a receipt, as long as the rows of attempts are kept. */
const YOUNGEST_MS = 30 * 24 * 3600 * 1000

/**
 * Calls go on; whoever asks for a row of the piece afterwards hears that there is none. What was cut off is finished by asking again.
 * @param session a session of its own, past any pooler
 * @throws {GatewayError} not_found or state_conflict, with what to do
 */
export async function detachPartition(session: Session, name: string, now: Millis): Promise<void> {
  const divisions = await findDivisions(session)
  const division = divisions.find(({ partitions }) => partitions.some((partition) => partition.name === name))
  const partition = division?.partitions.find((other) => other.name === name)
  if (!division || !partition)
    throw new GatewayError(
      'not_found',
      `There is no partition ${name}. \`agent-gateway database partitions\` lists them.`,
    )
  const { table } = division
  if (!LAYOUTS[table].mayLeave)
    throw new GatewayError(
      'state_conflict',
      'Balances are sums of the whole ledger, so all of it stays. Old partitions can be moved to another tablespace.',
    )
  if (partition.isHalfDetached) {
    await session.query(`ALTER TABLE ${table} DETACH PARTITION ${name} FINALIZE`)
    return
  }
  const half = division.partitions.find(({ isHalfDetached }) => isHalfDetached)
  if (half)
    throw new GatewayError(
      'state_conflict',
      `${half.name} is half detached, and the server detaches one partition at a time: finish it first with \`agent-gateway database detach ${half.name}\`.`,
    )
  if (partition.to > now - YOUNGEST_MS)
    throw new GatewayError(
      'state_conflict',
      `${name} has rows that are younger than 30 days. Take an older one.`,
    )
  if ((await serverVersion(session)) >= 140_000) {
    await session.query(`ALTER TABLE ${table} DETACH PARTITION ${name} CONCURRENTLY`)
    return
  }
  await givingWay(session, () => session.query(`ALTER TABLE ${table} DETACH PARTITION ${name}`))
}

// The request that was approved, sealed, and what else goes with a permit when it is removed.
import { all, type Command, command, first, placeholders, statement } from '../command.ts'

/** Sealed requests that an account may have. Beyond it a permit is approved and its request is not kept: nobody fills the disk so. */
export const MAX_EVIDENCE_BYTES = 256 * 1024 * 1024

const COUNT_EVIDENCE = `INSERT INTO evidence_bytes (account_id, bytes) VALUES ($1, $2)
  ON CONFLICT (account_id) DO UPDATE SET bytes = evidence_bytes.bytes + excluded.bytes
    WHERE evidence_bytes.bytes + excluded.bytes <= $3 RETURNING bytes`
const KEEP_EVIDENCE = 'INSERT INTO permit_evidence (permit_id, sealed) VALUES ($1, $2)'

/** @returns false, and nothing is stored, where the account has too much of it already */
export function* keepEvidence(permitId: string, accountId: string, sealed: Uint8Array): Command<boolean> {
  const counted = yield* first(COUNT_EVIDENCE, accountId, sealed.length, MAX_EVIDENCE_BYTES)
  if (counted) yield statement(KEEP_EVIDENCE, permitId, sealed)
  return counted !== undefined
}

/** The request that was approved, sealed. Whose permit it is, the caller has seen to. */
export const getEvidence = command({ kind: 'read' })(function* (
  permitId: string,
): Command<Uint8Array | undefined> {
  const row = yield* first<{ sealed: Uint8Array }>(
    'SELECT sealed FROM permit_evidence WHERE permit_id = $1',
    permitId,
  )
  return row?.sealed
})

/** Removes what is kept beside permits that are removed. */
export function* dropDecisions(
  permits: readonly {
    readonly id: string
    readonly accountId: string
    readonly evidenceBytes: number | null
  }[],
): Command<void> {
  if (permits.length === 0) return
  const ids = permits.map(({ id }) => id)
  yield* all(`DELETE FROM permit_decisions WHERE permit_id IN (${placeholders(ids)})`, ...ids)
  const kept = permits.filter(({ evidenceBytes }) => evidenceBytes !== null)
  if (kept.length === 0) return
  const keptIds = kept.map(({ id }) => id)
  yield* all(`DELETE FROM permit_evidence WHERE permit_id IN (${placeholders(keptIds)})`, ...keptIds)
  const freed = new Map<string, number>()
  for (const { accountId, evidenceBytes } of kept)
    freed.set(accountId, (freed.get(accountId) ?? 0) + (evidenceBytes ?? 0))
  for (const [accountId, bytes] of [...freed].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    yield statement('UPDATE evidence_bytes SET bytes = bytes - $1 WHERE account_id = $2', bytes, accountId)
}

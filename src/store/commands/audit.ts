// The audit log: events join the chain of their account under its lock, in the transaction of the change that they tell of.
import { digestCanonical, toCanonicalJson } from '../../lib/canonical-json.ts'
import type { Actor } from '../../lib/acting.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { AuditChain, AuditEvent, AuditHead, NewAuditEvent } from '../ports/audit.ts'

// The row is locked from here until the transaction ends. It is the last lock that any command takes.
const NEXT = `INSERT INTO audit_chains (chain, seq, hash) VALUES ($1, 1, '')
  ON CONFLICT (chain) DO UPDATE SET seq = audit_chains.seq + 1 RETURNING seq, hash`
const INSERT_EVENT = insertInto('audit_events', ['chain', 'seq', 'body', 'hash'])

/** Adds the event at the end of its chain. */
export function* appendEvent(event: NewAuditEvent, acting: Actor): Command<void> {
  const { chain, at, subject, detail = {} } = event
  const place = (yield* first<{ seq: number; hash: string }>(NEXT, chain)) ?? { seq: 1, hash: '' }
  const document = {
    v: 1,
    chain,
    seq: place.seq,
    at: toTimestamp(at),
    event: event.event,
    actor: event.actor ?? acting,
    subject: subject ?? null,
    detail,
    prev: place.hash === '' ? null : place.hash,
  }
  const hash = digestCanonical(document)
  yield* all(INSERT_EVENT, chain, place.seq, toCanonicalJson(document), hash)
  yield* all('UPDATE audit_chains SET hash = $1 WHERE chain = $2', hash, chain)
}

/** Adds events that no change of the store brings with it, in their order. */
export const appendAuditEvents = command({ kind: 'transaction', touches: 'records' })(function* (
  events: readonly NewAuditEvent[],
  acting: Actor,
): Command<void> {
  // Chains are locked in one order, whichever transaction needs several.
  const inOrder = events.toSorted((a, b) => (a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : 0))
  for (const event of inOrder) yield* appendEvent(event, acting)
})

/**
 * Notes what a document holds now, and adds the event where that is new. True where it is.
 * @param input.digest of its text
 * @param input.formerly what the release before notes of the same text, so that an upgrade is no change
 */
export const noteDocument = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  name: string
  digest: string
  formerly?: string
  event: NewAuditEvent
  acting: Actor
}): Command<boolean> {
  const changed = yield* first(
    `INSERT INTO audit_marks (name, digest) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET digest = $2 WHERE audit_marks.digest NOT IN ($2, $3) RETURNING name`,
    input.name,
    input.digest,
    input.formerly ?? input.digest,
  )
  if (!changed) return false
  yield* appendEvent(input.event, input.acting)
  return true
})

const CHAIN = columns(['chain', 'seq', 'hash', 'signedSeq'])
/** The newest place of a chain; undefined while nothing has happened. */
export const getAuditChain = command({ kind: 'lookup' })(function* (
  chain: string,
): Command<AuditChain | undefined> {
  const row = yield* first<AuditChain>(`SELECT ${CHAIN} FROM audit_chains WHERE chain = $1`, chain)
  return row && { ...row }
})

/** Events behind `after` up to `upTo`, oldest first. */
export const listAuditEvents = command({ kind: 'read' })(function* (input: {
  chain: string
  after: number
  upTo: number
  limit: number
}): Command<readonly AuditEvent[]> {
  const rows = yield* all<AuditEvent>(
    `SELECT seq, hash, body FROM audit_events WHERE chain = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`,
    input.chain,
    input.after,
    input.upTo,
    input.limit,
  )
  return rows.map((row) => ({ ...row }))
})

/** Signed heads of a stretch of the chain, oldest first. */
export const listAuditHeads = command({ kind: 'read' })(function* (input: {
  chain: string
  after: number
  upTo: number
}): Command<readonly AuditHead[]> {
  const rows = yield* all<AuditHead>(
    `SELECT ${columns(['chain', 'seq', 'jws', 'signedAt'])} FROM audit_heads
     WHERE chain = $1 AND seq > $2 AND seq <= $3 ORDER BY seq`,
    input.chain,
    input.after,
    input.upTo,
  )
  return rows.map((row) => ({ ...row }))
})

/** Chains behind `after`, by name, whose newest event no signed head covers. */
export const listUnsignedChains = command({ kind: 'read' })(function* (
  after: string,
  limit: number,
): Command<readonly AuditChain[]> {
  const rows = yield* all<AuditChain>(
    `SELECT ${CHAIN} FROM audit_chains WHERE seq > signed_seq AND chain > $1 ORDER BY chain LIMIT $2`,
    after,
    limit,
  )
  return rows.map((row) => ({ ...row }))
})

/** Keeps a signed head. Of two replicas that sign the same place the first one's stands. */
export const recordAuditHead = command({ kind: 'transaction', touches: 'records' })(function* (
  head: AuditHead,
): Command<void> {
  yield* all(
    `${insertInto('audit_heads', ['chain', 'seq', 'jws', 'signedAt'])} ON CONFLICT (chain, seq) DO NOTHING`,
    head.chain,
    head.seq,
    head.jws,
    head.signedAt,
  )
  yield* all(
    'UPDATE audit_chains SET signed_seq = $1 WHERE chain = $2 AND signed_seq < $1',
    head.seq,
    head.chain,
  )
})

/** The account behind a token that does not sign anybody in any more. */
export interface FormerToken {
  readonly accountId: string
  readonly id: string
  readonly revokedAt: Millis | null
}
/** Finds the service key of this hash, revoked or not; undefined for one that was never made here. */
export const findFormerKey = command({ kind: 'lookup' })(function* (
  keyHash: Buffer,
): Command<FormerToken | undefined> {
  const row = yield* first<FormerToken>(
    `SELECT ${columns(['accountId', 'id', 'revokedAt'])} FROM service_keys WHERE key_hash = $1`,
    keyHash,
  )
  return row && { ...row }
})

// What the authorization server keeps between two requests. The payloads are sealed; rows are found by digests of what is presented.
import { all, columns, type Command, command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import type { GrantedConnection, OauthRow } from '../ports/oauth.ts'
import { MAY_CONNECT } from './connection-locks.ts'

const ROW = columns(['rowHash', 'payload', 'expiresAt', 'consumedAt', 'answeredAt'])

/** Writes a row, or replaces what it says. That it was used, or answered, stays as it is. */
export const putOauthRow = command({ kind: 'statement', touches: 'records' })(function* (input: {
  rowHash: Buffer
  model: string
  grantId: string | undefined
  clientId: string | undefined
  lookupHash: Buffer | undefined
  payload: string
  now: Millis
  expiresAt: Millis
}): Command<void> {
  yield* all(
    `INSERT INTO oauth_rows (row_hash, model, grant_id, client_id, lookup_hash, payload, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (row_hash) DO UPDATE SET grant_id = excluded.grant_id, lookup_hash = excluded.lookup_hash,
       payload = excluded.payload, expires_at = excluded.expires_at`,
    input.rowHash,
    input.model,
    input.grantId,
    input.clientId,
    input.lookupHash,
    input.payload,
    input.now,
    input.expiresAt,
  )
})

const GET_ROW = `SELECT ${ROW} FROM oauth_rows WHERE row_hash = $1`
/** Expired ones are found until they are swept away: the caller looks at the time. */
export const getOauthRow = command({ kind: 'lookup' })(function* (
  rowHash: Buffer,
): Command<OauthRow | undefined> {
  return yield* first<OauthRow>(GET_ROW, rowHash)
})

const FIND_ROW = `SELECT ${ROW} FROM oauth_rows WHERE lookup_hash = $1`
/** The row of a code that a person types. */
export const findOauthRow = command({ kind: 'lookup' })(function* (
  lookupHash: Buffer,
): Command<OauthRow | undefined> {
  return yield* first<OauthRow>(FIND_ROW, lookupHash)
})

/** @returns whether it is the first use: of two at the same time one is */
export const consumeOauthRow = command({ kind: 'statement', touches: 'records' })(function* (input: {
  rowHash: Buffer
  now: Millis
}): Command<boolean> {
  const used = yield* first(
    `UPDATE oauth_rows SET consumed_at = $1 WHERE row_hash = $2 AND consumed_at IS NULL RETURNING row_hash`,
    input.now,
    input.rowHash,
  )
  return used !== undefined
})

/** Writes down what a person decided. @returns whether nobody had decided before: of two answers one counts */
export const answerOauthRow = command({ kind: 'statement', touches: 'records' })(function* (input: {
  rowHash: Buffer
  grantId: string | undefined
  payload: string
  now: Millis
}): Command<boolean> {
  const answered = yield* first(
    `UPDATE oauth_rows SET payload = $1, grant_id = $2, answered_at = $3
     WHERE row_hash = $4 AND answered_at IS NULL AND expires_at > $3 RETURNING row_hash`,
    input.payload,
    input.grantId,
    input.now,
    input.rowHash,
  )
  return answered !== undefined
})

/** Idempotent. */
export const dropOauthRow = command({ kind: 'statement', touches: 'records' })(function* (
  rowHash: Buffer,
): Command<void> {
  yield* all(`DELETE FROM oauth_rows WHERE row_hash = $1`, rowHash)
})

/** The grant, and every code and refresh token of it. Idempotent. */
export const dropOauthGrant = command({ kind: 'statement', touches: 'records' })(function* (
  grantId: string,
): Command<void> {
  yield* all(`DELETE FROM oauth_rows WHERE grant_id = $1`, grantId)
})

const FIND_GRANTED = `SELECT c.id, c.account_id AS "accountId", c.person_id AS "personId", c.client_id AS "clientId",
    c.created_at AS "createdAt", k.expires_at AS "expiresAt", c.revoked_at AS "endedAt", k.revoked_at AS "revokedAt",
    p.disabled_at AS "disabledAt", m.role
  FROM connections c JOIN capabilities k ON k.id = c.capability_id JOIN people p ON p.id = c.person_id
  LEFT JOIN memberships m ON m.account_id = c.account_id AND m.person_id = c.person_id
  WHERE c.grant_id = $1`
/** The connection that a grant opened, ended ones too. */
export const findGrantedConnection = command({ kind: 'lookup' })(function* (
  grantId: string,
): Command<GrantedConnection | undefined> {
  const row = yield* first<
    Omit<GrantedConnection, 'isLive'> & {
      endedAt: Millis | null
      revokedAt: Millis | null
      disabledAt: Millis | null
      role: string | null
    }
  >(FIND_GRANTED, grantId)
  if (!row) return undefined
  const { endedAt, revokedAt, disabledAt, role, ...connection } = row
  const isLive = endedAt === null && revokedAt === null && disabledAt === null && MAY_CONNECT.includes(role)
  return { ...connection, isLive }
})

const DAY_MS = 24 * 3600 * 1000

/**
 * Whatever has expired, clients that registered a day ago and act for nobody, and access tokens that ended a day ago: up to `limit` of
 * each. Called by the sweep of records.ts.
 */
export function* sweepOauth(now: Millis, limit: number): Command<Readonly<Record<string, number>>> {
  const expired = yield* all(
    `DELETE FROM oauth_rows WHERE row_hash IN (
       SELECT row_hash FROM oauth_rows WHERE expires_at <= $1 LIMIT $2) RETURNING row_hash`,
    now,
    limit,
  )
  const unused = yield* all(
    `DELETE FROM oauth_rows WHERE row_hash IN (
       SELECT o.row_hash FROM oauth_rows o WHERE o.model = 'Client' AND o.created_at <= $1 AND NOT EXISTS (
         SELECT 1 FROM connections c WHERE c.client_id = o.client_id AND c.revoked_at IS NULL) LIMIT $2)
     RETURNING row_hash`,
    now - DAY_MS,
    limit,
  )
  const tokens = yield* all(
    `DELETE FROM access_tokens WHERE token_hash IN (
       SELECT token_hash FROM access_tokens WHERE expires_at <= $1 LIMIT $2) RETURNING token_hash`,
    now - DAY_MS,
    limit,
  )
  return { oauth: expired.length + unused.length, accessTokens: tokens.length }
}

// What keeps a connection from being narrowed while it changes: whoever ends or changes connections locks their capabilities first, and
// whoever cuts one from them looks, under the lock on its lineage, whether the connection and its person still stand.
import { all, type Command, first } from '../command.ts'
import type { Millis } from '../model.ts'

/** The roles whose word lets an assistant act: whoever has another one, or none any more, stands behind nothing. */
export const MAY_CONNECT: readonly (string | null)[] = ['owner', 'operator']

const COLUMNS = { connection: 'id', client: 'client_id', person: 'person_id' } as const

/** Which connections of an account: one, all of a client, or all of a person. */
export interface WhichConnections {
  readonly accountId: string
  readonly of: keyof typeof COLUMNS
  readonly id: string
}

/** A condition on `connections`: the account is $1, and the id of whatever it is $2. */
export const isOf = ({ of }: WhichConnections): string => `account_id = $1 AND ${COLUMNS[of]} = $2`

/**
 * Locks every live capability of these connections, until the transaction ends. A statement of its own: only the next one sees what was
 * narrowed while this one waited.
 */
export function* lockConnections(which: WhichConnections): Command<void> {
  yield* all(
    `SELECT id FROM capabilities WHERE revoked_at IS NULL AND id IN (
       SELECT capability_id FROM capability_lineage WHERE ancestor_id IN (
         SELECT capability_id FROM connections WHERE ${isOf(which)}))
     ORDER BY id FOR UPDATE`,
    which.accountId,
    which.id,
  )
}

interface Behind {
  readonly accountId: string
  readonly personId: string
  readonly revokedAt: Millis | null
}

/**
 * Whether the connection with this root stands, and the person who allowed it; asked while the root is locked. The membership is locked
 * too: whoever changes it ends what was narrowed by then.
 * @returns true where it is the root of no connection
 */
export function* lockStanding(rootId: string): Command<boolean> {
  const connection = yield* first<Behind>(
    `SELECT account_id AS "accountId", person_id AS "personId", revoked_at AS "revokedAt" FROM connections WHERE capability_id = $1`,
    rootId,
  )
  if (!connection) return true
  const member = yield* first<{ role: string; disabledAt: Millis | null }>(
    `SELECT role, (SELECT disabled_at FROM people WHERE id = person_id) AS "disabledAt" FROM memberships
     WHERE account_id = $1 AND person_id = $2 FOR SHARE`,
    connection.accountId,
    connection.personId,
  )
  const isMember = member?.disabledAt === null && MAY_CONNECT.includes(member.role)
  return connection.revokedAt === null && isMember
}

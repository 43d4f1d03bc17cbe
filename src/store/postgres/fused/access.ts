// Who an access token is, and what it may use, in one statement of two columns: every call of a connected assistant begins with it, and
// what a driver does with a column costs more than the text in it.
import { all, type Command, snakeCase } from '../../command.ts'
import { ISSUED_FIELDS } from '../../commands/capabilities.ts'
import {
  ACCESS_COLUMNS,
  ACCESS_TABLES,
  type AccessRow,
  type PartRow,
  toFoundAccess,
} from '../../commands/connections.ts'
import type { FoundAccess } from '../../ports/identity.ts'

const objectOf = (columns: Readonly<Record<string, string>>) =>
  `json_build_object(${Object.entries(columns)
    .map(([name, column]) => `'${name}', ${column}`)
    .join(', ')})`

const PART = objectOf(Object.fromEntries(ISSUED_FIELDS.map((name) => [name, `part.${snakeCase(name)}`])))
// A row for each part, which says the rest again: to gather the parts in a query of their own takes twice as long.
const FIND_ACCESS = `SELECT ${objectOf(ACCESS_COLUMNS)} AS found, CASE WHEN part.id IS NOT NULL THEN ${PART} END AS part
  FROM ${ACCESS_TABLES} LEFT JOIN capabilities part ON part.parent_id = k.id AND part.revoked_at IS NULL
  WHERE t.token_hash = $1 ORDER BY part.credential_id`

/** Stands for the command: what it finds nothing for is asked again there. */
export function* findAccessToken(tokenHash: Buffer): Command<FoundAccess | undefined> {
  const rows = yield* all<{ found: AccessRow; part: PartRow | null }>(FIND_ACCESS, tokenHash)
  return (
    rows[0] &&
    toFoundAccess(
      rows[0].found,
      rows.flatMap(({ part }) => part ?? []),
    )
  )
}

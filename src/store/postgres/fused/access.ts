// Who an access token is, and what it may use, in one statement and one column: every call of a connected assistant begins with it, and
// what a driver does with a column costs more than the text in it.
import { type Command, first, snakeCase } from '../../command.ts'
import { ISSUED_FIELDS } from '../../commands/capabilities.ts'
import {
  ACCESS_COLUMNS,
  ACCESS_FROM,
  type AccessRow,
  type PartRow,
  partsOf,
  toFoundAccess,
} from '../../commands/connections.ts'
import type { FoundAccess } from '../../ports/identity.ts'

const objectOf = (columns: Readonly<Record<string, string>>) =>
  `json_build_object(${Object.entries(columns)
    .map(([name, column]) => `'${name}', ${column}`)
    .join(', ')})`

const PART = objectOf(Object.fromEntries(ISSUED_FIELDS.map((name) => [name, snakeCase(name)])))
const FIND_ACCESS = `SELECT ${objectOf({
  ...ACCESS_COLUMNS,
  parts: `(SELECT COALESCE(json_agg(${PART} ORDER BY credential_id), '[]'::json) ${partsOf('k.id')})`,
})} AS found ${ACCESS_FROM}`

/** Stands for the command: what it finds nothing for is asked again there. */
export function* findAccessToken(tokenHash: Buffer): Command<FoundAccess | undefined> {
  const row = yield* first<{ found: AccessRow & { parts: readonly PartRow[] } }>(FIND_ACCESS, tokenHash)
  return row && toFoundAccess(row.found, row.found.parts)
}

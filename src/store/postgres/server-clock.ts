// The clock of the database, which all processes on it share: theirs may be far apart.
import { type Command, first } from '../command.ts'
import { must } from '../../lib/must.ts'
import type { Millis } from '../model.ts'

/** Milliseconds since the epoch. */
export const SERVER_NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

export function* readServerClock(): Command<Millis> {
  const row = yield* first<{ now: Millis }>(`SELECT ${SERVER_NOW} AS now`)
  return must(row, 'the time of the database').now
}

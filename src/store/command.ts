// A domain command is a generator that yields SQL statements and is handed their rows. The same command runs
// synchronously inside the SQLite worker and asynchronously over a PostgreSQL connection; it knows neither.
// Text is PostgreSQL's dialect where both agree: `$1` placeholders, double-quoted aliases, ON CONFLICT, RETURNING.

export type SqlValue = string | number | Uint8Array | null

export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** Runs once (a migration): not worth a prepared statement. */
  readonly once?: boolean
}

export type Row = Readonly<Record<string, unknown>>
export type Command<T> = Generator<Statement, T, readonly Row[]>

/** Thrown by a command that must answer `result` and leave no trace: the driver rolls back, then answers. */
export class Undo<T> {
  readonly result: T
  constructor(result: T) {
    this.result = result
  }
}

/** @param values SQL values; undefined counts as NULL */
export function statement(text: string, ...values: (SqlValue | undefined)[]): Statement {
  for (let i = 0; i < values.length; i++) if (values[i] === undefined) values[i] = null
  return { text, values: values as SqlValue[] }
}

export function* all<R>(text: string, ...values: (SqlValue | undefined)[]): Command<readonly R[]> {
  return (yield statement(text, ...values)) as readonly R[]
}

export function* first<R>(text: string, ...values: (SqlValue | undefined)[]): Command<R | undefined> {
  const rows: readonly unknown[] = yield statement(text, ...values)
  return rows[0] as R | undefined
}

/** Select list from port field names: `accountId` is column `account_id`. */
export function columns(names: readonly string[]): string {
  return names
    .map((name) => {
      const column = snakeCase(name)
      return column === name ? name : `${column} AS "${name}"`
    })
    .join(', ')
}

export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `INSERT INTO table (a, b) VALUES ($1, $2)`; names as in the ports. */
export function insertInto(table: string, names: readonly string[]): string {
  const placeholders = names.map((_, i) => `$${i + 1}`).join(', ')
  return `INSERT INTO ${table} (${names.map(snakeCase).join(', ')}) VALUES (${placeholders})`
}

/** Conditions joined by AND, skipping those whose value is undefined. `$` stands for the value's placeholder. */
export function where(conditions: readonly (readonly [string, SqlValue | undefined])[]): {
  text: string
  values: SqlValue[]
} {
  const values: SqlValue[] = []
  const parts: string[] = []
  for (const [condition, value] of conditions) {
    if (value === undefined) continue
    values.push(value)
    parts.push(condition.replace('$', `$${values.length}`))
  }
  return { text: parts.length === 0 ? 'TRUE' : parts.join(' AND '), values }
}

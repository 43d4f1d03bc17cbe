// A domain command is a generator that yields SQL statements and is handed their rows. The same command runs
// synchronously inside the SQLite worker and asynchronously over a PostgreSQL connection; it knows neither.
// Text is PostgreSQL's dialect where both agree: `$1` placeholders, double-quoted aliases, ON CONFLICT, RETURNING.

export type SqlValue = string | number | Uint8Array | null

export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** A migration's statement runs once and is not worth preparing. */
  readonly once?: boolean
}

export type Row = Readonly<Record<string, unknown>>
export type Command<T> = Generator<Statement, T, readonly Row[]>

/**
 * `access`: rows that say who may do what (keys, credentials, capabilities, mandates), and what a dead process left behind.
 * `records`: money, attempts, permits, claims, and the counters of whatever row.
 */
export type Touched = 'access' | 'records'

/** Facts that the engines need to know of a command to run it. */
export type Traits = Kind & {
  /** Its first argument is the id of the account whose rows it is about. One that takes an object has a member that says so. */
  readonly namesAccount?: true
}

type Kind =
  /**
   * One indexed row, cheap enough for the thread that serves requests. `cached`: an engine that owns its file may keep the
   * row until a command touches `access`.
   */
  | { readonly kind: 'lookup'; readonly cached?: true }
  /** Changes nothing, and needs no transaction of its own. */
  | { readonly kind: 'read' }
  | {
      /** `statement`: one statement, which is atomic by itself. */
      readonly kind: 'statement' | 'transaction'
      readonly touches: Touched
      /** Refused while others may take this process for dead. */
      readonly startsWork?: true
      /**
       * The table whose readers it must not wait behind. Every execution share-locks the rows that it stands on, and PostgreSQL
       * lets more and more sharers in while a writer waits: what is to stop an agent would wait as long as the agent goes on.
       */
      readonly overtakes?: 'credentials' | 'mandates'
      /**
       * The table that nobody else may write to until it is done: it looks whether a row is there, and PostgreSQL has no lock for a row that
       * is not.
       */
      readonly excludesWritersOf?: 'service_keys'
      /**
       * It writes sealed secrets: an engine that owns its file overwrites there what is moved or freed meanwhile. `removed`: one
       * that was there is gone, from the log of writes too, before the answer.
       */
      readonly seals?: 'kept' | 'removed'
    }

/** A command of the port: its statements, and how an engine may run them. */
export interface Definition<A extends readonly unknown[], T> {
  (...args: A): Command<T>
  readonly traits: Traits
}

/**
 * Defines a command of the port, under the name by which its module exports it (commands/index.ts).
 * @returns takes the command's statements: it answers when they have, and all of them take effect or none
 */
export function command(traits: Traits) {
  return <A extends readonly unknown[], T>(run: (...args: A) => Command<T>): Definition<A, T> =>
    Object.assign(run, { traits })
}

/** A command of the port that no engine runs in the same words: each brings its own (`PerEngineName`). */
export interface PerEngine<A extends readonly unknown[], T> extends Definition<A, T> {
  readonly isPerEngine: true
}

/** Defines a command that each engine writes in its own way; see `command`. */
export function perEngine<A extends readonly unknown[], T>(traits: Traits): PerEngine<A, T> {
  const run = (): Command<T> => {
    throw new Error('this command is written once per engine')
  }
  return Object.assign(run, { traits, isPerEngine: true as const })
}

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

/** @returns every row of the statement */
export function* all<R>(text: string, ...values: (SqlValue | undefined)[]): Command<readonly R[]> {
  return (yield statement(text, ...values)) as readonly R[]
}

/** @returns the first row of the statement, if there is one */
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

/** `creditPrice` -> `credit_price`: a member as its column. */
export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `$1, $2` for a list of values that are the statement's first. */
export const placeholders = (values: readonly unknown[]): string =>
  values.map((_, i) => `$${i + 1}`).join(', ')

/** `INSERT INTO table (a, b) VALUES ($1, $2)`; names as in the ports. */
export function insertInto(table: string, names: readonly string[]): string {
  return `INSERT INTO ${table} (${names.map(snakeCase).join(', ')}) VALUES (${placeholders(names)})`
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

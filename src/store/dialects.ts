// The words in which each engine says the same of a table.

export interface Dialect {
  readonly engine: 'sqlite' | 'postgres'
  /** Text compared byte by byte, as ids are. */
  readonly id: string
  readonly int: string
  readonly bytes: string
  /** Suffix of a table kept in primary-key order, and of one that is not. */
  readonly clustered: string
  readonly plain: string
}

export const sqliteDialect: Dialect = {
  engine: 'sqlite',
  id: 'TEXT',
  int: 'INTEGER',
  bytes: 'BLOB',
  clustered: 'STRICT, WITHOUT ROWID',
  plain: 'STRICT',
}
export const postgresDialect: Dialect = {
  engine: 'postgres',
  id: 'TEXT COLLATE "C"',
  int: 'BIGINT',
  bytes: 'BYTEA',
  clustered: '',
  plain: '',
}

/** Operator-edited documents: lowdb JSON files in the data directory, or a table when PostgreSQL is set. */
export interface DocumentStore {
  /** The validated document; the last good copy if a hand edit broke it (and `problem` says so). */
  read<T>(document: DocumentKind<T>): Promise<{ value: T; problem?: string }>
  /** Read-modify-write; refuses (state_conflict) when the file changed underneath. */
  update<T>(document: DocumentKind<T>, change: (value: T) => T): Promise<T>
  close(): Promise<void>
}

export interface DocumentKind<T> {
  readonly name: string
  readonly parse: (value: unknown) => T
  readonly initial: T
}

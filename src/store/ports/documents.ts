import type { DocumentName } from '../documents/names.ts'

/** Operator-edited documents: lowdb JSON files in the data directory, or a table when PostgreSQL is set. */
export interface DocumentStore {
  /** The validated document; the last good copy if a hand edit broke it (and `problem` says so). */
  read<T>(document: DocumentKind<T>): Promise<{ value: T; problem?: string }>
  /** Read-modify-write; refuses (state_conflict) when the file changed underneath. */
  update<T>(document: DocumentKind<T>, change: (value: T) => T): Promise<T>
  /** The text as it stands, whether or not it is valid; undefined where nobody wrote one. `revision` names this very text. */
  readText(document: DocumentKind<unknown>): Promise<{ text: string | undefined; revision: string }>
  /**
   * Puts a text in the place of the one that was read, even where that was not valid.
   * @throws {GatewayError} state_conflict where another text stands there now, which then stays
   */
  replaceText<T>(
    document: DocumentKind<T>,
    next: { readonly text: string; readonly revision: string },
  ): Promise<T>
  close(): Promise<void>
}

export interface DocumentKind<T> {
  readonly name: DocumentName
  readonly parse: (value: unknown) => T
  readonly initial: T
}

// Databases as backups, restores and migrations see them: rows that are read at one moment, and an empty place that takes rows, all or none.
import type { Command, Row } from '../command.ts'

/** Rows as they are committed at one moment, whatever is written meanwhile. */
export interface RowReader {
  readonly engine: 'sqlite' | 'postgres'
  /** Of the tables (migrations.ts). */
  readonly schemaVersion: number
  /** About how much it is, for whoever waits. */
  readonly size: { readonly rows: number; readonly bytes: number }
  /** Columns of a carried table, in the order of its lines; undefined where this version has no such table. */
  columnsOf(table: string): readonly string[] | undefined
  /** Lines of row-text.ts, in pieces of whole lines and in any order. */
  rowsOf(table: string): AsyncIterable<Buffer>
  /** Rows of a statement that changes nothing. */
  query<R extends Row>(text: string): Promise<readonly R[]>
}

export interface RowSource extends RowReader {
  close(): Promise<void>
}

/** An empty database that is being filled. What was loaded can be read before it is committed. */
export interface RowSink extends RowReader {
  /** @throws {TransferFault} where a row is none of this table */
  load(table: string, columns: readonly string[], pieces: AsyncIterable<Buffer>): Promise<void>
  /** Runs a command in the transaction of the load. */
  run<T>(command: () => Command<T>): Promise<T>
  /** Writes the text of a document in place of the one that was loaded, which is undefined where there is none. */
  replaceDocument(name: string, change: (json: string | undefined) => string): Promise<void>
  /** Brings the tables to the version of this release. */
  upgrade(now: number): Promise<void>
  /** From here on everything is there; without it nothing is. */
  commit(): Promise<void>
  /** Undoes what was not committed. */
  close(): Promise<void>
}

/** What stands in the way, in words for the operator that say what to do. */
export class TransferFault extends Error {
  override readonly name = 'TransferFault'
}

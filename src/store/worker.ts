// The thread that owns the writing SQLite connection. Group commit: all commands that have arrived share one transaction, a
// failed one rolls back alone, and answers are posted only after COMMIT has returned.
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { audited, isAudited } from './audited.ts'
import { type Command, Undo } from './command.ts'
import { type CommandName, isRead, isSingle, sealsOf } from './commands/index.ts'
import { type Failure, toFailure } from './failure.ts'
import { sqliteDialect } from './dialects.ts'
import { openTables } from './table-terms.ts'
import { createMerger } from './sqlite/write-behind.ts'
import { openDatabase, type SqliteDatabase } from './sqlite/database.ts'
import { damaged, explainOpenFailure } from './sqlite/open-failure.ts'
import { sqliteCommands } from './sqlite/fused.ts'

export interface WorkerInput {
  readonly port: MessagePort
  readonly file: string
}
/** Name and arguments of each command, flat: half the objects to clone. */
export type Batch = readonly unknown[]
/** Results are in the order of the commands. `failures` holds the index and reason of those that failed. */
export interface Answers {
  readonly values: readonly unknown[]
  readonly failures: readonly (readonly [index: number, failure: Failure])[]
}
/** `problem`: why the file cannot be opened, in words for the operator. */
export type WorkerMessage = { ready: true } | { problem: string } | Answers

/** Longer transactions gain nothing more and make the first command in them wait. */
const MAX_GROUP = 128

/** The file is shorter than it says of itself. */
class Cut extends Error {}

const { port, file } = workerData as WorkerInput
const db = open()

const merge = createMerger(db)
const waiting: unknown[] = []

port.on('message', (message: Batch | 'close') => {
  // Whatever else has arrived meanwhile shares the transaction.
  for (let next: Batch | 'close' | undefined = message; next !== undefined; next = receive()) {
    if (next === 'close') return close()
    for (const part of next) waiting.push(part)
    if (waiting.length >= MAX_GROUP * 2) runGroup()
  }
  while (waiting.length > 0) runGroup()
})
port.postMessage({ ready: true } satisfies WorkerMessage)

/** Where that fails, the thread says so in words and ends. */
function open(): SqliteDatabase {
  try {
    const opened = openDatabase(file)
    // A migration may remove what is secret.
    opened.overwriting(() => {
      opened.exec('BEGIN IMMEDIATE')
      opened.drive(openTables(sqliteDialect, Date.now()))
      opened.exec('COMMIT')
    })
    opened.emptyLog()
    if (opened.isCut(file)) throw new Cut()
    return opened
  } catch (thrown) {
    const problem = thrown instanceof Cut ? damaged(file) : explainOpenFailure(file, thrown)
    if (problem === undefined) throw thrown
    port.postMessage({ problem } satisfies WorkerMessage)
    process.exit()
  }
}

function receive(): Batch | 'close' | undefined {
  return (receiveMessageOnPort(port) as { message: Batch | 'close' } | undefined)?.message
}

function runGroup(): void {
  const group = waiting.splice(0, MAX_GROUP * 2)
  // A savepoint copies every page it touches, and hardly a command fails after it wrote something. So the group runs
  // without them first; when one does fail, all of it is rolled back and run again, each in a savepoint of its own.
  const commit = () => commitGroup(group, 'together') ?? commitGroup(group, 'contained')
  const seals = group.map((part, i) => (i % 2 === 0 ? sealsOf(part as CommandName) : undefined))
  const answers = seals.some(Boolean) ? db.overwriting(commit) : commit()
  if (seals.includes('removed')) db.emptyLog()
  port.postMessage(answers)
  merge(group.length / 2)
}

/** @returns undefined when a command failed and there were no savepoints to contain it */
function commitGroup(group: readonly unknown[], how: 'contained'): Answers
function commitGroup(group: readonly unknown[], how: 'together'): Answers | undefined
function commitGroup(group: readonly unknown[], how: 'contained' | 'together'): Answers | undefined {
  const run = how === 'contained' ? runContained : runPlain
  const values: unknown[] = []
  const failures: [number, Failure][] = []
  const writes = group.some((part, i) => i % 2 === 0 && !isRead(part as CommandName))
  try {
    if (writes) db.begin()
    for (let i = 0; i < group.length; i += 2) {
      const name = group[i] as CommandName
      const args = group[i + 1] as unknown[]
      try {
        values.push(run(name, args))
      } catch (thrown) {
        if (how === 'together' && !isRead(name)) {
          db.rollback()
          return undefined
        }
        failures.push([values.length, toFailure(thrown)])
        values.push(undefined)
      }
    }
    if (writes) db.commit()
    return { values, failures }
  } catch (thrown) {
    // The transaction as a whole failed (disk full, input/output error): nobody in it may believe otherwise.
    if (writes) db.rollback()
    const failure = toFailure(thrown)
    return { values: [], failures: Array.from({ length: group.length / 2 }, (_, i) => [i, failure]) }
  }
}

function runPlain(name: CommandName, args: unknown[]): unknown {
  const start = sqliteCommands[name] as (...args: unknown[]) => Command<unknown>
  return db.drive(audited(name, start)(...args))
}

function runContained(name: CommandName, args: unknown[]): unknown {
  if (isSingle(name) && !isAudited(name)) return runPlain(name, args)
  db.exec('SAVEPOINT command')
  try {
    const value = runPlain(name, args)
    db.exec('RELEASE command')
    return value
  } catch (thrown) {
    db.exec('ROLLBACK TO command')
    db.exec('RELEASE command')
    if (thrown instanceof Undo) return thrown.result
    throw thrown
  }
}

function close(): void {
  while (waiting.length > 0) runGroup()
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  port.close()
}

// The embedded engine, seen from the main thread: writes and lists go to the worker in batches, point reads use a
// read-only connection here. An answer is posted after its COMMIT, so such a read sees every acknowledged write.
import { once } from 'node:events'
import { join } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { ConfigError } from '../../core/errors.ts'
import { createBatcher } from '../../lib/batcher.ts'
import type { Logger } from '../../lib/log.ts'
import { makeDirectory } from '../make-directory.ts'
import type { Command } from '../command.ts'
import { type CommandName, commands, traitsOf } from '../commands/index.ts'
import { storeClosed, toFailure, toStoreError } from '../failure.ts'
import type { Store } from '../ports.ts'
import { storeOf } from '../engine-store.ts'
import type { Answers, WorkerInput, WorkerMessage } from '../worker.ts'
import { openDatabase } from './database.ts'
import { lockDirectory } from './lock.ts'
import { refuseEmptied, refuseUnfinished } from './open-failure.ts'
import { refuseMoved } from './moved.ts'
import { closeToOthers } from './private-files.ts'
import { createRowCache } from './row-cache.ts'

interface Waiting {
  readonly name: CommandName
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

/** How long a command may wait for others: its commit alone takes as much or more. */
const MAX_BATCH_WAIT_MS = 1

/** sysexits.h EX_SOFTWARE */
const EXIT_CRASHED = 70

const lastWord = (port: MessagePort): WorkerMessage | undefined =>
  (receiveMessageOnPort(port) as { message: WorkerMessage } | undefined)?.message

/**
 * Opens the store of one process in `dataDir`, which it makes and locks.
 * @throws {ConfigError} when another process owns the directory, or its files cannot be opened
 */
export async function openSqliteStore(parts: {
  dataDir: string
  log: Logger
  /** URL of the thread's code; where none is given, it is found beside this file (source) or beside the bundle. */
  workerUrl?: URL
}): Promise<Store> {
  const { dataDir, log } = parts
  makeDirectory(dataDir)
  const file = join(dataDir, 'gateway.db')
  refuseUnfinished(dataDir)
  refuseMoved(dataDir)
  refuseEmptied(dataDir, file)
  const lock = lockDirectory(dataDir)
  closeToOthers(join(dataDir, 'lock.db'))
  closeToOthers(file)
  const { port1: port, port2 } = new MessageChannel()
  const input: WorkerInput = { port: port2, file }
  const worker = new Worker(parts.workerUrl ?? workerUrl(), {
    name: 'store',
    workerData: input,
    transferList: [port2],
    // Node 22 calls node:sqlite experimental on stderr, once a thread; the launcher sees to the main one.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The thread's heap holds one group of commands: a large young generation would be memory that is never given back.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  })

  let waiting: Waiting[] = []
  let outbox: unknown[] = []
  let closing: Promise<void> | undefined
  let isOpen = false

  // Everything that the thread acknowledged is on disk, and nobody was told of the rest: to start anew is the safe way on.
  worker.on('error', (thrown) => {
    if (!isOpen) return
    log.fatal({ err: thrown }, 'the store thread failed: the process ends')
    process.exit(EXIT_CRASHED)
  })
  worker.on('exit', () => {
    if (!isOpen || closing) return
    log.fatal('the store thread ended: the process ends')
    process.exit(EXIT_CRASHED)
  })

  try {
    const said = await Promise.race([
      once(port, 'message').then(([message]) => message as WorkerMessage),
      // Its end may be heard of before what it said last.
      once(worker, 'exit').then(([code]) => lastWord(port) ?? Promise.reject(code)),
    ])
    if ('problem' in said) throw new ConfigError([`GATEWAY_DATA_DIR: ${said.problem}`])
  } catch (thrown) {
    lock.release()
    port.close()
    throw thrown
  }
  isOpen = true

  port.on('message', ({ values, failures }: Answers) => {
    const count = Math.max(values.length, failures.length)
    const answered = waiting.slice(0, count)
    waiting = waiting.slice(count)
    // The cache forgets before anybody learns of the change, so that nobody reads the old row after it.
    for (const { name } of answered) rows.after(name)
    const failed = new Map(failures)
    for (const [index, { resolve, reject }] of answered.entries()) {
      const failure = failed.get(index)
      if (failure) reject(toStoreError(failure))
      else resolve(values[index])
    }
  })

  function flush(): void {
    port.postMessage(outbox)
    outbox = []
  }
  // A message and a commit cost as much for one command as for twenty. The thread takes together what comes while it commits.
  const batcher = createBatcher({
    count: () => outbox.length,
    maxMs: MAX_BATCH_WAIT_MS,
    now: () => performance.now(),
    flush() {
      if (outbox.length > 0) flush()
    },
  })
  function send(name: CommandName, args: unknown[]): Promise<unknown> {
    if (closing) return Promise.reject(storeClosed())
    return new Promise((resolve, reject) => {
      waiting.push({ name, resolve, reject })
      outbox.push(name, args)
      batcher.add()
    })
  }

  const reader = openDatabase(file, { readOnly: true })
  const rows = createRowCache()
  function read(name: CommandName, args: unknown[]): Promise<unknown> {
    if (closing) return Promise.reject(storeClosed())
    try {
      const start = commands[name] as (...args: unknown[]) => Command<unknown>
      return Promise.resolve(rows.through(name, args, () => reader.drive(start(...args))))
    } catch (thrown) {
      return Promise.reject(toStoreError(toFailure(thrown), thrown))
    }
  }

  async function shutDown(): Promise<void> {
    if (outbox.length > 0) flush()
    reader.close()
    // The last answers come through the port, which closes after them; the exit may overtake both.
    const ended = Promise.all([once(worker, 'exit'), once(port, 'close')])
    port.postMessage('close')
    await ended
    for (const { reject } of waiting) reject(storeClosed())
    lock.release()
  }

  return storeOf({
    engine: 'sqlite',
    run: (name, args) => (traitsOf(name).kind === 'lookup' ? read(name, args) : send(name, args)),
    async health() {
      const started = performance.now()
      await send('listPublishedKeys', [])
      const detail = `SQLite ${process.versions['sqlite'] ?? ''}, WAL, synchronous=FULL, ${waiting.length} waiting`
      return { ok: true, latencyMs: performance.now() - started, detail }
    },
    close: () => (closing ??= shutDown()),
  })
}

function workerUrl(): URL {
  // This file is src/store/sqlite/store.ts when run from source; bundled, it is a chunk beside store-worker.js.
  return import.meta.url.endsWith('.ts')
    ? new URL('../worker.ts', import.meta.url)
    : new URL('./store-worker.js', import.meta.url)
}

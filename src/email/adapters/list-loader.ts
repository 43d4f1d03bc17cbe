// Starts the process that compacts the lists, and opens what it writes. A process and not a thread: a thread leaves forty
// megabytes behind that the allocator does not give back. Its bytes come through a pipe and not as messages: what is not a
// message ends the process that it is sent to.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { GatewayError } from '../../core/errors.ts'
import { decodeLists } from '../list-codec.ts'
import { type DomainLists, openLists } from '../lists.ts'

export interface ListLoader {
  /** @throws {GatewayError} overloaded: the process did not bring them; draining */
  load(): Promise<DomainLists>
  /** Ends what is being loaded. */
  close(): Promise<void>
}

/** Half a second of work; a machine may be busy. */
const PATIENCE_MS = 60_000
/** The heap of the process, both generations: what it needs, with room for a refreshed list of the largest size. */
const HEAP = ['--max-old-space-size=512', '--max-semi-space-size=16']
/** As in cli/launcher.ts: without it a process may never end, and one that has just done work in a small heap the soonest. */
const ENDS_FOR_CERTAIN = '--no-concurrent-sparkplug'
/** Three times what comes of a refreshed list of the largest size. */
const MAX_BYTES = 64 * 1024 * 1024

/** LISTS_FD in that process. */
const LISTS_PIPE = 3

/** @param parts.program replaces the one of the product, in tests */
export function createListLoader(parts: { readonly dataDir: string; readonly program?: string }): ListLoader {
  const running = new Map<ChildProcess, Promise<unknown>>()
  let isClosed = false

  async function load(): Promise<DomainLists> {
    const program = parts.program ?? (await import('./lists-process.ts')).LISTS_PROGRAM
    if (isClosed) throw draining()
    const child = start(program, parts.dataDir)
    const { promise: gone, resolve: end } = Promise.withResolvers<void>()
    running.set(child, gone)
    // The option of spawn does not serve: its timer outlives a process that was never started.
    const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    try {
      const lists = decodeLists(await readAll(child))
      if (!lists) throw new Error('what it wrote is no table')
      return openLists(lists)
    } catch (cause) {
      throw isClosed ? draining() : failed(cause)
    } finally {
      clearTimeout(patience)
      running.delete(child)
      end()
    }
  }

  return {
    load,
    async close() {
      isClosed = true
      for (const child of running.keys()) child.kill('SIGKILL')
      await Promise.all(running.values())
    },
  }
}

function start(program: string, dataDir: string): ChildProcess {
  try {
    return spawn(process.execPath, [...HEAP, ENDS_FOR_CERTAIN, program, dataDir], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
  } catch (cause) {
    throw failed(cause)
  }
}

/** @throws {Error} when the process ends in any other way than well */
function readAll(child: ChildProcess): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let size = 0
  // A process without an id was never started: there is no end of it, and no pipe where descriptors ran out.
  child.on('error', (thrown) => child.pid === undefined && reject(thrown))
  const pipe = (child.stdio as ChildProcess['stdio'] | undefined)?.[LISTS_PIPE] as Readable | undefined
  pipe?.on('error', () => {})
  pipe?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_BYTES) chunks.push(chunk)
    else child.kill('SIGKILL')
  })
  // This event comes behind the last byte, which may come after the exit.
  child.on('close', (code, signal) =>
    code === 0
      ? resolve(Buffer.concat(chunks.splice(0)))
      : reject(new Error(`it ended with ${signal ?? code}`)),
  )
  return promise
}

const draining = () => new GatewayError('draining', 'The gateway is shutting down. Try again.')
const failed = (cause: unknown) =>
  new GatewayError('overloaded', 'The lists of domains could not be loaded. Try again in a second.', {
    reason: 'email_lists',
    cause: new Error('the process that compacts the lists failed', { cause }),
    extras: { retry_after_seconds: 1 },
  })

// Starts the process that packs the lists, and opens what it sends. A process and not a thread: a thread leaves forty
// megabytes behind that the allocator does not give back.
import { type ChildProcess, fork } from 'node:child_process'
import { GatewayError } from '../../errors.ts'
import { type DomainLists, openLists } from '../lists.ts'
import type { PackedLists } from '../sources.ts'

export interface ListLoader {
  /** @throws {GatewayError} overloaded: the process did not bring them; draining */
  load(): Promise<DomainLists>
  /** Ends what is being loaded. */
  close(): Promise<void>
}

/** Half a second of work; a machine may be busy. */
const PATIENCE_MS = 60_000
/** Of both its generations: what it needs, with room for a refreshed list of the largest size. */
const HEAP = ['--max-old-space-size=512', '--max-semi-space-size=16']

/** @param parts.program replaces the one of the product, in tests */
export function createListLoader(parts: { readonly dataDir: string; readonly program?: string }): ListLoader {
  const running = new Map<ChildProcess, Promise<unknown>>()
  let isClosed = false

  async function load(): Promise<DomainLists> {
    const program = parts.program ?? (await import('./lists-process.ts')).LISTS_PROGRAM
    if (isClosed) throw draining()
    const child = fork(program, [parts.dataDir], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: HEAP,
      serialization: 'advanced',
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    const { promise: packed, resolve, reject } = Promise.withResolvers<PackedLists>()
    const { promise: gone, resolve: end } = Promise.withResolvers<void>()
    running.set(child, gone)
    const leave = (why: string) => {
      running.delete(child)
      end()
      reject(isClosed ? draining() : failed(why))
    }
    child.on('message', (message) => resolve(message as PackedLists))
    // Without an id it was never started, and there is no exit.
    child.on('error', ({ message }) => child.pid === undefined && leave(message))
    // Behind the last message, which may come after the exit.
    child.on('close', (code, signal) => leave(signal ?? `exit ${code}`))
    return openLists(await packed)
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

const draining = () => new GatewayError('draining', 'The gateway is shutting down. Try again.')
const failed = (why: string) =>
  new GatewayError('overloaded', 'The lists of domains could not be loaded. Try again in a second.', {
    reason: 'email_lists',
    cause: new Error(`the process that packs the lists ended: ${why}`),
    extras: { retry_after_seconds: 1 },
  })

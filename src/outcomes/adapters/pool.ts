// Worker threads that run the analyses: started when needed, ended when idle, replaced when one is cut off.
import { availableParallelism } from 'node:os'
import { GatewayError } from '../../errors.ts'
import type { Analyser } from '../ports.ts'
import { type Job, startThread, type Thread } from './thread.ts'

export interface PoolOptions {
  /** Threads at most. */
  readonly workers?: number
  /** Wall time of one analysis, from when a thread has it. */
  readonly budgetMs?: number
  /** A pool that did nothing for so long ends its threads. */
  readonly idleMs?: number
  /** Analyses that may wait for a thread, and for how long. */
  readonly maxWaiting?: number
  readonly maxWaitMs?: number
  /** Where the thread's code is; found beside this file (source) or beside the bundle. */
  readonly workerUrl?: URL
}

const DEFAULTS = { budgetMs: 2000, idleMs: 60_000, maxWaiting: 256, maxWaitMs: 10_000 }

/** See `Analyser`. The first analysis starts the first thread. */
export function createAnalyserPool(options: PoolOptions = {}): Analyser {
  const { budgetMs, idleMs, maxWaiting, maxWaitMs } = { ...DEFAULTS, ...options }
  const maxThreads = options.workers ?? Math.min(2, availableParallelism())
  const url = options.workerUrl ?? workerUrl()
  const threads = new Set<Thread>()
  // In the order they came. Each has until its timer: behind pages made to be slow the queue hardly moves.
  const waiting = new Map<Job, NodeJS.Timeout>()
  let idleTimer: NodeJS.Timeout | undefined
  let closing: Promise<void> | undefined

  function dispatch(): void {
    clearTimeout(idleTimer)
    for (const [job, timer] of waiting) {
      const thread = [...threads].find(({ isFree }) => isFree()) ?? addThread()
      if (!thread) return
      waiting.delete(job)
      clearTimeout(timer)
      thread.run(job)
    }
    if (threads.size > 0 && [...threads].every(({ isFree }) => isFree()))
      idleTimer = setTimeout(() => void stopThreads(), idleMs).unref()
  }

  function addThread(): Thread | undefined {
    // One that is being cut off counts until it is gone: it may still be using a core.
    if (threads.size >= maxThreads || closing) return undefined
    const thread = startThread({
      url,
      budgetMs,
      onFree: dispatch,
      onEnd() {
        threads.delete(thread)
        dispatch()
      },
    })
    threads.add(thread)
    return thread
  }

  async function stopThreads(): Promise<void> {
    await Promise.all([...threads].map((thread) => thread.stop()))
  }

  async function shutDown(): Promise<void> {
    clearTimeout(idleTimer)
    for (const [{ reject }, timer] of waiting) {
      clearTimeout(timer)
      reject(draining())
    }
    waiting.clear()
    await stopThreads()
  }

  return {
    async run(name, input) {
      if (closing) throw draining()
      if (waiting.size >= maxWaiting) throw overloaded()
      return new Promise((resolve, reject) => {
        const job: Job = { name, input, resolve, reject }
        const giveUp = () => {
          waiting.delete(job)
          reject(overloaded())
        }
        waiting.set(job, setTimeout(giveUp, maxWaitMs))
        dispatch()
      })
    },
    close: () => (closing ??= shutDown()),
  }
}

const draining = () => new GatewayError('draining', 'The gateway is shutting down. Try again.')
const overloaded = () =>
  new GatewayError('overloaded', 'Too many pages are waiting to be read. Try again in a second.', {
    reason: 'analyses_waiting',
    extras: { retry_after_seconds: 1 },
  })

function workerUrl(): URL {
  // From source this file is src/outcomes/adapters/pool.ts; bundled, it is in a chunk beside outcome-worker.js.
  return import.meta.url.endsWith('.ts')
    ? new URL('./worker.ts', import.meta.url)
    : new URL('./outcome-worker.js', import.meta.url)
}

// Keeps the processes that run the analyses: started when needed, ended when idle, replaced when one is cut off.
import { availableParallelism } from 'node:os'
import { GatewayError } from '../../core/errors.ts'
import type { Analyser, AnalyserLoad } from '../ports.ts'
import { type Child, type Job, startChild } from './child.ts'

export interface AnalysisTimes {
  /** Wall time of one analysis, from when a process has it. */
  readonly budgetMs?: number
  /** For how long an analysis may wait for a process. */
  readonly maxWaitMs?: number
  /** Loading the code on a busy machine; not part of anybody's budget. */
  readonly startMs?: number
}

export interface PoolOptions extends AnalysisTimes {
  /** Processes at most. */
  readonly workers?: number
  /** A pool that did nothing for so long ends its processes. */
  readonly idleMs?: number
  /** Analyses that may wait for a process. */
  readonly maxWaiting?: number
  /** The code of the process; found beside this file (source) or beside the bundle. */
  readonly workerUrl?: URL
}

const DEFAULTS = { budgetMs: 2000, idleMs: 60_000, maxWaiting: 256, maxWaitMs: 10_000, startMs: 15_000 }

/** See `Analyser`. The first analysis starts the first process. */
export function createAnalyserPool(options: PoolOptions = {}): Analyser & { load(): AnalyserLoad } {
  const { budgetMs, idleMs, maxWaiting, maxWaitMs, startMs } = { ...DEFAULTS, ...options }
  const maxChildren = options.workers ?? Math.min(2, availableParallelism())
  const url = options.workerUrl ?? workerUrl()
  const children = new Set<Child>()
  // Jobs are in the order they came, each with the timer that ends its wait: behind pages made to be slow the queue hardly
  // moves.
  const waiting = new Map<Job, NodeJS.Timeout>()
  let idleTimer: NodeJS.Timeout | undefined
  let closing: Promise<void> | undefined

  function dispatch(): void {
    clearTimeout(idleTimer)
    for (const [job, timer] of waiting) {
      const child = [...children].find(({ isFree }) => isFree()) ?? addChild()
      if (!child) return
      waiting.delete(job)
      clearTimeout(timer)
      child.run(job)
    }
    if (children.size > 0 && [...children].every(({ isFree }) => isFree()))
      idleTimer = setTimeout(() => void stopChildren(), idleMs).unref()
  }

  function addChild(): Child | undefined {
    // A process that is being cut off counts until it is gone: it may still be using a core.
    if (children.size >= maxChildren || closing) return undefined
    const child = startChild({
      url,
      budgetMs,
      startMs,
      onFree: dispatch,
      onEnd() {
        children.delete(child)
        dispatch()
      },
    })
    children.add(child)
    return child
  }

  async function stopChildren(): Promise<void> {
    await Promise.all([...children].map((child) => child.stop()))
  }

  async function shutDown(): Promise<void> {
    clearTimeout(idleTimer)
    for (const [{ reject }, timer] of waiting) {
      clearTimeout(timer)
      reject(draining())
    }
    waiting.clear()
    await stopChildren()
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
    load: () => ({
      processes: children.size,
      busy: [...children].filter(({ isFree }) => !isFree()).length,
      waiting: waiting.size,
    }),
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
  // This file is src/outcomes/adapters/pool.ts when run from source; bundled, it is in a chunk beside outcome-worker.js.
  return import.meta.url.endsWith('.ts')
    ? new URL('./worker.ts', import.meta.url)
    : new URL('./outcome-worker.js', import.meta.url)
}

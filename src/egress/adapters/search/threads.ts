// The threads that search long responses: started when needed, ended when idle, replaced when one dies or hangs. Accounts take
// turns, and none of them holds every thread, so that whoever is sent hostile answers waits for them alone.
import { availableParallelism } from 'node:os'
import { createFairQueue } from '../../../lib/fair-queue.ts'
import type { Logger } from '../../../lib/log.ts'
import type { LeakVerdict, SearchThreads } from '../../leak/inspection.ts'
import { type Job, type SearchThread, startSearchThread } from './thread.ts'

export interface SearchThreadsOptions {
  readonly log: Logger
  /** Threads at most, and how many of them one account may have. */
  readonly threads?: number
  readonly threadsOfAccount?: number
  readonly maxMs?: number
  /** A thread that nobody needed for so long ends, and what its heap still held goes with it. */
  readonly idleMs?: number
  /** Beyond these a response is refused: how long it waits, and how many bytes are being searched or wait for it. */
  readonly maxWaitMs?: number
  readonly maxBytesOfAccount?: number
  readonly maxBytes?: number
  /** The code of the thread; found beside this file (source) or beside the bundle. */
  readonly workerUrl?: URL
}

export interface OpenSearchThreads extends SearchThreads {
  load(): { readonly threads: number; readonly busy: number; readonly waiting: number }
  /** Refuses what is not searched yet and ends every thread. */
  close(): Promise<void>
}

const MIB = 1 << 20
const DEFAULTS = {
  maxMs: 30_000,
  idleMs: 5_000,
  maxWaitMs: 30_000,
  maxBytesOfAccount: 128 * MIB,
  maxBytes: 384 * MIB,
}
/** One core is the event loop's. There are two all the same: one account has one of them at most. */
const defaultThreads = () => Math.max(2, Math.min(4, availableParallelism() - 1))

interface Waiting extends Job {
  readonly accountId: string
  readonly bytes: number
  readonly timer: NodeJS.Timeout
}

/** See `SearchThreads`. The first search starts the first thread. */
export function openSearchThreads(options: SearchThreadsOptions): OpenSearchThreads {
  const { maxMs, idleMs, maxWaitMs, maxBytesOfAccount, maxBytes } = { ...DEFAULTS, ...options }
  const maxThreads = options.threads ?? defaultThreads()
  const maxOfAccount = options.threadsOfAccount ?? Math.max(1, maxThreads - 1)
  const url = options.workerUrl ?? workerUrl()
  const threads = new Set<SearchThread>()
  const waiting = createFairQueue<Waiting>()
  const running = createTally()
  const bytes = createTally()
  let idleTimer: NodeJS.Timeout | undefined
  let closing: Promise<void> | undefined

  function dispatch(): void {
    clearTimeout(idleTimer)
    while (waiting.size > 0) {
      const free = [...threads].find((thread) => thread.isFree())
      if (!free && (threads.size >= maxThreads || closing)) break
      const job = waiting.take((accountId) => running.of(accountId) < maxOfAccount)
      if (!job) break
      clearTimeout(job.timer)
      running.add(job.accountId, 1)
      ;(free ?? addThread()).run({
        ...job,
        resolve(verdict) {
          running.add(job.accountId, -1)
          job.resolve(verdict)
        },
      })
    }
    if (threads.size > 0 && running.total() === 0)
      idleTimer = setTimeout(() => void stopThreads(), idleMs).unref()
  }

  function addThread(): SearchThread {
    const thread = startSearchThread({
      url,
      maxMs,
      onFree: dispatch,
      onEnd(why) {
        threads.delete(thread)
        if (why !== 'stopped')
          options.log.error(
            { event: 'search_thread_ended', reason: why },
            'a thread that searches responses ended',
          )
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
    for (const { timer, resolve } of waiting.takeAll()) {
      clearTimeout(timer)
      resolve({ ok: false, reason: 'failed' })
    }
    await stopThreads()
  }

  return {
    async search(accountId, sought, response): Promise<LeakVerdict> {
      if (closing) return { ok: false, reason: 'failed' }
      const size = response.body.length
      if (bytes.of(accountId) + size > maxBytesOfAccount || bytes.total() + size > maxBytes)
        return { ok: false, reason: 'busy' }
      bytes.add(accountId, size)
      try {
        return await new Promise<LeakVerdict>((resolve) => {
          const timer = setTimeout(() => {
            if (waiting.remove(accountId, job)) resolve({ ok: false, reason: 'busy' })
          }, maxWaitMs)
          const job: Waiting = { accountId, bytes: size, sought, response, resolve, timer }
          waiting.add(accountId, job)
          dispatch()
        })
      } finally {
        bytes.add(accountId, -size)
      }
    },
    load: () => ({ threads: threads.size, busy: running.total(), waiting: waiting.size }),
    close: () => (closing ??= shutDown()),
  }
}

/** How much of something each account has; who has nothing takes no memory. */
function createTally() {
  const byOwner = new Map<string, number>()
  let total = 0
  return {
    of: (owner: string) => byOwner.get(owner) ?? 0,
    total: () => total,
    add(owner: string, more: number) {
      const now = (byOwner.get(owner) ?? 0) + more
      total += more
      if (now === 0) byOwner.delete(owner)
      else byOwner.set(owner, now)
    },
  }
}

function workerUrl(): URL {
  // This file is src/egress/adapters/search/threads.ts when run from source; bundled, it is in a chunk beside search-worker.js.
  return import.meta.url.endsWith('.ts')
    ? new URL('./worker.ts', import.meta.url)
    : new URL('./search-worker.js', import.meta.url)
}

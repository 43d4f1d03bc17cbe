// Work that takes longer than somebody waits for a page: it goes on when they leave, says how far it is, and is found again when they come
// back. Jobs live in the memory of the process that runs them; one that ends with it is simply begun again.
import type { LiveEvents } from './live-events.ts'
import { newId } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import { GatewayError } from './errors.ts'

export interface Job<R extends object = object> {
  readonly id: string
  /** Name of the work, such as `backup`. */
  readonly kind: string
  readonly accountId: string
  /** Id of who began it. */
  readonly by: string
  readonly state: 'running' | 'done' | 'failed'
  /** How far it is, out of `total`; null where nobody knows. */
  readonly done: number
  readonly total: number | null
  /** Set when it is done. */
  readonly result: R | null
  /** Why it failed, in words that may be shown. */
  readonly error: string | null
  readonly startedAt: number
  readonly endedAt: number | null
}

export type Report = (done: number, total: number | null) => void

export interface Jobs {
  /**
   * Begins the work, or answers with the one of this kind and account that runs already.
   * @param work what it throws ends the job; only the words of a GatewayError are shown
   */
  begin<R extends object>(
    what: {
      readonly kind: string
      readonly accountId: string
      readonly by: string
      readonly admin?: boolean
    },
    work: (report: Report, signal: AbortSignal) => Promise<R>,
  ): Job<R>
  /** The newest of this kind for the account. */
  latest<R extends object>(accountId: string, kind: string): Job<R> | undefined
}

export interface OpenJobs extends Jobs {
  /** Stops what runs. */
  close(): Promise<void>
}

/** Pages hear of progress this often. */
const TELL_MS = 250
/** The oldest that ended is forgotten beyond so many. */
const KEPT = 200

/** @param now milliseconds since the epoch */
export function createJobs({
  live,
  log,
  now,
}: {
  readonly live: Pick<LiveEvents, 'publish'>
  readonly log: Logger
  readonly now: () => number
}): OpenJobs {
  const newest = new Map<string, Job>()
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>()
  const keyOf = (accountId: string, kind: string) => `${accountId} ${kind}`

  function forgetOldest(): void {
    if (newest.size <= KEPT) return
    for (const [key, { state }] of newest) {
      if (state === 'running') continue
      newest.delete(key)
      return
    }
  }

  return {
    begin<R extends object>(
      {
        kind,
        accountId,
        by,
        admin = false,
      }: {
        readonly kind: string
        readonly accountId: string
        readonly by: string
        readonly admin?: boolean
      },
      work: (report: Report, signal: AbortSignal) => Promise<R>,
    ): Job<R> {
      const key = keyOf(accountId, kind)
      const before = newest.get(key)
      if (before?.state === 'running') return before as Job<R>
      const startedAt = now()
      const stop = new AbortController()
      let job: Job<R> = {
        id: newId('job', startedAt),
        kind,
        accountId,
        by,
        state: 'running',
        done: 0,
        total: null,
        result: null,
        error: null,
        startedAt,
        endedAt: null,
      }
      let toldAt = 0
      function become(part: Partial<Job<R>>): void {
        job = { ...job, ...part }
        newest.set(key, job)
        if (job.state === 'running' && now() - toldAt < TELL_MS) return
        toldAt = now()
        const { id, state, done, total } = job
        live.publish({ accountId, admin }, 'job', { id, kind, state, done, total })
      }
      newest.delete(key)
      become({})
      forgetOldest()
      const report: Report = (done, total) => {
        if (job.state === 'running') become({ done, total })
      }
      const ended = Promise.resolve()
        .then(() => work(report, stop.signal))
        .then(
          (result) => become({ state: 'done', result, endedAt: now() }),
          (thrown: unknown) => {
            const isSaid = thrown instanceof GatewayError && thrown.code !== 'internal'
            if (!isSaid && !stop.signal.aborted) log.error({ err: thrown, job: kind }, 'a job failed')
            become({
              state: 'failed',
              error: isSaid ? thrown.message : 'It ended early. The log of the gateway says why.',
              endedAt: now(),
            })
          },
        )
        .finally(() => running.delete(key))
      running.set(key, { stop, ended })
      return job
    },
    latest: <R extends object>(accountId: string, kind: string) =>
      newest.get(keyOf(accountId, kind)) as Job<R> | undefined,
    async close() {
      const all = [...running.values()]
      for (const { stop } of all) stop.abort()
      await Promise.all(all.map(({ ended }) => ended))
    },
  }
}

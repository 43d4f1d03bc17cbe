// One thread that searches, seen from the event loop: it has one search at a time, and is gone for good after anything but a
// verdict.
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { LeakVerdict } from '../../leak/inspection.ts'
import type { Searched, Sought } from '../../leak/search.ts'
import type { SearchAnswer, SearchRequest } from './worker.ts'

export interface Job {
  readonly sought: Sought
  readonly response: Searched
  readonly resolve: (verdict: LeakVerdict) => void
}

export interface SearchThread {
  isFree(): boolean
  /** May be called only while the thread is free. */
  run(job: Job): void
  /** Ends it now; what it was searching is refused. */
  stop(): Promise<void>
}

/** Why a thread ended before it had a verdict. It names nothing of the response: it goes to the log. */
export type ThreadEnd = 'hung' | 'stopped' | 'out_of_memory' | 'crashed'

/** Starting on a machine that is busy; not part of anybody's search. */
const START_TIMEOUT_MS = 15_000
/** The bytes of bodies lie outside of the heap; what a search keeps in it are patterns. */
const HEAP = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }
/** Copying so much takes a tenth of a millisecond, most of it for memory that was never used. */
const COPY_BYTES = 1 << 18

/**
 * @param options.maxMs wall time of one search: a budget of steps ends it long before, so that only a defect gets so far
 * @param options.onFree told whenever the thread could take a job
 * @param options.onEnd told once, when the thread is gone
 */
export function startSearchThread(options: {
  url: URL
  maxMs: number
  onFree: () => void
  onEnd: (why: ThreadEnd) => void
}): SearchThread {
  const worker = new Worker(options.url, {
    name: 'search',
    // A thread that reads hostile bytes has no business with the configuration.
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: HEAP,
  })
  let job: Job | undefined
  let isReady = false
  let why: ThreadEnd | undefined
  let timer: NodeJS.Timeout | undefined

  function endAs(reason: ThreadEnd): void {
    why ??= reason
    void worker.terminate()
  }

  async function send(sent: Job): Promise<void> {
    clearTimeout(timer)
    timer = setTimeout(() => endAs('hung'), options.maxMs)
    try {
      const request = await copyForThread(sent)
      // It may have been stopped meanwhile.
      if (job === sent) worker.postMessage(request, transferred(request))
    } catch {
      // There is no memory for the copy. What was thrown is not looked at: it may quote what could not be sent.
      endAs('out_of_memory')
    }
  }

  /** The job, which is then nobody's business here any more. */
  function take(): Job | undefined {
    clearTimeout(timer)
    worker.unref()
    const done = job
    job = undefined
    return done
  }

  worker.on('message', (answer: SearchAnswer) => {
    if ('ready' in answer) {
      isReady = true
      if (job) void send(job)
      return
    }
    if (why) return
    take()?.resolve(answer)
    options.onFree()
  })
  worker.on('error', (thrown: { readonly code?: unknown }) => {
    why ??= thrown.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out_of_memory' : 'crashed'
  })
  worker.on('exit', () => {
    why ??= 'crashed'
    take()?.resolve({ ok: false, reason: 'failed' })
    options.onEnd(why)
  })

  // Nothing keeps the gateway alive but work that somebody waits for.
  worker.unref()
  return {
    isFree: () => job === undefined && why === undefined,
    run(next) {
      job = next
      worker.ref()
      if (isReady) void send(next)
      else timer = setTimeout(() => endAs('hung'), START_TIMEOUT_MS)
    },
    async stop() {
      why ??= 'stopped'
      await worker.terminate()
    },
  }
}

/** A thread gets memory of its own, which nobody here sees any more: the caller's body stays, and a secret has one owner. */
async function copyForThread({ sought, response }: Job): Promise<SearchRequest> {
  const { statusText, headers, body: whole } = response
  const body = Buffer.allocUnsafeSlow(whole.length)
  for (let at = 0; at < whole.length; at += COPY_BYTES) {
    if (at > 0) await setImmediate()
    whole.copy(body, at, at, at + COPY_BYTES)
  }
  const secrets = sought.secrets.map((secret) =>
    secret.use((text) => {
      const bytes = Buffer.allocUnsafeSlow(text.length * 2)
      bytes.write(text, 'utf16le')
      return bytes
    }),
  )
  return { secrets, scheme: sought.scheme, statusText, headers, body }
}

const transferred = ({ body, secrets }: SearchRequest) =>
  [body, ...secrets].map(({ buffer }) => buffer as ArrayBuffer)

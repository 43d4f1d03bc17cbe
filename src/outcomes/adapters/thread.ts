// One worker thread: runs one analysis at a time within a wall budget, and is gone for good after anything but an answer.
import { Worker } from 'node:worker_threads'
import { GatewayError } from '../../errors.ts'
import type { AnalysisResult } from '../ports.ts'
import type { WorkerMessage, WorkerRequest } from './worker.ts'

export interface Job {
  readonly name: string
  readonly input: unknown
  readonly resolve: (result: AnalysisResult<never>) => void
  readonly reject: (thrown: unknown) => void
}

export interface Thread {
  readonly isFree: () => boolean
  /** Only while it is free. */
  run(job: Job): void
  /** Ends it now; what it was doing is refused. */
  stop(): Promise<void>
}

/** A page within the caps needs far less; what needs more is cut off by the engine, and only this thread ends. */
const HEAP = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }
/** Loading the code on a busy machine; not part of anybody's budget. */
const START_TIMEOUT_MS = 15_000

/**
 * @param options.onFree told whenever the thread could take a job
 * @param options.onEnd told once, when the thread is gone
 */
export function startThread(options: {
  url: URL
  budgetMs: number
  onFree: () => void
  onEnd: () => void
}): Thread {
  const worker = new Worker(options.url, {
    name: 'analysis',
    // What reads hostile bytes has no business with the configuration.
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: HEAP,
  })
  let job: Job | undefined
  let isReady = false
  let isEnding = false
  let timer: NodeJS.Timeout | undefined
  let failure: unknown

  function send(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      isEnding = true
      void worker.terminate()
      take()?.resolve({ ok: false, reason: 'budget_exceeded' })
    }, options.budgetMs)
    const { input, transfer } = copyBody(job!.input)
    worker.postMessage([job!.name, input] satisfies WorkerRequest, transfer)
  }

  /** The job, which is then nobody's business here any more. */
  function take(): Job | undefined {
    clearTimeout(timer)
    worker.unref()
    const done = job
    job = undefined
    return done
  }

  worker.on('message', (message: WorkerMessage) => {
    if ('ready' in message) {
      isReady = true
      if (job) send()
      return
    }
    if (isEnding) return
    take()?.resolve(
      message.ok ? { ok: true, value: message.value as never } : { ok: false, reason: 'unreadable' },
    )
    options.onFree()
  })
  worker.on('error', (thrown: unknown) => {
    failure = thrown
  })
  worker.on('exit', () => {
    const wasStopped = isEnding
    isEnding = true
    const left = take()
    if (wasStopped) left?.reject(new GatewayError('draining', 'The gateway is shutting down. Try again.'))
    // Out of memory, or a crash: it was this input. A thread that never came up is another matter.
    else if (isReady) left?.resolve({ ok: false, reason: 'unreadable' })
    else left?.reject(failure ?? new Error('the analysis thread did not start'))
    options.onEnd()
  })

  // Nothing keeps the process alive but work that somebody waits for.
  worker.unref()
  return {
    isFree: () => job === undefined && !isEnding,
    run(next) {
      job = next
      worker.ref()
      if (isReady) send()
      else timer = setTimeout(() => void worker.terminate(), START_TIMEOUT_MS)
    },
    async stop() {
      isEnding = true
      await worker.terminate()
    },
  }
}

/** Bytes go over as a copy of their own: a cache may hold the original, and a small Buffer is a view into a shared slab. */
function copyBody(input: unknown): { input: unknown; transfer: ArrayBuffer[] } {
  if (typeof input !== 'object' || input === null || !('body' in input)) return { input, transfer: [] }
  if (!(input.body instanceof Uint8Array)) return { input, transfer: [] }
  const body = new Uint8Array(input.body)
  return { input: { ...input, body }, transfer: [body.buffer] }
}

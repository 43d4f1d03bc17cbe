// Runs analyses in one process, one at a time within a wall budget; the process is gone for good after anything but an
// answer. It is a process and not a thread: where a thread runs out of memory in one large allocation, V8 ends the whole
// process.
import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { GatewayError } from '../../core/errors.ts'
import type { AnalysisResult } from '../ports.ts'
import { BYTES_FD, type ChildMessage, type ChildRequest } from './serve.ts'

export interface Job {
  readonly name: string
  readonly input: unknown
  readonly resolve: (result: AnalysisResult<never>) => void
  readonly reject: (thrown: unknown) => void
}

export interface Child {
  readonly isFree: () => boolean
  /** May be called only while the child is free. */
  run(job: Job): void
  /** Ends it now; what it was doing is refused. */
  stop(): Promise<void>
}

/** A page within the caps needs far less; what needs more is ended by the engine, and only this process with it. */
const HEAP = ['--max-old-space-size=192', '--max-semi-space-size=8']
/** Nothing that a stranger wrote is ever compiled, whatever a library that reads it would do. */
const NO_EVAL = '--disallow-code-generation-from-strings'

/**
 * @param options.onFree told whenever the process could take a job
 * @param options.onEnd told once, when the process is gone
 */
export function startChild(options: {
  url: URL
  budgetMs: number
  startMs: number
  onFree: () => void
  onEnd: () => void
}): Child {
  const child = fork(options.url, [], {
    // A process that reads hostile bytes has no business with the configuration, nor with what the gateway reads and writes.
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
    execArgv: ['--disable-warning=ExperimentalWarning', NO_EVAL, ...HEAP],
    serialization: 'advanced',
  })
  // The list is missing where no descriptor was left, and an error comes soon.
  const bytesOut = (child.stdio as typeof child.stdio | undefined)?.[BYTES_FD] as Socket | undefined
  // A pipe that is gone says so by the exit of its process.
  bytesOut?.on('error', () => {}).unref()
  let job: Job | undefined
  let isReady = false
  let isEnding = false
  let timer: NodeJS.Timeout | undefined
  let isGone = false
  const gone = Promise.withResolvers<void>()

  function send({ name, input: whole }: Job): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      isEnding = true
      child.kill('SIGKILL')
      take()?.resolve({ ok: false, reason: 'budget_exceeded' })
    }, options.budgetMs)
    const { input, bytes } = takeBytes(whole)
    // One that cannot be reached any more is about to be gone.
    child.send([name, input, bytes?.length ?? null] satisfies ChildRequest, () => {})
    // The bytes travel beside the message: serialised in it, two mebibytes are copied twice on this thread.
    if (bytes && bytes.length > 0) bytesOut?.write(bytes)
  }

  /** The job, which is then nobody's business here any more. */
  function take(): Job | undefined {
    clearTimeout(timer)
    keepAlive(child, false)
    const done = job
    job = undefined
    return done
  }

  function end(failure: Error): void {
    if (isGone) return
    isGone = true
    const wasStopped = isEnding
    isEnding = true
    bytesOut?.destroy()
    const left = take()
    if (wasStopped) left?.reject(new GatewayError('draining', 'The gateway is shutting down. Try again.'))
    // This input ended it, by memory or by a crash. A process that never came up is another matter.
    else if (isReady) left?.resolve({ ok: false, reason: 'unreadable' })
    else left?.reject(failure)
    options.onEnd()
    gone.resolve()
  }

  child.on('message', (message) => {
    const answer = message as ChildMessage
    if ('ready' in answer) {
      isReady = true
      if (job) send(job)
      return
    }
    if (isEnding) return
    if (answer.isLast) {
      isEnding = true
      child.kill('SIGKILL')
    }
    take()?.resolve(
      answer.ok ? { ok: true, value: answer.value as never } : { ok: false, reason: 'unreadable' },
    )
    if (!isEnding) options.onFree()
  })
  // A process without an id was never started, and has no exit.
  child.on('error', (failure) => {
    if (child.pid === undefined) end(failure)
  })
  child.on('exit', (code, signal) =>
    end(new Error(`the process for analyses did not start: ${signal ?? `exit ${code}`}`)),
  )

  // Nothing keeps the gateway alive but work that somebody waits for.
  keepAlive(child, false)
  return {
    isFree: () => job === undefined && !isEnding && child.connected,
    run(next) {
      job = next
      keepAlive(child, true)
      if (isReady) send(next)
      else timer = setTimeout(() => child.kill('SIGKILL'), options.startMs)
    },
    async stop() {
      isEnding = true
      if (!isGone) child.ref()
      child.kill('SIGKILL')
      await gone.promise
    },
  }
}

/** The page of an input, apart from what is said about it. */
function takeBytes(input: unknown): { readonly input: unknown; readonly bytes: Uint8Array | undefined } {
  const { body: bytes, ...rest } = (input ?? {}) as { readonly body?: unknown }
  return bytes instanceof Uint8Array ? { input: rest, bytes } : { input, bytes: undefined }
}

function keepAlive(child: ChildProcess, isNeeded: boolean): void {
  if (isNeeded) {
    child.ref()
    child.channel?.ref()
  } else {
    child.unref()
    child.channel?.unref()
  }
}

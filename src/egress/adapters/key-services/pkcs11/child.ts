// One process with the library of a token in it: asked one thing at a time, and gone for good where it does not answer.
import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Request, TokenFault } from './messages.ts'

/** Libraries are configured by variables of their own; these hold secrets of the gateway. */
const OWN_VARIABLES = /^(?:GATEWAY_|OTEL_|PG)/
/** For a process that was killed to be gone. One that waits for a device in the kernel is not, and nobody waits for it. */
const END_MS = 1_000

type Environment = Readonly<Record<string, string | undefined>>

export interface Child {
  isAlive(): boolean
  /** One at a time; after anything but an answer the process is to be stopped. @throws {TokenFault} */
  ask(request: Request, maxMs: number): Promise<Buffer>
  stop(): Promise<void>
}

/** @throws {TokenFault} where the machine has no process left */
export function startChild(environment: Environment): Child {
  const child = forkProcess(environment)
  let asked: PromiseWithResolvers<Buffer> | undefined
  let isGone = false
  let isStopped = false
  const gone = Promise.withResolvers<void>()

  function end(code: string): void {
    if (isGone) return
    isGone = true
    asked?.reject(new TokenFault('unreachable', code))
    gone.resolve()
  }
  /** One without an id was never started. To signal "it" would signal the gateway itself. */
  const hasStarted = () => child.pid !== undefined
  function kill(): void {
    isStopped = true
    if (hasStarted()) child.kill('SIGKILL')
  }
  child.on('message', (message) => {
    // Null is a message, too, where a library scribbles on what is not its own.
    const answer = message as Answer | null
    if (answer?.ok === true) asked?.resolve(Buffer.from(answer.bytes))
    else asked?.reject(new TokenFault(answer?.reason ?? 'unreachable', answer?.code ?? 'no answer'))
  })
  child.on('error', () => {
    if (!hasStarted()) end('its process does not start')
  })
  child.on('exit', (code, signal) => end(`its library ended: ${signal ?? `exit ${code}`}`))
  keepAlive(false)

  /** Nothing keeps the gateway alive but an answer that somebody waits for. */
  function keepAlive(isNeeded: boolean): void {
    for (const part of [child, child.channel])
      if (isNeeded) part?.ref()
      else part?.unref()
  }

  return {
    isAlive: () => !isGone && !isStopped && child.connected,
    async ask(request, maxMs) {
      if (isGone || isStopped || !hasStarted())
        throw new TokenFault('unreachable', 'its process does not start')
      const answer = Promise.withResolvers<Buffer>()
      asked = answer
      const timer = setTimeout(() => {
        answer.reject(new TokenFault('unreachable', `no answer in ${maxMs / 1000} s`))
        kill()
      }, maxMs)
      keepAlive(true)
      // One that cannot be reached any more is about to be gone.
      child.send(request, () => {})
      try {
        return await answer.promise
      } finally {
        clearTimeout(timer)
        asked = undefined
        keepAlive(false)
      }
    },
    async stop() {
      kill()
      if (!isGone) child.ref()
      await Promise.race([gone.promise, sleep(END_MS, undefined, { ref: false })])
      child.unref()
    },
  }
}

function forkProcess(environment: Environment): ChildProcess {
  try {
    // By its parent's id it knows whether that is still there.
    return fork(processUrl(), [String(process.pid)], {
      env: Object.fromEntries(Object.entries(environment).filter(([name]) => !OWN_VARIABLES.test(name))),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning'],
      serialization: 'advanced',
    })
  } catch {
    throw new TokenFault('unreachable', 'its process does not start')
  }
}

function processUrl(): URL {
  // This file is src/egress/adapters/key-services/pkcs11/child.ts when run from source; bundled, it is in a chunk beside token-process.js.
  return import.meta.url.endsWith('.ts')
    ? new URL('./process.ts', import.meta.url)
    : new URL('./token-process.js', import.meta.url)
}

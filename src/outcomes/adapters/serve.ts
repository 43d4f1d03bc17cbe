// The other side of child.ts: answers one request after the other, and ends when nobody is there to ask.
import { readSync } from 'node:fs'
import { Script } from 'node:vm'
import { must } from '../../lib/must.ts'
import { startWatchdog } from './watchdog.ts'

/** @param bytes length of `input.body`, which comes through a pipe of its own; null where it has none */
export type ChildRequest = readonly [name: string, input: unknown, bytes: number | null]
export type ChildMessage =
  | { readonly ready: true }
  | {
      readonly ok: true
      readonly value: unknown
      /** The process is not to be asked again. */
      readonly isLast?: boolean
    }
  | { readonly ok: false; readonly isLast?: boolean }

/** The descriptor of the pipe with the bytes, in the child process. */
export const BYTES_FD = 4

/**
 * Whoever asks cuts off what takes longer than its budget, which is far less. This is for the one whose gateway died
 * meanwhile: a busy process does not notice.
 */
const MAX_RUN_MS = 60_000

/** Takes the messages of this process from here on. */
export function serve(analyses: Readonly<Record<string, (input: never) => unknown>>): void {
  const byName = new Map(Object.entries(analyses))
  const send = (message: ChildMessage) => process.send?.(message, undefined, undefined, () => {})
  // A script is the one thing that Node ends while it runs.
  const script = new Script('runAnalysis()')
  let analyse: () => unknown = () => undefined
  Object.defineProperty(globalThis, 'runAnalysis', { value: () => analyse() })

  process.on('message', (message) => {
    const [name, input, bytes] = message as ChildRequest
    const whole = bytes === null ? input : { ...(input as object), body: readBytes(bytes) }
    analyse = () => must(byName.get(name), `the analysis ${name}`)(whole as never)
    try {
      const value = script.runInThisContext({ timeout: MAX_RUN_MS })
      if (value instanceof Promise) return void answerLater(value)
      send({ ok: true, value })
    } catch {
      // The analysis failed on this input, or what it made cannot be sent.
      send({ ok: false })
    }
  })

  /**
   * No script ends what goes on by itself, and nobody can tell what of it still goes on behind its answer: such a process is
   * watched while it works, and answers once.
   */
  async function answerLater(value: Promise<unknown>): Promise<void> {
    startWatchdog({ maxMs: MAX_RUN_MS })
    // A library that lets one of its own promises fail has not failed to answer.
    process.on('unhandledRejection', () => {})
    try {
      send({ ok: true, value: await value, isLast: true })
    } catch {
      send({ ok: false, isLast: true })
    }
  }

  process.on('disconnect', () => process.exit())
  // A Ctrl-C in a terminal goes to every process of it: the gateway drains first, and ends this one then.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  send({ ready: true })
}

/** Blocks until the bytes are here: they are on their way, and there is nothing else to do. */
function readBytes(length: number): Buffer {
  // Memory of its own: an analysis sees nothing but its page.
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let at = 0; at < length;) {
    const read = readSync(BYTES_FD, bytes, at, length - at, null)
    // Nobody is there any more.
    if (read === 0) process.exit()
    at += read
  }
  return bytes
}

// The other side of child.ts: answers one request after the other, and ends when nobody is there to ask.
import { Script } from 'node:vm'

export type ChildRequest = readonly [name: string, input: unknown]
export type ChildMessage =
  { readonly ready: true } | { readonly ok: true; readonly value: unknown } | { readonly ok: false }

/**
 * Whoever asks cuts off what takes longer than its budget, which is far less. This is for the one whose gateway died
 * meanwhile: a busy process does not notice.
 */
const MAX_RUN_MS = 60_000

/** Takes the messages of this process from here on. */
export function serve(analyses: Readonly<Record<string, (input: never) => unknown>>): void {
  const byName = new Map(Object.entries(analyses))
  const send = (message: ChildMessage) => process.send!(message, undefined, undefined, () => {})
  // A script is the one thing that Node ends while it runs.
  const script = new Script('runAnalysis()')
  let analyse: () => unknown = () => undefined
  Object.defineProperty(globalThis, 'runAnalysis', { value: () => analyse() })

  process.on('message', (message) => {
    const [name, input] = message as ChildRequest
    analyse = () => byName.get(name)!(input as never)
    try {
      send({ ok: true, value: script.runInThisContext({ timeout: MAX_RUN_MS }) })
    } catch {
      // The analysis failed on this input, or what it made cannot be sent.
      send({ ok: false })
    }
  })
  process.on('disconnect', () => process.exit())
  // A Ctrl-C in a terminal goes to every process of it: the gateway drains first, and ends this one then.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  send({ ready: true })
}

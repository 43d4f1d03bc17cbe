// The thread that runs analyses, one at a time. It has no environment, and whoever asked cuts it off when it takes too long.
import { parentPort } from 'node:worker_threads'
import { analyses } from '../analyses.ts'

export type WorkerRequest = readonly [name: string, input: unknown]
export type WorkerMessage =
  { readonly ready: true } | { readonly ok: true; readonly value: unknown } | { readonly ok: false }

const port = parentPort!
const byName: ReadonlyMap<string, (input: never) => unknown> = new Map(Object.entries(analyses))

port.on('message', ([name, input]: WorkerRequest) => {
  try {
    port.postMessage({ ok: true, value: byName.get(name)!(input as never) } satisfies WorkerMessage)
  } catch {
    // The analysis failed on this input, or what it made cannot be sent.
    port.postMessage({ ok: false } satisfies WorkerMessage)
  }
})
port.postMessage({ ready: true } satisfies WorkerMessage)

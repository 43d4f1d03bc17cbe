// Ends this process when it takes more memory or time than it may, from a thread of its own: the engine counts the objects of
// a program and not its buffers, and a program that is busy does not look at a clock.
import { Worker } from 'node:worker_threads'

/** A process that reads the largest honest document has about half of it. */
const MAX_RESIDENT_BYTES = 400 * 1024 * 1024
const LOOK_EVERY_MS = 10

const CODE = `
const { workerData } = require('node:worker_threads')
const end = performance.now() + workerData.maxMs
setInterval(() => {
  if (process.memoryUsage.rss() > workerData.maxBytes || performance.now() > end) process.kill(process.pid, 'SIGKILL')
}, workerData.everyMs)
`

/** Lasts as long as the process does. */
export function startWatchdog({ maxMs }: { readonly maxMs: number }): void {
  new Worker(CODE, {
    eval: true,
    workerData: { maxMs, maxBytes: MAX_RESIDENT_BYTES, everyMs: LOOK_EVERY_MS },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  }).unref()
}

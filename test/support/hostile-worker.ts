// A worker thread with analyses that misbehave, each in its own way: what the pool must survive.
import { parentPort, threadId } from 'node:worker_threads'

const port = parentPort!

const hostile: Readonly<Record<string, (input: unknown) => unknown>> = {
  echo: (input) => input,
  thread: () => threadId,
  environment: () => Object.keys(process.env),
  buffer: (input) => (input as { body: Uint8Array }).body.buffer.byteLength,
  spin() {
    for (;;);
  },
  // Backtracks for longer than anybody waits: the engine must be able to stop a regular expression, too.
  backtrack: () => /^(?:a+)+$/.test(`${'a'.repeat(60)}b`),
  fail() {
    throw new Error('this input is too much')
  },
  overflow(input): unknown {
    return [hostile['overflow']!(input)]
  },
  exhaust() {
    const kept: unknown[] = []
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })))
  },
  unsendable: () => () => {},
  exit: () => process.exit(3),
  later() {
    setTimeout(() => {
      throw new Error('after the answer')
    })
    return 'answered'
  },
}

port.on('message', ([name, input]: [string, unknown]) => {
  try {
    port.postMessage({ ok: true, value: hostile[name]!(input) })
  } catch {
    port.postMessage({ ok: false })
  }
})
port.postMessage({ ready: true })

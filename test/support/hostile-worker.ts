// A process with analyses that misbehave, each in its own way: what the pool must survive.
import { setImmediate } from 'node:timers/promises'
import { serve } from '../../src/outcomes/adapters/serve.ts'

const hostile: Readonly<Record<string, (input: unknown) => unknown>> = {
  echo: (input) => input,
  process: () => process.pid,
  environment: () => Object.keys(process.env),
  // All the memory that the bytes lie in.
  around: (input) =>
    Buffer.from((input as { body: Uint8Array }).body.buffer as ArrayBuffer).toString('latin1'),
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
  // One allocation beyond what is left: in a thread this ends every thread.
  hoard() {
    const kept: unknown[] = []
    for (;;) kept.push(Array.from<number>({ length: 3e6 }).fill(1.5))
  },
  unsendable: () => () => {},
  compile: () => new Function('return 1')() as unknown,
  // What goes on after it returned: nobody can tell when it has ended.
  pledge: async () => process.pid,
  // Libraries start promises that nobody waits for.
  async stray() {
    void Promise.reject(new Error('nobody waits for this'))
    await setImmediate()
    return 'answered'
  },
  async refuse() {
    await Promise.resolve()
    throw new Error('this input is too much')
  },
  // Buffers are no part of the heap that the engine counts.
  async bury() {
    const kept: Buffer[] = []
    for (;;) {
      kept.push(Buffer.alloc(8 * 1024 * 1024, 1))
      await Promise.resolve()
    }
  },
  exit: () => process.exit(3),
  crash: () => process.kill(process.pid, 'SIGSEGV'),
  later() {
    setTimeout(() => {
      throw new Error('after the answer')
    })
    return 'answered'
  },
}

serve(hostile)

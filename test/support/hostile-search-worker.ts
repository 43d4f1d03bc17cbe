// A thread whose searches misbehave as the body says: what the threads for searches must survive.
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', ({ body }: { body: Uint8Array }) => {
  const [word = '', argument = ''] = Buffer.from(body).toString().split(' ')
  if (word === 'spin') for (;;);
  if (word === 'exit') process.exit(3)
  if (word === 'throw') throw new Error('a defect')
  if (word === 'exhaust') {
    const kept: unknown[] = []
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })))
  }
  setTimeout(() => parentPort?.postMessage({ ok: true, by: argument }, []), word === 'wait' ? 40 : 0)
})
parentPort?.postMessage({ ready: true }, [])

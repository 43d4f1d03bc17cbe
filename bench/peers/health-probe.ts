// Asks an address every few milliseconds, on a schedule, and says how long each answer took: from when it was due, or a gateway that
// keeps its prober waiting would be asked less often while it is slow.
import { Client } from 'undici'

export interface Probe {
  readonly origin: string
  readonly path: string
  readonly everyMs: number
}

let running: { stop: boolean } | undefined

async function probe({ origin, path, everyMs }: Probe, state: { stop: boolean }): Promise<number[]> {
  // Each from an address of its own, since what one may ask in a minute is limited.
  const clients = Array.from(
    { length: 12 },
    (_, i) => new Client(origin, { pipelining: 1, localAddress: `127.0.0.${20 + i}` }),
  )
  const latenciesMs: number[] = []
  const pending: Promise<void>[] = []
  const started = performance.now()
  for (let i = 0; !state.stop; i++) {
    const due = started + i * everyMs
    const wait = due - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const client = clients[i % clients.length]
    if (!client) throw new Error('nobody asks')
    // This process may be late itself, for want of a core.
    const at = Math.max(due, performance.now() - everyMs)
    pending.push(
      (async () => {
        const answer = await client.request({ path, method: 'GET' })
        await answer.body.dump()
        if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`)
        latenciesMs.push(performance.now() - at)
      })(),
    )
  }
  await Promise.all(pending)
  await Promise.all(clients.map((client) => client.close()))
  return latenciesMs.toSorted((a, b) => a - b)
}

process.on('disconnect', () => process.exit(0))
process.on('message', (message: Probe | 'stop') => {
  if (message === 'stop') {
    if (running) running.stop = true
    return
  }
  const state = { stop: false }
  running = state
  void probe(message, state).then((latenciesMs) => process.send?.(latenciesMs))
})

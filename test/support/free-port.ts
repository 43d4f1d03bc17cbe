// Where a server is told its port before it starts, since somebody else has to know it as well.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the system gives to connections and to servers that ask for any: none of these takes it in the meantime. */
const [FIRST_PORT, PARTS, PORTS_OF_PART] = [12_000, 16, 1250]
/** Each worker has a part of its own: another one would listen on the same between the look and the use. */
const PART = Number(process.env['VITEST_POOL_ID'] ?? 0) % PARTS

/** Those that this worker was given last: whoever asks for two listens on both only later. */
const given = new Set<number>()

/** A port of loopback that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + PART * PORTS_OF_PART + randomInt(PORTS_OF_PART)
    if (given.has(port)) continue
    given.add(port)
    for (const oldest of given) if (given.size > PORTS_OF_PART / 2) given.delete(oldest)
    const probe = createServer().listen(port, '127.0.0.1')
    try {
      await once(probe, 'listening')
    } catch {
      continue
    }
    probe.close()
    await once(probe, 'close')
    return port
  }
}

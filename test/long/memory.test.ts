// How many copies of a secret a core dump of the gateway holds ten seconds after its last use. Some are left, and the limit says how
// many: V8 owns its texts. It was three for each request, and is one.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createWorld } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { countInMemory } from '../support/process-memory.ts'

const REQUESTS = 50

it.runIf(process.platform === 'linux')(
  'a third of the copies of a secret, and no more, is left in memory ten seconds after its use',
  async () => {
    const world = await createWorld({ nameTtlSeconds: 60 })
    world.upstream.respond((_request, res) => res.writeHead(200).end('ok'))
    const secret = `CANARY${randomBytes(24).toString('hex')}`
    let gw = await startGatewayProcess(world)
    try {
      const { capability } = await gw.grant({ secret })
      // What storing it left is another process's memory from here on.
      await gw.stop('SIGTERM')
      gw = await startGatewayProcess(world)
      for (let i = 0; i < REQUESTS; i++)
        expect((await gw.fetch(capability, { url: world.url('/') })).status).toBe(200)
      const count = () => countInMemory(gw.process.pid, Buffer.from(secret))
      const atOnce = await count()
      await sleep(10_000)
      const later = await count()
      console.log(`copies: ${atOnce} at once, ${later} after ten seconds`)
      // The measure works: a process that has just used a secret holds it.
      expect(atOnce).toBeGreaterThan(0)
      expect(later).toBeLessThan(2 * REQUESTS)
    } finally {
      await gw.stop()
      await world.close()
    }
  },
)

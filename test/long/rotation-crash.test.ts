// kill -9 in the middle of a rotation of the authority: the next start goes on, one new key comes of it, every secret opens.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AUTHORITY_POINTS } from '../../src/lib/fault-points.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'

/** More than one batch. */
const CREDENTIALS = 120

describe.each(ENGINES)('a process that dies in a rotation of the authority (%s)', (engine) => {
  let world: World
  let gw: GatewayProcess
  beforeEach(async () => {
    world = await createWorld({ engine })
    world.upstream.respond((_request, res) => res.writeHead(200).end('ok'))
  })
  afterEach(async () => {
    await gw.stop()
    await world.close()
  })

  const kidsOfFile = async (): Promise<string[]> => {
    const { keys } = JSON.parse(await readFile(join(world.dataDir, 'data', 'authority.jwk'), 'utf8')) as {
      keys: { kid: string }[]
    }
    return keys.map(({ kid }) => kid)
  }

  it.each(AUTHORITY_POINTS)('%s is gone on with, and nothing is lost', async (point) => {
    gw = await startGatewayProcess(world, { GATEWAY_FAULT: `${point}:kill` })
    const [old] = await kidsOfFile()
    const grants = await Promise.all(
      Array.from({ length: CREDENTIALS }, (_, i) => gw.grant({ secret: `upstream-secret-${i}` })),
    )
    await expect(gw.rest('POST', '/v1/authority/rotate', {})).rejects.toThrow()
    await gw.process.ended

    gw = await startGatewayProcess(world)
    const newest = async () => (await gw.rest('GET', '/v1/authority/rotation')).body.rotation
    await expect.poll(async () => (await newest()).state, { timeout: 20_000 }).toBe('done')
    expect(await newest()).toMatchObject({ retired: [old], rewrapped: CREDENTIALS, total: CREDENTIALS })
    expect(await kidsOfFile()).toEqual([(await newest()).kid])
    const [first, , , last = first] = [grants[0], grants[1], grants[2], grants.at(-1)]
    for (const grant of [first, last]) {
      if (!grant) throw new Error('nothing was granted')
      expect((await gw.fetch(grant.capability, { url: world.url('/') })).status).toBe(200)
    }
    const events = (await gw.rest('GET', '/v1/audit/events?of=installation&limit=500')).body
    expect(events.intact).toBe(true)
    const names = events.events.map(({ event }: { event: string }) => event)
    expect(names.filter((name: string) => name.startsWith('authority.'))).toEqual([
      'authority.rotation_started',
      'authority.rotated',
    ])
  })
})

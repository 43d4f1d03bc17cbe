// kill -9 in the middle of a rotation of the authority: the next start goes on, one new key comes of it, every secret opens.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AUTHORITY_POINTS } from '../../src/lib/fault-points.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'

/** More than one batch. */
const CREDENTIALS = 120

describe.each(ENGINES)('a process that dies in a rotation of the authority (%s)', (engine) => {
  let world: World
  let gw: GatewayProcess | undefined
  let capabilities: readonly string[]
  const start = async (env: Record<string, string> = {}) => {
    await gw?.stop()
    await untilUnlocked(world)
    return (gw = await startGatewayProcess(world, env))
  }
  beforeAll(async () => {
    world = await createWorld({ engine })
    world.upstream.respond((_request, res) => res.writeHead(200).end('ok'))
    const { grant } = await start()
    const grants = Array.from({ length: CREDENTIALS }, (_, i) => grant({ secret: `upstream-secret-${i}` }))
    capabilities = (await Promise.all(grants)).map(({ capability }) => capability)
  })
  afterAll(async () => {
    await gw?.stop()
    await world?.close()
  })

  const kidsOfFile = async (): Promise<string[]> => {
    const { keys } = JSON.parse(await readFile(join(world.dataDir, 'data', 'authority.jwk'), 'utf8')) as {
      keys: { kid: string }[]
    }
    return keys.map(({ kid }) => kid)
  }

  // One after the other on the same credentials: each rotates what the one before left.
  it.each(AUTHORITY_POINTS)('%s is gone on with, and nothing is lost', async (point) => {
    const doomed = await start({ GATEWAY_FAULT: `${point}:kill` })
    const rotationsBefore = (await rotationsOf(doomed)).length
    const [old] = await kidsOfFile()
    await expect(doomed.rest('POST', '/v1/authority/rotate', {})).rejects.toThrow()
    expect((await doomed.process.ended).signal).toBe('SIGKILL')

    const next = await start()
    const newest = async () => (await next.rest('GET', '/v1/authority/rotation')).body.rotation
    await expect.poll(async () => (await newest()).state).toBe('done')
    expect(await newest()).toMatchObject({ retired: [old], rewrapped: CREDENTIALS, total: CREDENTIALS })
    expect(await kidsOfFile()).toEqual([(await newest()).kid])
    for (const capability of [capabilities.at(0)!, capabilities.at(-1)!])
      expect((await next.fetch(capability, { url: world.url('/') })).status).toBe(200)
    expect((await rotationsOf(next)).slice(rotationsBefore)).toEqual([
      'authority.rotation_started',
      'authority.rotated',
    ])
  })

  async function rotationsOf(gateway: GatewayProcess): Promise<readonly string[]> {
    const events = (await gateway.rest('GET', '/v1/audit/events?of=installation&limit=500')).body
    expect(events.intact).toBe(true)
    return events.events
      .map(({ event }: { event: string }) => event)
      .filter((name: string) => name.startsWith('authority.'))
  }
})

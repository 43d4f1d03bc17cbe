// kill -9 in the middle of a rotation: one key signs afterwards, every key is published, and what was signed before verifies.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROTATION_POINTS } from '../../src/lib/fault-points.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { createWorld, ENGINES, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'

describe.each(ENGINES)('a process that dies in a rotation (%s)', (engine) => {
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

  it.each(ROTATION_POINTS)('%s leaves one key signing and every key published', async (point) => {
    gw = await startGatewayProcess(world, { GATEWAY_FAULT: `${point}:kill` })
    const { capability } = await gw.grant()
    const receiptNow = async () =>
      (await gw.fetch(capability, { url: world.url('/'), method: 'GET' })).body.receipt.jws as string
    const before = await receiptNow()
    const [{ kid: old }] = (await gw.rest('GET', '/v1/signing-keys')).body.keys
    await expect(gw.rest('POST', '/v1/signing-keys/rotate', {})).rejects.toThrow()
    await gw.process.ended

    gw = await startGatewayProcess(world)
    const { keys } = (await gw.rest('GET', '/v1/signing-keys')).body
    expect(keys).toHaveLength(2)
    const signing = keys.filter(({ state }: { state: string }) => state === 'signing')
    expect(signing.map(({ kid }: { kid: string }) => kid === old)).toEqual([point === 'after_key_published'])
    const after = await receiptNow()
    const published = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
    for (const jws of [before, after])
      expect(await verifyJws(jws, published, JWS_TYPES.receipt)).toMatchObject({ ok: true })
    const file = await readFile(join(world.env['GATEWAY_DATA_DIR']!, 'signing.jwk'), 'utf8')
    expect(file).toContain('"d":')
  })
})

import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createWorld,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
  type World,
} from '../support/gateway.ts'
import { connectWebSocket, serveWebSockets } from '../support/websocket.ts'
import { cites } from '../requirements.ts'

describe('two gateways on one database', () => {
  let world: World
  let one: TestGateway
  let two: TestGateway
  beforeAll(async () => {
    world = await createWorld({ engine: 'postgres', env: { GATEWAY_SERVICE_KEY_CREDITS: '8' } })
    one = await startTestGateway({ world })
    two = await startTestGateway({ world })
  })
  afterAll(async () => {
    await Promise.all([one.close(), two.close()])
    await world.close()
  })

  it(
    cites(
      'egress:replicas:attempts',
      'leave each other’s running attempts alone, also when one of them starts anew',
    ),
    async () => {
      const { capability } = await one.grant()
      const arrived = Promise.withResolvers<() => void>()
      world.upstream.respond((_request, res) => arrived.resolve(() => res.writeHead(200).end('late')))
      const answering = one.fetch(capability, { url: one.url('/slow'), method: 'POST' })
      const release = await arrived.promise

      await two.close()
      two = await startTestGateway({ world })
      const running = (await two.rest('GET', '/v1/egress/attempts?state=sending')).body.attempts
      expect(running).toHaveLength(1)
      release()
      const answer = await answering
      expect([answer.status, answer.body.upstream.body]).toEqual([200, 'late'])
      const seen = await two.rest('GET', `/v1/egress/attempts/${running[0].attempt_id}`)
      expect(seen.body).toMatchObject({ state: 'settled', receipt_id: answer.body.receipt.receipt_id })
    },
  )

  it(
    cites('egress:replicas:balance', 'spend one balance once, and honour what the other one revoked'),
    async () => {
      world.upstream.respond((_request, res) => res.writeHead(200).end('ok'))
      const { capability, capabilityId } = await one.grant()
      const before = world.upstream.requests.length
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => (i % 2 ? one : two).fetch(capability, { url: one.url('/') })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
      expect(answers.filter(({ status }) => status === 402)).toHaveLength(23)
      expect(world.upstream.requests.length - before).toBe(7)

      await one.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`, {})
      const refused = await two.fetch(capability, { url: one.url('/') })
      expect([refused.status, refused.body.code]).toEqual([401, 'capability_invalid'])
    },
  )

  it('end what runs on a capability that the other one revoked', async () => {
    serveWebSockets(world.upstream)
    const { capability, capabilityId } = await one.grant({
      credential: { label: 'live', hosts: [`${UPSTREAM_HOST}:${world.upstream.port}`] },
    })
    await one.rest('POST', '/v1/credits/grants', { amount: 1, reference: 'one more' })
    const socket = await connectWebSocket(`${two.baseUrl.replace('http', 'ws')}/via/live/x`, {
      headers: { authorization: `Bearer ${capability}` },
    })
    await one.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`, {})
    expect((await socket.closed).code).toBe(1008)
    world.upstream.upgrade(undefined)
  })

  it(
    cites(
      'egress:replicas:rotation',
      'open what the other one stored, before and after it rotated the authority',
    ),
    async () => {
      await one.rest('POST', '/v1/credits/grants', { amount: 10, reference: 'more' })
      const before = await one.grant({ secret: 'stored-by-one' })
      expect((await two.fetch(before.capability, { url: one.url('/') })).status).toBe(200)
      expect((await one.rest('POST', '/v1/authority/rotate', {})).status).toBe(200)
      const after = await two.grant({ secret: 'stored-by-two' })
      for (const gateway of [one, two])
        for (const { capability } of [before, after])
          expect((await gateway.fetch(capability, { url: one.url('/') })).status).toBe(200)
    },
  )

  it('send nothing under an idempotency key where one of them derives other keys, and so cannot know it', async () => {
    const other = join(world.dataDir, 'other')
    await mkdir(other)
    await copyFile(join(world.env['GATEWAY_DATA_DIR'] ?? '', 'authority.jwk'), join(other, 'authority.jwk'))
    const stranger = await startTestGateway({
      world: { ...world, env: { ...world.env, GATEWAY_DATA_DIR: other } },
    })
    try {
      await one.rest('POST', '/v1/credits/grant', { amount: 10, reference: 'for the last test' })
      const { capability } = await one.grant()
      const before = world.upstream.requests.length
      const asked = { url: one.url('/'), method: 'POST', idempotency_key: 'of-the-caller' }
      expect((await one.fetch(capability, asked)).status).toBe(200)
      const refused = await stranger.fetch(capability, asked)
      expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable'])
      expect(refused.body.detail).toContain('derivation.jwk')
      expect(world.upstream.requests.length - before).toBe(1)
      expect((await stranger.fetch(capability, { url: one.url('/') })).status).toBe(200)
    } finally {
      await stranger.close()
    }
  })
})

import { describe, expect, it } from 'vitest'
import { createWorld, UPSTREAM_HOST } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { connectWebSocket, serveWebSockets } from '../support/websocket.ts'

describe('kill -9 in the middle of a stream', () => {
  it('leaves an ambiguous attempt, charged once and never sent again', async () => {
    const world = await createWorld({ env: { GATEWAY_SERVICE_KEY_CREDITS: '10' } })
    try {
      world.upstream.respond((_request, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' })
        res.write('data: one\n\n')
      })
      const first = await startGatewayProcess(world)
      const { capability } = await first.grant({
        credential: { label: 'api', hosts: [`${UPSTREAM_HOST}:${world.upstream.port}`] },
      })
      const answer = await fetch(`${first.baseUrl}/via/api/v1/stream`, {
        headers: { authorization: `Bearer ${capability}` },
      })
      await answer.body!.getReader().read()
      await first.stop('SIGKILL')

      const second = await startGatewayProcess(world)
      const id = answer.headers.get('x-gateway-attempt')
      const { body } = await second.rest('GET', `/v1/egress/attempts/${id}`)
      expect(body).toMatchObject({ state: 'ambiguous', outcome: 'crashed', credits_charged: 1 })
      expect(body.receipt_id).toMatch(/^rcp_/)
      expect(await second.balance()).toBe(9)
      expect(world.upstream.requests).toHaveLength(1)
      await second.stop('SIGTERM')
    } finally {
      await world.close()
    }
  })
})

describe('kill -9 in the middle of a WebSocket', () => {
  it('leaves an ambiguous attempt, charged once and never sent again', async () => {
    const world = await createWorld({ env: { GATEWAY_SERVICE_KEY_CREDITS: '10' } })
    try {
      serveWebSockets(world.upstream)
      const first = await startGatewayProcess(world)
      const { capability } = await first.grant({
        credential: { label: 'api', hosts: [`${UPSTREAM_HOST}:${world.upstream.port}`] },
      })
      const socket = await connectWebSocket(`${first.baseUrl.replace('http', 'ws')}/via/api/v1/live`, {
        headers: { authorization: `Bearer ${capability}` },
      })
      socket.ws.send('one')
      await socket.next()
      await first.stop('SIGKILL')
      expect((await socket.closed).code).toBe(1006)

      const second = await startGatewayProcess(world)
      const id = String(socket.head.headers['x-gateway-attempt'])
      const { body } = await second.rest('GET', `/v1/egress/attempts/${id}`)
      expect(body).toMatchObject({ state: 'ambiguous', outcome: 'crashed', credits_charged: 1 })
      expect(body.receipt_id).toMatch(/^rcp_/)
      expect(await second.balance()).toBe(9)
      expect(world.upstream.requests).toHaveLength(1)
      await second.stop('SIGTERM')
    } finally {
      await world.close()
    }
  })
})

// What is revoked while something of it runs is cut within seconds, with an end of its own.
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { connectWebSocket, serveWebSockets } from '../support/websocket.ts'

const SECRET = 'sk-proj-b7Qx4LmR9vTz2KpW8nYcEu5J'

describe('what is revoked while it runs', () => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway()
    serveWebSockets(gw.upstream)
  })
  afterAll(() => gw.close())

  let count = 0
  async function grant() {
    const label = `own-${++count}`
    const hosts = [`${UPSTREAM_HOST}:${gw.upstream.port}`]
    return { label, ...(await gw.grant({ secret: SECRET, credential: { label, hosts } })) }
  }
  type Granted = Awaited<ReturnType<typeof grant>>
  const endings: Record<string, (granted: Granted) => Promise<unknown>> = {
    'the capability is revoked': ({ capabilityId }) =>
      gw.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`, {}),
    'the credential is revoked': ({ credentialId }) =>
      gw.rest('POST', `/v1/egress/credentials/${credentialId}/revoke`, {}),
    'the credential is deleted': ({ credentialId }) =>
      gw.rest('POST', `/v1/egress/credentials/${credentialId}/delete`, {}),
  }
  async function ended(id: string | null) {
    for (;;) {
      const { body } = await gw.rest('GET', `/v1/egress/attempts/${id}`)
      if (body.state !== 'sending') return body
      await sleep(20)
    }
  }
  async function streamOf(id: string | null) {
    const record = await ended(id)
    const { jws } = (await gw.rest('GET', `/v1/receipts/${record.receipt_id}`, undefined, '')).body
    const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
    const verdict = await verifyJws(jws, jwks, JWS_TYPES.receipt)
    if (!verdict.ok) throw new Error('the receipt does not verify')
    return { record, stream: (verdict.payload as { stream?: { end: string; events: number } }).stream }
  }
  const ask = ({ label }: Granted, token: string) =>
    fetch(`${gw.baseUrl}/via/${label}/v1/stream`, { headers: { authorization: `Bearer ${token}` } })

  it.each(Object.keys(endings))('ends a WebSocket when %s', async (how) => {
    const granted = await grant()
    const socket = await connectWebSocket(`${gw.baseUrl.replace('http', 'ws')}/via/${granted.label}/v1/x`, {
      headers: { authorization: `Bearer ${granted.capability}` },
    })
    await endings[how]!(granted)
    expect(await socket.closed).toEqual({ code: 1008, reason: 'the capability was revoked' })
    const { record, stream } = await streamOf(String(socket.head.headers['x-gateway-attempt']))
    expect(record).toMatchObject({ state: 'settled', outcome: 'revoked', credits_charged: 1 })
    expect(stream?.end).toBe('revoked')
  })

  it('ends events with an error, of a capability that was narrowed from the one that is revoked', async () => {
    const granted = await grant()
    const { body } = await gw.rest(
      'POST',
      '/v1/egress/capabilities/narrow',
      { label: 'part' },
      granted.capability,
    )
    const stopped = Promise.withResolvers<void>()
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n')
      res.on('close', () => stopped.resolve())
    })
    const answer = await ask(granted, body.capability)
    await endings['the capability is revoked']!(granted)
    const text = await untilBreak(answer)
    expect(text).toMatch(/^data: one\n\nevent: error\n/)
    expect(text).toContain('"code":"revoked"')
    await stopped.promise
    const { record, stream } = await streamOf(answer.headers.get('x-gateway-attempt'))
    expect([record.outcome, stream]).toMatchObject(['revoked', { end: 'revoked', events: 1 }])
  })

  it('ends an answer that its program does not read', async () => {
    const granted = await grant()
    gw.upstream.respond((_request, res) => void res.end(Buffer.alloc(64 * 1024 * 1024, 'x ')))
    const id = await new Promise<string>((resolve) => {
      request(
        `${gw.baseUrl}/via/${granted.label}/v1/file`,
        { headers: { authorization: `Bearer ${granted.capability}` } },
        (res) => {
          res.pause().on('error', () => {})
          resolve(String(res.headers['x-gateway-attempt']))
        },
      ).end()
    })
    await endings['the capability is revoked']!(granted)
    expect((await streamOf(id)).stream?.end).toBe('revoked')
  })

  it('leaves open what became of a request whose answer had not begun', async () => {
    const granted = await grant()
    const asked = Promise.withResolvers<void>()
    gw.upstream.respond(() => asked.resolve())
    const asking = ask(granted, granted.capability)
    await asked.promise
    await endings['the capability is revoked']!(granted)
    const answer = await asking
    expect(answer.status).toBe(503)
    const body = (await answer.json()) as { code: string; attempt_id: string }
    expect(body.code).toBe('outcome_ambiguous')
    expect(await ended(body.attempt_id)).toMatchObject({ state: 'ambiguous', outcome: 'no_answer_revoked' })
  })

  it('lets everything else go on', async () => {
    const [one, other] = [await grant(), await grant()]
    const go = Promise.withResolvers<void>()
    gw.upstream.respond(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n')
      await go.promise
      res.end('data: two\n\n')
    })
    const [cut, kept] = await Promise.all([ask(one, one.capability), ask(other, other.capability)])
    await endings['the credential is revoked']!(one)
    await untilBreak(cut)
    go.resolve()
    expect(await kept.text()).toBe('data: one\n\ndata: two\n\n')
  })
})

async function untilBreak(answer: Response): Promise<string> {
  let received = ''
  try {
    for await (const chunk of answer.body!) received += Buffer.from(chunk as Uint8Array).toString()
  } catch {
    return received
  }
  throw new Error('the answer ended well')
}

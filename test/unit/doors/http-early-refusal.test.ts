import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { withEarlyRefusal } from '../../../src/doors/http/early-refusal.ts'

describe('whoever does not wait', () => {
  const state = { isCrowded: true, status: 503, at: 0 }
  const heard: string[] = []
  const said: unknown[] = []
  function answer(req: IncomingMessage, res: ServerResponse): void {
    heard.push(req.headers.authorization ?? 'nobody')
    req.resume()
    res.writeHead(state.status).end()
  }
  let handle = answer
  const server = createServer((req, res) => handle(req, res))
  // One connection, so that a request that is not read to its end would spoil the next one.
  const dispatcher = new Agent({ connections: 1 })
  let url: string
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/egress/fetch`
  })
  afterAll(async () => {
    await dispatcher.close()
    server.close()
  })
  beforeEach(() => {
    Object.assign(state, { isCrowded: true, status: 503, at: 0 })
    heard.length = 0
    said.length = 0
    handle = withEarlyRefusal(answer, {
      isCrowded: () => state.isCrowded,
      baseUrl: 'https://gateway.example',
      trustProxy: 1,
      log: { warn: (fields: unknown) => void said.push(fields) } as never,
      elapsedMs: () => state.at,
    })
  })
  async function call(
    authorization?: string,
    over: { method?: 'GET' | 'POST'; body?: string; headers?: Record<string, string> } = {},
  ) {
    const { method = 'POST', body = '{}', headers: more = {} } = over
    const {
      statusCode,
      headers,
      body: sent,
    } = await request(url, {
      dispatcher,
      method,
      headers: { ...more, ...(authorization !== undefined && { authorization }) },
      ...(method === 'POST' && { body }),
    })
    return { statusCode, headers, text: await sent.text() }
  }

  it('is refused in words, with a time, before anything is done for him', async () => {
    await call('Bearer a')
    const again = await call('Bearer a', { body: 'x'.repeat(200_000) })
    expect(again).toMatchObject({
      statusCode: 503,
      headers: {
        'retry-after': '1',
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
      },
    })
    expect(JSON.parse(again.text)).toMatchObject({
      type: 'https://gateway.example/problems/overloaded',
      code: 'overloaded',
      retry_after_seconds: 1,
      request_id: again.headers['x-request-id'],
    })
    expect(again.text).not.toContain('Bearer')
    await call('Bearer a')
    expect(heard).toEqual(['Bearer a'])
  })

  it('keeps nobody else from being heard', async () => {
    await call('Bearer a')
    await call('Bearer a')
    await call('Bearer b')
    await call()
    expect(heard).toEqual(['Bearer a', 'Bearer b', 'nobody'])
  })

  it.each([
    ['payers without a key, behind the same proxy', 'x-forwarded-for', '192.0.2.1', '192.0.2.2'],
    ['agents with a capability in its header', 'x-gateway-capability', 'agw_cap_a', 'agw_cap_b'],
    ['programs with an SDK', 'x-api-key', 'agw_cap_a', 'agw_cap_b'],
  ])('is told apart from others: %s', async (_, name, one, other) => {
    await call(undefined, { headers: { [name]: one } })
    await call(undefined, { headers: { [name]: one } })
    await call(undefined, { headers: { [name]: other } })
    expect(heard).toHaveLength(2)
  })

  it('is heard again when he has waited, when there are places, and when he reads a page', async () => {
    await call('Bearer a')
    await call('Bearer a', { method: 'GET' })
    expect(heard).toHaveLength(2)
    state.isCrowded = false
    await call('Bearer a')
    expect(heard).toHaveLength(3)
    state.isCrowded = true
    state.at = 499
    await call('Bearer a')
    expect(heard).toHaveLength(3)
    state.at = 1001
    await call('Bearer a')
    expect(heard).toHaveLength(4)
  })

  it('is forgotten after a second, also when nobody else came meanwhile', async () => {
    await call('Bearer a')
    state.at = 600
    await call('Bearer a')
    expect(heard).toHaveLength(1)
    state.at = 10_000
    await call('Bearer a')
    expect(heard).toHaveLength(2)
  })

  it('is not who got another answer', async () => {
    state.status = 429
    for (let i = 0; i < 3; i++) await call('Bearer a')
    expect(heard).toHaveLength(3)
  })

  it('is told of in the log once a period, as a number', async () => {
    for (let i = 0; i < 4; i++) await call('Bearer secret')
    state.at = 2000
    await call('Bearer b')
    expect(said).toEqual([{ refused: 3 }])
  })
})

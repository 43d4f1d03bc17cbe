// `/livez` and `/readyz` of a whole gateway: what a process manager and a load balancer see.
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway

beforeAll(async () => {
  gw = await startTestGateway()
})
afterAll(() => gw.close())

const get = (path: string, init?: RequestInit) => fetch(`${gw.baseUrl}${path}`, init)

/** As a kubelet asks: by the address of the pod. */
const statusUnder = (host: string, path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(`${gw.baseUrl}${path}`, { headers: { host } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })

describe('probes', () => {
  it('say that the process serves and that calls may come', async () => {
    const [live, ready] = await Promise.all([get('/livez'), get('/readyz')])
    expect([live.status, await live.text()]).toEqual([200, 'ok\n'])
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', failing: [], degraded: [] }])
    expect(ready.headers.get('cache-control')).toBe('no-store')
  })

  it('answer under any name, with a query and to HEAD, and take no other method', async () => {
    expect(await statusUnder('10.1.2.3:8402', '/livez')).toBe(200)
    expect(await statusUnder('10.1.2.3:8402', '/readyz')).toBe(200)
    expect(await statusUnder('10.1.2.3:8402', '/healthz')).toBe(403)
    expect((await get('/readyz?verbose')).status).toBe(200)
    expect((await get('/readyz', { method: 'HEAD' })).status).toBe(200)
    const post = await get('/livez', { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await get('/livezz')).status).toBe(404)
  })

  it('are in the description of the API', async () => {
    const { paths } = (await (await get('/openapi.json')).json()) as { paths: Record<string, unknown> }
    expect(paths).toHaveProperty(['/livez', 'get', 'operationId'], 'getLiveness')
    expect(paths).toHaveProperty(['/readyz', 'get', 'operationId'], 'getReadiness')
  })

  it('turn unready before anything is refused, while the process stays alive and takes calls', async () => {
    const leaving = await startTestGateway()
    try {
      leaving.gateway.leave()
      const at = (path: string) => fetch(`${leaving.baseUrl}${path}`)
      const ready = await at('/readyz')
      expect([ready.status, await ready.json()]).toMatchObject([503, { failing: [{ part: 'draining' }] }])
      expect([(await at('/livez')).status, (await at('/healthz')).status]).toEqual([200, 200])
    } finally {
      await leaving.close()
    }
  })

  it('do not pass on what the database says when it is gone', async () => {
    const broken = await startTestGateway()
    try {
      await broken.store.close()
      const answer = await fetch(`${broken.baseUrl}/readyz`)
      expect([answer.status, await answer.json()]).toMatchObject([
        503,
        { status: 'unready', failing: [{ part: 'database' }] },
      ])
      expect((await fetch(`${broken.baseUrl}/livez`)).status).toBe(200)
    } finally {
      await broken.close()
    }
  })
})

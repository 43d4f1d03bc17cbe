// What a seller tries who wants to sell what nobody has looked at.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { proveHost, registerSeller } from '../support/onboarding.ts'
import type { Respond } from '../support/upstream.ts'

let gw: TestGateway
let key: string
let origin: string
const seller = (path: string, body: object) => gw.rest('POST', `/v1/marketplace/seller${path}`, body, key)
const decide = (body: object) => gw.rest('POST', '/v1/marketplace/moderation', body)

const answering: Respond = (_request, res) =>
  void res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')

beforeAll(async () => {
  gw = await startTestGateway()
  origin = gw.url('').replace(/\/$/, '')
  key = await registerSeller(gw, 'mallory')
  gw.upstream.respond(answering)
})
afterAll(async () => {
  await gw?.close()
})

const draft = (service_id: string, over: object = {}) =>
  seller('/services', {
    service_id,
    name: service_id,
    origin,
    routes: [{ path: '/', method: 'GET', price_atomic: '5000' }],
    ...over,
  })

describe('what the operator looked at', () => {
  it('is what is approved: a change meanwhile is looked at again', async () => {
    await proveHost(gw, key, origin)
    await draft('mine')
    const submitted = await seller('/services/submit', { service_id: 'mine' })
    expect(submitted.body.state, submitted.text).toBe('pending')
    const changed = await seller('/services/update', { service_id: 'mine', name: 'Something else' })
    expect(changed.body, changed.text).toMatchObject({ state: 'pending', version: 2 })
    const approve = { seller: 'mallory', service_id: 'mine', decision: 'approve', reason: 'Looked at.' }
    expect((await decide(approve)).body).toMatchObject({ code: 'state_conflict', version: 2 })
    expect((await decide({ ...approve, version: 1 })).body.code).toBe('state_conflict')
    expect((await decide({ ...approve, version: 2 })).status).toBe(200)
  })

  it('does not become something else while the change waits for a slow host', async () => {
    const suspend = { seller: 'mallory', service_id: 'mine', decision: 'suspend', reason: 'fraud' }
    let tried = () => {}
    const trying = new Promise<void>((resolve) => (tried = resolve))
    let answer = () => {}
    gw.upstream.respond((_request, res) => {
      answer = () => res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      tried()
    })
    const routes = [{ path: '/other', method: 'GET', price_atomic: '5000' }]
    const changing = seller('/services/update', { service_id: 'mine', routes })
    await trying
    expect((await decide(suspend)).status).toBe(200)
    answer()
    expect((await changing).body.code).toBe('state_conflict')
    expect((await gw.rest('GET', '/v1/marketplace/seller', undefined, key)).body.services).toMatchObject([
      { state: 'suspended', version: 2 },
    ])
  })

  it('of a seller whose service was stopped is looked at again', async () => {
    gw.upstream.respond(answering)
    await draft('twin')
    expect((await seller('/services/submit', { service_id: 'twin' })).body.state).toBe('pending')
  })
})

describe('a slow host', () => {
  it('takes one of the places for looks and for documents, however often its seller asks', async () => {
    let held: (() => void)[] = []
    let arrived = () => {}
    gw.upstream.respond((_request, res) => {
      held.push(() => void res.writeHead(404).end())
      arrived()
    })
    const imported = { service_id: 'slow', origin, url: `${origin}/openapi.json` }
    for (const [path, body, code] of [
      ['/hosts/verify', { origin, ownership_proofs: [] }, undefined],
      ['/services/import', imported, 'upstream_unreachable'],
    ] as const) {
      held = []
      const waiting = new Promise<void>((resolve) => (arrived = resolve))
      const first = seller(path, body)
      await waiting
      expect((await seller(path, body)).body.code, path).toBe('rate_limited')
      for (const end of held) end()
      expect((await first).body.code, path).toBe(code)
    }
  })
})

// Two gateways behind one address and on one database: each request of a sign-in goes to the other one than the request before.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { allowing, ask, comeBack, inBrowser, redeem, register } from '../support/consent.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { signIn } from '../support/people.ts'
import { freePort } from '../support/free-port.ts'

const straight = globalThis.fetch
let world: World
let one: TestGateway
let two: TestGateway
/** Which of them answered, in order. */
const answered: string[] = []
beforeAll(async () => {
  const port = await freePort()
  const shared = await createWorld({
    engine: 'postgres',
    env: { GATEWAY_BASE_URL: `http://127.0.0.1:${port}`, HOST: '127.0.0.1' },
  })
  world = { ...shared, env: { ...shared.env, PORT: String(port) } }
  one = await startTestGateway({ world })
  two = await startTestGateway({ world: { ...shared, env: { ...shared.env, PORT: '0' } } })
  const places = [one, two].map(({ gateway }) => `http://127.0.0.1:${gateway.port}`)
  let next = 0
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    if (!url.startsWith(one.baseUrl)) return straight(input, init)
    const place = places[next++ % places.length] ?? one.baseUrl
    answered.push(place)
    return straight(url.replace(one.baseUrl, place), init)
  }
})
afterAll(async () => {
  globalThis.fetch = straight
  await Promise.all([one?.close(), two?.close()])
  await world?.close()
})

it('is registered, allowed, redeemed, used, refreshed and ended at whichever is asked', async () => {
  const owner = await signIn(one)
  const stored = await one.rest('POST', '/v1/egress/credentials', {
    provider: 'custom',
    label: 'test',
    secret: 'upstream-secret-1',
    hosts: ['api.example.com'],
    path_prefixes: ['/'],
    methods: ['GET'],
  })
  const clientId = await register(one)
  const asking = await ask(one, clientId)
  const consent = await inBrowser(one, owner, asking).post(allowing([stored.body]))
  const { access_token, refresh_token } = await redeem(one, await comeBack(one, consent, asking), asking)
  const call = async (token: string) =>
    (await one.rest('POST', '/v1/egress/fetch', { url: one.url('/user'), method: 'GET' }, token)).status
  expect([await call(access_token), await call(access_token)]).toEqual([200, 200])

  const refreshed = await fetch(`${one.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refresh_token ?? '',
    }),
  })
  const second = (await refreshed.json()) as { access_token: string }
  expect([await call(second.access_token), await call(second.access_token)]).toEqual([200, 200])

  const { connections } = (await one.rest('GET', '/v1/connections')).body
  await one.rest('POST', '/v1/connections/revoke', { connection_id: connections[0].connection_id })
  for (const token of [access_token, second.access_token])
    expect([await call(token), await call(token)]).toEqual([401, 401])
  expect(new Set(answered).size).toBe(2)
})

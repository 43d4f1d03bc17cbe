// A store whose answer to a reservation is lost: nobody knows whether it was made, nothing is sent on it, and what it took comes back.
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import { type ActionsClient, createActionsClient } from '../support/actions.ts'
import { type EdgeGateway, startEdgeGateway } from '../support/edge.ts'
import { UPSTREAM_HOST } from '../support/gateway.ts'

let gateway: EdgeGateway
let capability: string
let actions: ActionsClient
beforeAll(async () => {
  gateway = await startEdgeGateway()
  const credential = { label: 'mine', hosts: [`${UPSTREAM_HOST}:${gateway.upstream.port}`] }
  ;({ capability } = await gateway.grant({ credential }))
  actions = await createActionsClient(gateway, gateway.url)
})
afterAll(() => gateway.close())
afterEach(() => vi.restoreAllMocks())

type Reservation = 'reserveAttempt' | 'reserveAction' | 'reserveEdgeCall'

/** The store does it, and then its connection breaks. */
function loseAnswers(name: Reservation): void {
  const store = gateway.store as unknown as Record<Reservation, (input: unknown) => Promise<unknown>>
  const reserve = store[name].bind(store)
  vi.spyOn(store, name).mockImplementation(async (input) => {
    await reserve(input)
    throw new GatewayError('store_unavailable', 'The store is away.', { reason: 'connection' })
  })
}

const ways: [string, Reservation, () => Promise<{ status: number }>][] = [
  [
    'a fetch',
    'reserveAttempt',
    () => gateway.fetch(capability, { method: 'GET', url: gateway.url('/lost') }),
  ],
  [
    'a request of a program',
    'reserveAttempt',
    () => fetch(`${gateway.baseUrl}/via/mine/lost`, { headers: { authorization: `Bearer ${capability}` } }),
  ],
  [
    'an execution of a permit',
    'reserveAction',
    async () => actions.execute((await actions.prepare()).permit),
  ],
  ['an edge call', 'reserveEdgeCall', () => gateway.send(`${gateway.merchant}/lost`)],
]

it.each(ways)('gives back what %s was reserved with', async (_name, reservation, call) => {
  const before = await gateway.balance()
  const sent = gateway.upstream.requests.length
  loseAnswers(reservation)
  expect((await call()).status).toBe(503)
  const latest = async () => (await gateway.rest('GET', '/v1/egress/attempts?limit=1')).body.attempts[0]
  await expect.poll(latest).toMatchObject({ state: 'refunded', outcome: 'store_unavailable' })
  expect(await gateway.balance()).toBe(before)
  expect(gateway.upstream.requests).toHaveLength(sent)
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ENGINES, type RestAnswer, startTestGateway, type TestGateway } from '../support/gateway.ts'

const count = (answers: readonly RestAnswer[]) => {
  const statuses: Record<number, number> = {}
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1
  return statuses
}

describe.each(ENGINES)('many requests at once (%s)', (engine) => {
  let gw: TestGateway
  beforeEach(
    async () => void (gw = await startTestGateway({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '7' } })),
  )
  afterEach(() => gw.close())

  it('sends exactly as many as the balance pays for, and tells the rest how to top up', async () => {
    const { capability } = await gw.grant()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => gw.fetch(capability, { url: gw.url('/'), method: 'POST' })),
    )
    expect(count(answers)).toEqual({ 200: 7, 402: 43 })
    expect(gw.upstream.requests.length).toBe(7)
    const keys = gw.upstream.requests.map(
      ({ headers }) => headers.find(([name]) => name === 'idempotency-key')![1],
    )
    expect(new Set(keys).size).toBe(7)

    const { account_id, balance, ledger } = (await gw.rest('GET', '/v1/credits?limit=100')).body
    expect(balance).toBe(0)
    expect(ledger.filter((entry: { kind: string }) => entry.kind === 'egress')).toHaveLength(7)
    const refused = answers.find(({ status }) => status === 402)!
    expect(refused.body).toMatchObject({
      code: 'credits_required',
      balance: 0,
      top_up: { account: account_id },
    })
    expect(refused.headers.get('payment-required')).toBeNull()

    const granted = await gw.rest('POST', '/v1/credits/grants', { amount: 1, reference: 'more' })
    expect(granted.status).toBe(201)
    expect((await gw.fetch(capability, { url: gw.url('/') })).status).toBe(200)
  })

  it('never uses a capability more often than it allows, narrowed ones included', async () => {
    const { capability } = await gw.grant({ capability: { max_uses: 3 } })
    const child = (await gw.rest('POST', '/v1/egress/capabilities/narrow', {}, capability)).body.capability
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => gw.fetch(i % 2 ? capability : child, { url: gw.url('/') })),
    )
    expect(count(answers)).toEqual({ 200: 3, 403: 7 })
    expect(gw.upstream.requests.length).toBe(3)
    expect(await gw.balance()).toBe(4)
  })

  it('lets one of several simultaneous replacements of a secret win', async () => {
    const { credentialId, capability } = await gw.grant()
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { secret: `replacement-${i}` }),
      ),
    )
    const winners = answers.filter(({ status }) => status === 200)
    // All of them win where one is over before the next begins.
    expect(count(answers)[409] ?? 0).toBe(4 - winners.length)
    const versions = winners.map(({ body }) => body.version)
    expect(new Set(versions).size).toBe(winners.length)
    await gw.fetch(capability, { url: gw.url('/') })
    const [, sent] = gw.upstream.requests.at(-1)!.headers.find(([name]) => name === 'authorization')!
    const last = answers.findIndex(({ body }) => body.version === Math.max(...versions))
    expect(sent).toBe(`Bearer replacement-${last}`)
  })
})

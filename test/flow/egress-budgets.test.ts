// Budgets as agents and operators meet them: at every door, over lineages, and beside a balance that agents do not see.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyTool } from '../../src/core/registry.ts'
import { creditsBalance } from '../../tools/credits-balance.ts'
import { egressFetch } from '../../tools/egress-fetch.ts'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'

describe.each(ENGINES)('budgets (%s)', (engine) => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
  })
  afterAll(() => gw.close())

  const get = { url: '' }
  const fetchOnce = (capability: string) => gw.fetch(capability, { ...get, url: gw.url('/v1/things') })
  const narrow = async (from: string, wishes: object = {}) =>
    (await gw.rest('POST', '/v1/egress/capabilities/narrow', wishes, from)).body.capability as string

  it('refuse at every door with the budget, what is used of it, and when it is whole again', async () => {
    const { capability, capabilityId } = await gw.grant({
      capability: { budgets: [{ unit: 'calls', per: 'day', limit: 2 }], ttl_seconds: 3600 },
    })
    expect((await fetchOnce(capability)).status).toBe(200)
    expect((await fetchOnce(await narrow(capability))).status).toBe(200)

    const before = [await gw.balance(), gw.upstream.requests.length]
    const refused = await fetchOnce(
      await narrow(capability, { budgets: [{ unit: 'calls', per: 'hour', limit: 9 }] }),
    )
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({
      code: 'calls_spent',
      refused_by: 'capability',
      budget: { of: 'capability', id: capabilityId, unit: 'calls', per: 'day', limit: '2', used: '2' },
    })
    const frees = Date.parse(refused.body.budget.frees_at as string)
    expect(frees - Date.now()).toBeLessThanOrEqual(86_400_000)
    expect(new Date(frees).toISOString()).toMatch(/T00:00:00/)
    expect(Number(refused.headers.get('retry-after'))).toBe(refused.body.retry_after_seconds)

    const send = (path: string, init: RequestInit) => fetch(`${gw.baseUrl}${path}`, init)
    for (const door of ['rest', 'mcp', 'a2a'] as const) {
      const answer = await throughDoor[door](send, egressFetch, { url: gw.url('/v1/things') }, capability)
      expect([door, answer.code]).toEqual([door, 'calls_spent'])
      expect(answer.raw).toContain('frees_at')
    }
    expect([await gw.balance(), gw.upstream.requests.length]).toEqual(before)
  })

  it('of credits are refused with 402, and belong to the credential, whoever uses it', async () => {
    const { credentialId, capability } = await gw.grant({
      credential: { budgets: [{ unit: 'credits', per: 'month', limit: 1 }] },
    })
    const other = await gw.rest('POST', '/v1/egress/capabilities', { credential_id: credentialId })
    expect((await fetchOnce(capability)).status).toBe(200)
    const refused = await fetchOnce(other.body.capability as string)
    expect(refused.status).toBe(402)
    expect(refused.body).toMatchObject({
      code: 'budget_spent',
      refused_by: 'credential',
      budget: { of: 'credential', id: credentialId, unit: 'credits', per: 'month', limit: '1', used: '1' },
    })
    const { body } = await gw.rest('GET', '/v1/egress/credentials')
    const record = body.credentials.find(
      (one: { credential_id: string }) => one.credential_id === credentialId,
    )
    expect(record.budgets).toEqual([
      { unit: 'credits', per: 'month', limit: '1', used: '1', frees_at: refused.body.budget.frees_at },
    ])
  })

  it('give back what was never sent', async () => {
    const { capability, capabilityId } = await gw.grant({
      capability: { budgets: [{ unit: 'calls', per: 'hour', limit: 1 }] },
    })
    const lost = await gw.fetch(capability, { url: 'https://api.example.com/v1' })
    expect(lost.body.code).toBe('upstream_unreachable')
    const { body } = await gw.rest('GET', '/v1/egress/capabilities')
    const record = body.capabilities.find(
      (one: { capability_id: string }) => one.capability_id === capabilityId,
    )
    expect(record.budgets).toMatchObject([{ unit: 'calls', per: 'hour', limit: '1', used: '0' }])
  })

  it.each([
    [
      'two of one kind',
      [
        { unit: 'calls', per: 'day', limit: 1 },
        { unit: 'calls', per: 'day', limit: 2 },
      ],
      '/budgets/1',
    ],
    ['half a call', [{ unit: 'calls', per: 'day', limit: '1.5' }], '/budgets/0/limit'],
    ['nothing', [{ unit: 'usdc', per: 'day', limit: '0.000' }], '/budgets/0/limit'],
  ])('are refused where they ask for %s', async (_what, budgets, pointer) => {
    const { credentialId } = await gw.grant()
    const refused = await gw.rest('POST', '/v1/egress/capabilities', { credential_id: credentialId, budgets })
    expect(refused.body).toMatchObject({ code: 'input_invalid', fields: [{ pointer }] })
  })
})

describe('the balance of an account', () => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '7' } })
  })
  afterAll(() => gw.close())

  const send = (path: string, init: RequestInit) => fetch(`${gw.baseUrl}${path}`, init)
  const DOORS = ['rest', 'mcp', 'a2a'] as const
  const issue = async (wishes: object) => {
    const { credentialId } = await gw.grant()
    const issued = await gw.rest('POST', '/v1/egress/capabilities', {
      credential_id: credentialId,
      ...wishes,
    })
    return issued.body.capability as string
  }

  it.each(DOORS)('is not shown to an agent over %s, unless its capability says so', async (door) => {
    const call = (tool: AnyTool, token: string) =>
      throughDoor[door](send, tool, tool === egressFetch ? { url: gw.url('/v1/things') } : {}, token)
    const [blind, seeing] = [await issue({}), await issue({ shows_balance: true })]
    expect((await call(egressFetch, blind)).output).toMatchObject({ credits: { charged: 1, balance: null } })
    expect((await call(creditsBalance, blind)).output).toMatchObject({ balance: null, ledger: [] })
    expect((await call(egressFetch, seeing)).output).toMatchObject({
      credits: { balance: await gw.balance() },
    })
    expect((await call(creditsBalance, seeing)).output).toMatchObject({
      balance: await gw.balance(),
      ledger: [],
    })
  })

  it('is not shown in a refusal, in its words or members, nor to what was narrowed from an agent that may not see it', async () => {
    const blind = await issue({ budgets: [{ unit: 'calls', per: 'hour', limit: 50 }] })
    const helper = await gw.rest('POST', '/v1/egress/capabilities/narrow', { shows_balance: true }, blind)
    expect(helper.body.shows_balance).toBe(false)
    const seen = await gw.rest('GET', '/v1/credits', undefined, helper.body.capability)
    expect(seen.body).toMatchObject({
      balance: null,
      budgets: [{ of: 'capability', unit: 'calls', per: 'hour', limit: '50', used: '0' }],
    })

    const lost = await gw.fetch(blind, { url: 'https://api.example.com/v1' })
    expect(lost.body).toMatchObject({ code: 'upstream_unreachable', credits: { charged: 0, balance: null } })
    while ((await gw.balance()) > 0) await gw.fetch(blind, { url: gw.url('/v1/things') })
    const refused = await gw.fetch(blind, { url: gw.url('/v1/things') })
    expect(refused.body.code).toBe('credits_required')
    expect(refused.body).not.toHaveProperty('balance')
    expect(refused.body.detail).not.toMatch(/has \d/)
    expect(refused.body).toHaveProperty('offer')
  })
})

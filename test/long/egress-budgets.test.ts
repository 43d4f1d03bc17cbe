// Budgets as agents and operators meet them: at every door, over lineages, and beside a balance that agents do not see.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AnyTool } from '../../src/core/registry.ts'
import { creditsBalance } from '../../tools/credits-balance.ts'
import { egressFetch } from '../../tools/egress-fetch.ts'
import { tools } from '../../tools/index.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { SHOUT_COST, speak } from '../support/credit-tool.ts'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { throughDoor } from '../support/three-doors.ts'
import { at, type Json } from '../support/tree.ts'

beforeEach(() => awayFromMidnight())

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

describe.each(ENGINES)('what an agent has taken by a call itself (%s)', (engine) => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ engine, tools: [...tools, speak] })
  })
  afterAll(() => gw.close())
  const send = (path: string, init: RequestInit) => fetch(`${gw.baseUrl}${path}`, init)

  it('counts on its credits, at every door, and on nothing when it failed', async () => {
    const { capability, capabilityId } = await gw.grant({
      capability: { budgets: [{ unit: 'credits', per: 'day', limit: 3 * SHOUT_COST + 1 }] },
    })
    const usedNow = async () => {
      const { body } = await gw.rest('GET', '/v1/egress/capabilities')
      const record = body.capabilities.find(
        (one: { capability_id: string }) => one.capability_id === capabilityId,
      )
      return record.budgets[0].used as string
    }
    const before = await gw.balance()
    for (const [done, door] of (['rest', 'mcp', 'a2a'] as const).entries()) {
      expect((await throughDoor[door](send, speak, { text: '' }, capability)).code).toBe('input_invalid')
      expect((await throughDoor[door](send, speak, { text: 'hello' }, capability)).code).toBe('ok')
      expect(await usedNow()).toBe(String((done + 1) * SHOUT_COST))
    }
    for (const door of ['rest', 'mcp', 'a2a'] as const) {
      const answer = await throughDoor[door](send, speak, { text: 'hello' }, capability)
      expect([door, answer.code]).toEqual([door, 'budget_spent'])
      expect(answer.raw).toContain(capabilityId)
    }
    expect(await gw.balance()).toBe(before - 3 * SHOUT_COST)
  })
})

describe('what an agent pays with x402', () => {
  let chain: TestChain
  let gw: TestGateway
  beforeAll(async () => {
    chain = await startTestChain(84532)
    gw = await startTestGateway({ env: chain.env })
    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Page</h1>'),
    )
  })
  afterAll(async () => {
    await gw?.close()
    await chain?.close()
  })

  const rpc = async (path: string, method: string, params: object, token: string, more = {}) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Bearer ${token}`,
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return (await fetch(gw.baseUrl + path, { method: 'POST', headers: { ...headers, ...more }, body })).text()
  }
  const sayTo = (message: object, token: string) =>
    rpc(
      '/a2a',
      'SendMessage',
      { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } },
      token,
      {
        'a2a-version': '1.0',
      },
    )
  /** Pays for the page, and tells what came back, as text. */
  const buyThrough = {
    async rest(input: object, payment: object, token: string) {
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'payment-signature': toHeader(payment),
      }
      const body = JSON.stringify(input)
      return (await fetch(`${gw.baseUrl}/v1/tools/web.fetch`, { method: 'POST', headers, body })).text()
    },
    mcp: (input: object, payment: object, token: string) =>
      rpc(
        '/mcp',
        'tools/call',
        { name: 'gateway.web.fetch', arguments: input, _meta: { 'x402/payment': payment } },
        token,
        { 'mcp-protocol-version': '2025-11-25' },
      ),
    async a2a(input: object, payment: object, token: string) {
      const asked = await sayTo({ parts: [{ data: { skill: 'web-fetch', input } }] }, token)
      return sayTo(
        {
          taskId: at(JSON.parse(asked) as Json, 'result', 'task', 'id'),
          parts: [{ text: 'Here is the payment.' }],
          metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment },
        },
        token,
      )
    },
  } as const

  it.each(['rest', 'mcp', 'a2a'] as const)(
    'counts on its USDC over %s; what has no room is not paid',
    async (door) => {
      // Two pages and a half.
      const { capability, capabilityId } = await gw.grant({
        capability: { budgets: [{ unit: 'usdc', per: 'day', limit: '0.0025' }] },
      })
      const buy = async (held: string) =>
        buyThrough[door](
          { url: gw.url('/page'), testnet: true },
          await signPayment({ account: chain.payers[0]!, requirements: requirementsOf(chain) }),
          held,
        )
      const narrowed = await gw.rest('POST', '/v1/egress/capabilities/narrow', {}, capability)
      const before = await chain.usdcOf(chain.payTo)
      expect(await buy(capability)).toContain('Page')
      expect(await buy(narrowed.body.capability as string)).toContain('Page')
      for (const held of [capability, narrowed.body.capability as string]) {
        const refused = await buy(held)
        expect(refused).toContain('budget_spent')
        expect(refused).toContain(capabilityId)
        expect(refused).not.toContain('Page')
      }
      expect(await chain.usdcOf(chain.payTo)).toBe(before + 2000n)
      const { body } = await gw.rest('GET', '/v1/egress/capabilities')
      const record = body.capabilities.find(
        (one: { capability_id: string }) => one.capability_id === capabilityId,
      )
      expect(record.budgets).toMatchObject([{ unit: 'usdc', limit: '0.002500', used: '0.002000' }])
    },
  )
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

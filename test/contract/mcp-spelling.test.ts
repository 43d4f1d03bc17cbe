// A connection spells names of tools in one way: a model that reads the other spelling in a text calls what it was not shown.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { asIn2025, asIn2026, initialize, namesIn } from '../support/mcp-eras.ts'
import { namesOf, registry, sentencesIn } from '../support/tool-words.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway?.close())

const url = () => `${gateway.baseUrl}/mcp`
const operator = () => ({ authorization: `Bearer ${gateway.operatorKey}` })
const eras = [
  ['2025', asIn2025(url)],
  ['2026', asIn2026(url)],
] as const
const spellings = [
  ['portable', '', 'dotted'],
  ['dotted', '?names=dotted', 'portable'],
] as const

describe.each(eras)('in the %s era', (_, ask) => {
  it.each(spellings)(
    'a list with %s names has the other names in _meta and titles only',
    async (_kind, query, other) => {
      const answer = await ask('tools/list', {}, { query, headers: operator() })
      const listed = answer.json['result'].tools as {
        name: string
        title: string
        _meta: Record<string, unknown>
      }[]
      expect(listed.length).toBeGreaterThan(60)
      for (const { title, ...tool } of listed) {
        const dotted = tool._meta['agent-gateway/name'] as string
        expect(registry.find(tool.name)?.tool.name).toBe(dotted)
        expect(namesOf([other, 'route'], title.replace(` (${dotted})`, '')), tool.name).toEqual([])
        expect(namesOf([other, 'route'], sentencesIn(tool).join('\n')), tool.name).toEqual([])
        expect(namesOf([other], tool.name)).toEqual([])
      }
    },
  )

  it.each(spellings)('resources and prompts with %s names', async (_kind, query, other) => {
    const texts: string[] = []
    for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
      const { json } = await ask(method, {}, { query })
      texts.push(...sentencesIn(json))
      for (const { name } of json['result'].prompts ?? []) {
        const got = await ask('prompts/get', { name, arguments: {} }, { query })
        texts.push(...sentencesIn(got.json))
      }
    }
    expect(texts.length).toBeGreaterThan(20)
    expect(namesOf([other], texts.join('\n'))).toEqual([])
  })

  it.each(spellings)('a challenge with %s names', async (_kind, query, other) => {
    for (const name of ['gateway.web.fetch', 'gateway_execute', 'gateway.credits.purchase']) {
      const entry = registry.find(name)
      const input = entry?.tool.examples.at(-1)?.input ?? {}
      const { json } = await ask('tools/call', { name, arguments: input }, { query })
      expect(namesOf([other, 'route'], sentencesIn(json).join('\n')), name).toEqual([])
    }
  })
})

describe.each(eras)('what a model is told in the %s era', (_, ask) => {
  const call = async (name: string, input: object, query = '') =>
    (await ask('tools/call', { name, arguments: input }, { query })).json['result'].structuredContent

  it.each(spellings)(
    'names the tools of an index with %s names, and finds each again',
    async (_kind, query, other) => {
      const { tools } = (await call('gateway_protocols', {}, query)) as { tools: { name: string }[] }
      expect(tools.length).toBeGreaterThan(60)
      expect(namesOf([other], tools.map(({ name }) => name).join('\n'))).toEqual([])
      const { tools: one } = await call('gateway_protocols', { tool: tools.at(-1)?.name }, query)
      expect(one).toHaveLength(1)
      const { capabilities } = await call('gateway_capabilities', {}, query)
      expect(namesOf(['route'], JSON.stringify(capabilities))).toEqual([])
    },
  )

  it('says where a payment, a sign-in and a capability go in a message', async () => {
    const { detail } = await call('gateway_payments_get', { claim_id: 'clm_x' })
    expect(detail).toContain('_meta["x402/payment"]')
    expect(detail).toContain('`x402/sign-in-with-x`')
    const { json } = await ask('tools/call', { name: 'gateway_egress_attempts_list', arguments: {} })
    expect(json['error'].message).toContain('the tool argument `capability`')
  })

  it('says that a service key is no argument', async () => {
    const { code, detail } = await call('gateway_email_verify', {
      email: 'a@b.example',
      email_key: gateway.operatorKey,
    })
    expect([code, detail]).toEqual(['key_invalid', expect.stringContaining('never into an argument')])
  })

  it('says where sellers are found, where there is none of that name', async () => {
    for (const seller of ['gateway', 'nobody-here']) {
      const { code, detail } = await call('gateway_marketplace_sellers_get', { seller })
      expect([code, detail]).toEqual([
        'seller_not_found',
        expect.stringContaining('gateway_marketplace_search'),
      ])
    }
  })
})

it('finds a tool by the name of its skill, as the index over A2A has it', async () => {
  const found = await (await fetch(`${gateway.baseUrl}/v1/protocols?tool=web-fetch`)).json()
  expect(found).toMatchObject({ tools: [{ name: 'gateway.web.fetch' }] })
})

it.each(spellings)('instructions with %s names', async (_kind, query, other) => {
  const { json } = await initialize(asIn2025(url), 'test', { query })
  const discovered = await asIn2026(url)('server/discover', {}, { query })
  for (const { instructions } of [json['result'], discovered.json['result']]) {
    expect(instructions.length).toBeGreaterThan(500)
    expect(namesOf([other, 'route'], instructions)).toEqual([])
  }
})

it('is shown to no client with a dot, unless it asked', async () => {
  const refused = /[^a-zA-Z0-9_-]/
  for (const [, ask] of eras) {
    const names = namesIn(await ask('tools/list', {}, { headers: operator() }))
    expect(names.filter((name) => refused.test(name) || name.length > 64)).toEqual([])
  }
})

it('is one way to name tools on the agent card and in OpenAPI, too', async () => {
  const [card, skills, openapi] = await Promise.all(
    ['/.well-known/agent-card.json', '/a2a/ext/skills/v1', '/openapi.json'].map(async (path) =>
      (await fetch(gateway.baseUrl + path)).json(),
    ),
  )
  expect(namesOf(['dotted', 'portable', 'route'], sentencesIn(card).join('\n'))).toEqual([])
  expect(namesOf(['dotted', 'portable', 'route'], sentencesIn(skills).join('\n'))).toEqual([])
  expect(namesOf(['dotted', 'portable'], sentencesIn(openapi).join('\n'))).toEqual([])
})

// What a connection is shown of the list: by its token, and by ?tools= and ?toolsets=. Hidden tools stay callable.
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveMcpStdio } from '../../src/doors/mcp/stdio.ts'
import { type Ask, asIn2025, asIn2026, initialize, namesIn } from '../support/mcp-eras.ts'
import {
  capability,
  emailKey,
  operatorKey,
  startMcpGateway,
  type TestGateway,
  testTools,
} from '../support/mcp-gateway.ts'
import { mistyped } from '../support/mistyped.ts'

let gateway: TestGateway
beforeAll(async () => {
  const { tools } = testTools()
  const withToolsets = tools.map((tool) =>
    tool.name.endsWith('.count') ? { ...tool, toolset: 'commerce' as const } : tool,
  )
  gateway = await startMcpGateway({ tools: withToolsets })
})
afterAll(() => gateway.close())

const url = () => gateway.url
const eras = [
  ['2025', asIn2025(url)],
  ['2026', asIn2026(url)],
] as const
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const echo = { name: 'gateway.test.echo', arguments: { text: 'x' } }

describe.each(eras)('a connection in the %s era', (_, ask) => {
  const list = async (options?: Parameters<Ask>[2]) => namesIn(await ask('tools/list', {}, options))

  it('with a capability is shown what that capability can use', async () => {
    const everyone = await list()
    expect(everyone).toEqual(expect.arrayContaining(['gateway_test_agent', 'gateway_test_email']))
    const agents = everyone.filter((name) => name !== 'gateway_test_email')
    expect(await list(bearer(capability))).toEqual(agents)
    expect(await list({ headers: { 'x-gateway-capability': capability } })).toEqual(agents)
  })

  it('with an email key is shown what that key can use', async () => {
    const everyone = await list()
    const expected = everyone.filter((name) => name !== 'gateway_test_agent')
    expect(await list(bearer(emailKey))).toEqual(expected)
  })

  it('with both is shown what either can use, and with a token that is wrong what everybody is', async () => {
    const both = { authorization: `Bearer ${emailKey}`, 'x-gateway-capability': capability }
    expect(await list({ headers: both })).toEqual(await list())
    expect(await list(bearer(mistyped(capability)))).toEqual(await list())
    expect(await list(bearer(mistyped(emailKey)))).toEqual(await list())
  })

  it.each([
    ['?toolsets=commerce', ['gateway_test_count']],
    ['?tools=gateway.test.echo', ['gateway_test_echo']],
    ['?tools=gateway_test_echo&names=dotted', ['gateway.test.echo']],
    [
      '?tools=gateway_test_who,gateway_test_echo&toolsets=commerce',
      ['gateway_test_echo', 'gateway_test_count', 'gateway_test_who'],
    ],
    ['?tools=gateway_test_operator,gateway_test_echo', ['gateway_test_echo']],
  ])('to %s is shown that part', async (query, expected) => {
    expect(await list({ query })).toEqual(expected)
    // The second answer comes from what the first one left prepared.
    expect(await list({ query })).toEqual(expected)
  })

  it('is shown no operator tools that it asks for without a service key', async () => {
    const query = '?tools=gateway_test_operator'
    expect(await list({ query })).toEqual([])
    expect(await list({ query, ...bearer(operatorKey) })).toEqual(['gateway_test_operator'])
  })

  it('may call what it is not shown', async () => {
    const { json } = await ask('tools/call', echo, { query: '?toolsets=commerce' })
    expect(json['result'].structuredContent).toEqual({ text: 'x' })
  })

  it.each([
    ['?toolsets=comerce', /Unknown toolset: comerce\. Did you mean commerce\?/],
    ['?tools=gateway_test_ecko', /Unknown tool: gateway_test_ecko\. Did you mean gateway_test_echo\?/],
    ['?toolset=web', /Did you mean \?toolsets=\?/],
    ['?names=underscores', /\?names=portable/],
  ])('to %s is told what is wrong', async (query, words) => {
    const { status, json } = await ask('tools/list', {}, { query })
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { code: -32600, data: { code: 'request_invalid' } } })
    expect(json['error'].data.detail).toMatch(words)
    // Clients show the message and nothing beside it.
    expect(json['error'].message).toBe(json['error'].data.detail)
  })

  it.each([
    ['', 'gateway_test_echo'],
    ['?names=dotted', 'gateway.test.echo'],
  ])('to %j that calls a tool by nearly its name is told the name', async (query, expected) => {
    const { json } = await ask('tools/call', { name: 'gateway.test.ecko', arguments: {} }, { query })
    expect(json['error']).toMatchObject({ code: -32602 })
    expect(json['error'].message).toContain(`Did you mean ${expected}?`)
  })
})

describe('a session of 2025', () => {
  const ask = asIn2025(url)
  const open = async (query: string) => {
    const opened = await initialize(ask, 'test', { query })
    return { opened, session: { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' } }
  }

  it('remembers the part that initialize asked for', async () => {
    const { session } = await open('?toolsets=commerce&names=dotted')
    expect(namesIn(await ask('tools/list', {}, { headers: session }))).toEqual(['gateway.test.count'])
  })

  it('gives way to what a later address asks for', async () => {
    const { session } = await open('?toolsets=commerce')
    const query = '?tools=gateway_test_echo'
    expect(namesIn(await ask('tools/list', {}, { query, headers: session }))).toEqual(['gateway_test_echo'])
  })

  it('is known to another replica', async () => {
    const { session } = await open('?toolsets=commerce')
    const other = await startMcpGateway({ tools: gateway.parts.registry.tools.map(({ tool }) => tool) })
    try {
      const elsewhere = asIn2025(() => other.url)
      expect(namesIn(await elsewhere('tools/list', {}, { headers: session }))).toEqual(['gateway_test_count'])
    } finally {
      await other.close()
    }
  })

  it('is refused when somebody changed what it asks for', async () => {
    const { session } = await open('?toolsets=commerce')
    const changed = { 'mcp-session-id': session['mcp-session-id'].replace('~commerce', '~web') }
    expect(changed).not.toEqual(session)
    expect((await ask('tools/list', {}, { headers: changed })).status).toBe(404)
  })

  it('is told in its instructions only of tools that it is shown', async () => {
    const { opened } = await open('?toolsets=commerce')
    expect(opened.json['result'].instructions).not.toMatch(/gateway[._][a-z]/)
  })
})

it('narrows over stdio by the address that is bridged to', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const served = serveMcpStdio({ target: { url: `${gateway.url}?toolsets=commerce` }, stdin, stdout })
  stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`)
  await served
  const { result } = JSON.parse(String(stdout.read())) as { result: { tools: { name: string }[] } }
  expect(result.tools.map(({ name }) => name)).toEqual(['gateway_test_count'])
})

it.each([
  ['', undefined, 'gateway_test_count'],
  ['', 'dotted', 'gateway.test.count'],
  ['?names=portable', 'dotted', 'gateway_test_count'],
  ['?names=dotted', undefined, 'gateway.test.count'],
] as const)('spells names over a bridge to %j, where %s is wanted, as %s', async (query, names, expected) => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const target = { url: gateway.url + query }
  const served = serveMcpStdio({ target, stdin, stdout, ...(names && { names }) })
  stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`)
  await served
  expect(String(stdout.read())).toContain(`"name":"${expected}"`)
})

it.each([
  ['dotted', 'gateway.test.count'],
  ['auto', 'gateway_test_count'],
])('spells names over stdio in this process as GATEWAY_MCP_NAMES=%s says', async (setting, expected) => {
  const own = await startMcpGateway({ env: { GATEWAY_MCP_NAMES: setting } })
  try {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const served = serveMcpStdio({ target: { door: own.door }, stdin, stdout })
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'claude-code', version: '1' },
    }
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`)
    await served
    expect(String(stdout.read())).toContain(`"name":"${expected}"`)
  } finally {
    await own.close()
  }
})

// What goes over the wire at /mcp, byte by byte: both eras, and everything that is wrong with a request.
import { once } from 'node:events'
import { request } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  adminKey,
  capability,
  operatorKey,
  sellerKey,
  startMcpGateway,
  type TestGateway,
  testTools,
} from '../support/mcp-gateway.ts'
import { createRegistry } from '../../src/core/registry.ts'
import { answerSchema } from '../../src/doors/mcp/answer-schema.ts'
import { cites } from '../requirements.ts'
import { mistyped } from '../support/mistyped.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const CLIENT = 'io.modelcontextprotocol/clientInfo'
const meta = { [VERSION]: '2026-07-28', [CAPABILITIES]: {} }

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startMcpGateway()
})
afterAll(() => gateway.close())

interface Answer {
  status: number
  headers: Headers
  text: string
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever came back is what is tested
  json: Record<string, any>
}

async function post(body: unknown, headers: Record<string, string> = {}, path = ''): Promise<Answer> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })
  const text = await response.text()
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: data === '' ? {} : (JSON.parse(data) as Answer['json']),
  }
}

const legacy = (
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
  path = '',
): Promise<Answer> => post({ jsonrpc: '2.0', id: 7, method, params }, headers, path)

function modern(
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string | undefined> = {},
  path = '',
): Promise<Answer> {
  const standard: Record<string, string | undefined> = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}),
    ...headers,
  }
  const present = Object.entries(standard).filter(([, value]) => value !== undefined)
  return post(
    { jsonrpc: '2.0', id: 7, method, params: { _meta: meta, ...params } },
    Object.fromEntries(present) as Record<string, string>,
    path,
  )
}

const eras = [
  ['2025', legacy],
  ['2026', modern],
] as const
const names = ({ json }: Answer): string[] => json['result'].tools.map((tool: { name: string }) => tool.name)
const initialize = (client: string, headers: Record<string, string> = {}, path = '') =>
  legacy(
    'initialize',
    { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: client, version: '1' } },
    headers,
    path,
  )

describe.each(eras)('in the %s era', (era, call) => {
  it(
    cites(
      ['mcp:tools:name', 'mcp:tools:structured'],
      'calls a tool by either spelling, with the same structured and text content',
    ),
    async () => {
      for (const name of ['gateway.test.echo', 'gateway_test_echo']) {
        const { status, json } = await call('tools/call', { name, arguments: { text: 'é"\n' } })
        expect(status).toBe(200)
        expect(json['id']).toBe(7)
        expect(json['result'].structuredContent).toEqual({ text: 'é"\n' })
        expect(JSON.parse(json['result'].content[0].text)).toEqual({ text: 'é"\n' })
        expect(json['result'].isError).toBeUndefined()
        expect(json['result'].resultType).toBe(era === '2026' ? 'complete' : undefined)
      }
    },
  )

  it(cites('mcp:tools:error-result', 'answers a refused call with the problem document, twice'), async () => {
    const { json } = await call('tools/call', { name: 'gateway.test.fail', arguments: { how: 'refused' } })
    const { structuredContent, content, isError } = json['result']
    expect(isError).toBe(true)
    expect(JSON.parse(content[0].text)).toEqual(structuredContent)
    expect(structuredContent).toMatchObject({
      code: 'intent_unknown',
      status: 400,
      detail: 'Say what to do, or call gateway_test_echo.',
      repair: { try: 'demo' },
    })
  })

  it(cites('mcp:tools:error-words', 'says nothing of what a bug said'), async () => {
    const { text, json } = await call('tools/call', { name: 'gateway.test.fail', arguments: { how: 'bug' } })
    expect(json['result'].structuredContent.code).toBe('internal')
    expect(text).not.toMatch(/hunter2|password|at .*\.ts/)
  })

  it(
    cites('mcp:tools:input', 'answers input that does not fit as an error of the tool, naming the field'),
    async () => {
      const { json } = await call('tools/call', { name: 'gateway.test.echo', arguments: { text: 1 } })
      expect(json['result'].isError).toBe(true)
      expect(json['result'].structuredContent).toMatchObject({
        code: 'input_wrong_type',
        fields: [{ pointer: '/text' }],
      })
    },
  )

  it.each([[{ name: 'gateway.nothing' }], [{ name: 'test_simple_text' }], [{ name: 'constructor' }]])(
    cites('mcp:tools:unknown', 'answers the unknown tool %j with -32602'),
    async (params) => {
      const { status, json } = await call('tools/call', params)
      expect(status).toBe(200)
      expect(json['error'].code).toBe(-32602)
    },
  )

  it.each([[{}], [{ name: 5 }], [{ name: 'gateway.test.echo', arguments: 'text' }]])(
    cites('mcp:tools:malformed', 'answers the malformed call %j with -32602'),
    async (params) => {
      expect((await call('tools/call', params)).json['error'].code).toBe(-32602)
    },
  )

  it(
    cites('mcp:tools:listed', 'shows operator tools to a service key only, and each key what it may call'),
    async () => {
      const list = async (token?: string) =>
        names(await call('tools/list', {}, token === undefined ? {} : { authorization: `Bearer ${token}` }))
      const everyone = await list()
      expect(everyone).toContain('gateway_test_agent')
      expect(everyone).not.toContain('gateway_test_operator')
      expect(await list(capability)).toEqual(everyone.filter((name) => name !== 'gateway_test_email'))
      expect(await list(mistyped(operatorKey))).toEqual(everyone)
      expect(await list(operatorKey)).toEqual([...everyone, 'gateway_test_operator'])
      expect(await list(sellerKey)).toEqual([...everyone, 'gateway_test_seller'])
      expect(await list(adminKey)).toEqual([...everyone, 'gateway_test_operator', 'gateway_test_admin'])
    },
  )

  it(cites('mcp:tools:access', 'lets an operator tool be called with a service key only'), async () => {
    const params = { name: 'gateway.test.operator', arguments: {} }
    const refused = await call('tools/call', params)
    expect([refused.status, refused.json['error'].data.code]).toEqual([401, 'key_required'])
    const answered = await call('tools/call', params, { authorization: `Bearer ${operatorKey}` })
    expect(answered.json['result'].structuredContent).toEqual({ kind: 'operator', id: 'key_operator' })
  })

  it.each([
    ['Authorization', {}, { authorization: `Bearer ${capability}` }],
    ['X-Gateway-Capability', {}, { 'x-gateway-capability': capability }],
    ['the argument', { capability }, {}],
  ])(cites('mcp:auth:bearer', 'takes the capability from %s'), async (_, given, headers) => {
    const { json } = await call('tools/call', { name: 'gateway.test.agent', arguments: given }, headers)
    expect(json['result'].structuredContent).toEqual({ kind: 'agent', id: 'cap_test' })
  })

  it(
    cites('mcp:progress:order', 'reports progress in order, each step once, and the result last'),
    async () => {
      const { text, headers } = await call('tools/call', {
        name: 'gateway.test.count',
        arguments: { to: 3 },
        _meta: { ...(era === '2026' ? meta : {}), progressToken: 'p1' },
      })
      expect(headers.get('content-type')).toBe('text/event-stream')
      const messages = [...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1]!))
      expect(messages.slice(0, -1)).toEqual(
        [1, 2, 3].map((progress) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 'p1', progress, total: 3, message: `step ${progress}` },
        })),
      )
      expect(messages.at(-1).result.structuredContent).toEqual({ counted: 3 })
    },
  )

  it('reports nothing under a token that is longer than a token is', async () => {
    const params = (length: number) => ({
      name: 'gateway.test.count',
      arguments: { to: 3 },
      _meta: { ...(era === '2026' ? meta : {}), progressToken: 't'.repeat(length) },
    })
    const { text, headers } = await call('tools/call', params(257))
    expect([headers.get('content-type'), text.includes('ttt')]).toEqual(['application/json', false])
    expect((await call('tools/call', params(256))).headers.get('content-type')).toBe('text/event-stream')
  })

  it(cites('mcp:transport:json', 'answers in JSON when nobody asked for progress'), async () => {
    const { headers } = await call('tools/call', { name: 'gateway.test.count', arguments: { to: 2 } })
    expect(headers.get('content-type')).toBe('application/json')
  })

  it(cites('mcp:cancel:closed', 'stops the work when the client closes the response'), async () => {
    const { tools, seen } = testTools()
    const own = await startMcpGateway({ tools })
    try {
      const params = { name: 'gateway.test.wait', ...(era === '2026' ? { _meta: meta } : {}) }
      const standard =
        era === '2026'
          ? {
              'mcp-protocol-version': '2026-07-28',
              'mcp-method': 'tools/call',
              'mcp-name': 'gateway.test.wait',
            }
          : {}
      const controller = new AbortController()
      const answer = fetch(own.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...standard },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        signal: controller.signal,
      })
      const ended = expect(answer).rejects.toThrow('aborted')
      await seen.started
      controller.abort()
      await seen.aborted
      await ended
    } finally {
      await own.close()
    }
  })

  it('lists what a call takes, and has no room for what it answers', async () => {
    const { json } = await call('tools/list')
    for (const tool of json['result'].tools) {
      expect(tool.inputSchema.type).toBe('object')
      expect(tool).not.toHaveProperty('outputSchema')
      expect(tool.annotations.readOnlyHint).toBe(true)
    }
  })

  it(
    cites(
      'mcp:tools:output-schema',
      'answers what the schema of the tool says, for success and for a problem',
    ),
    async () => {
      const echo = createRegistry(testTools().tools).find('gateway.test.echo')!
      const fits = new Ajv2020({ strict: false }).compile(answerSchema(echo))
      const answer = async (given: object) =>
        (await call('tools/call', { name: 'gateway_test_echo', arguments: given })).json['result']
      const done = await answer({ text: 'hi' })
      expect(fits(done.structuredContent), JSON.stringify(fits.errors)).toBe(true)
      const refused = await answer({})
      expect(refused.isError).toBe(true)
      expect(fits(refused.structuredContent), JSON.stringify(fits.errors)).toBe(true)
      expect(fits({ text: 7 })).toBe(false)
    },
  )

  it(cites('mcp:pagination:cursor', 'refuses a cursor it never gave out'), async () => {
    expect((await call('tools/list', { cursor: 'x' })).json['error'].code).toBe(-32602)
  })
})

describe('the spelling of the list', () => {
  it.each(eras)('is chosen with ?names= in the %s era', async (_, call) => {
    expect(names(await call('tools/list', {}, {}, '?names=portable'))).toContain('gateway_test_echo')
    expect(names(await call('tools/list', {}, {}, '?names=dotted'))).toContain('gateway.test.echo')
  })

  it.each(eras)('is portable where nobody asks for another, in the %s era', async (_, call) => {
    const answer = await call('tools/list')
    expect(names(answer).filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([])
  })

  it('leaves the dotted name in _meta and, for people, in the title', async () => {
    const echo = async (query: string) =>
      (await legacy('tools/list', {}, {}, query)).json['result'].tools[0] as Record<string, unknown>
    expect(await echo('')).toMatchObject({
      title: 'Echo (gateway.test.echo)',
      _meta: { 'agent-gateway/name': 'gateway.test.echo' },
    })
    expect(await echo('?names=dotted')).toMatchObject({
      title: 'Echo',
      _meta: { 'agent-gateway/name': 'gateway.test.echo' },
    })
  })

  it.each(eras)('is also the spelling of a refusal in the %s era', async (_, call) => {
    const refused = async (query: string) =>
      (await call('tools/call', { name: 'gateway.test.fail', arguments: { how: 'refused' } }, {}, query))
        .json['result']
    const portable = await refused('')
    expect(portable.structuredContent.detail).toContain('gateway_test_echo')
    expect(portable.content[0].text).toBe(JSON.stringify(portable.structuredContent))
    expect((await refused('?names=dotted')).structuredContent.detail).toContain('gateway.test.echo')
  })

  it('is not guessed from a misspelt ?names=', async () => {
    const { status, json } = await legacy('tools/list', {}, {}, '?names=underscores')
    expect(status).toBe(400)
    expect(json['error'].data.code).toBe('request_invalid')
  })

  it('follows the client name of initialize through the session id', async () => {
    const session = (await initialize('claude-code')).headers.get('mcp-session-id')!
    const list = await legacy('tools/list', {}, { 'mcp-session-id': session })
    expect(names(list)).toContain('gateway.test.echo')
    const other = (await initialize('my-agent')).headers.get('mcp-session-id')!
    expect(names(await legacy('tools/list', {}, { 'mcp-session-id': other }))).toContain('gateway_test_echo')
  })

  it('follows the client name of _meta, and the User-Agent', async () => {
    const info = { ...meta, [CLIENT]: { name: 'claude-code', version: '1' } }
    expect(names(await modern('tools/list', { _meta: info }))).toContain('gateway.test.echo')
    const userAgent = { 'user-agent': 'claude-code/2.1.92 (cli)' }
    expect(names(await legacy('tools/list', {}, userAgent))).toContain('gateway.test.echo')
  })

  it('is also the spelling of the instructions', async () => {
    for (const query of ['dotted', 'portable']) {
      const instructions: string = (await initialize('x', {}, `?names=${query}`)).json['result'].instructions
      expect(instructions.split('\n').length).toBeLessThanOrEqual(10)
      expect(instructions).not.toMatch(query === 'portable' ? /gateway\.\w/ : /\{gateway/)
    }
  })
})

describe('initialize', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['1999-01-01', '2025-11-25'],
  ])(cites('mcp:lifecycle:version', 'asked for %s answers %s'), async (asked, answered) => {
    const { json } = await legacy('initialize', {
      protocolVersion: asked,
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    })
    expect(json['result'].protocolVersion).toBe(answered)
    expect(json['result'].serverInfo.name).toBe('agent-gateway')
  })

  it(cites('mcp:lifecycle:session', 'is followed by anything, with or without the session id'), async () => {
    const session = (await initialize('x')).headers.get('mcp-session-id')!
    for (const headers of [{ 'mcp-session-id': session }, {}] as Record<string, string>[]) {
      expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).status).toBe(202)
      expect((await legacy('ping', {}, headers)).json).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    }
  })

  it('is answered in JSON like ping, also where a client takes nothing else, and offers no extensions of 2026', async () => {
    const accept = { accept: 'application/json' }
    const opened = await initialize('x', accept)
    expect(opened.headers.get('content-type')).toBe('application/json')
    expect(opened.json['result'].capabilities).toEqual({
      tools: { listChanged: false },
      resources: {},
      prompts: {},
      completions: {},
    })
    expect(JSON.parse((await legacy('ping', {}, accept)).text)).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
  })

  it('opens no session when it is refused', async () => {
    const { headers, json } = await legacy('initialize', { protocolVersion: '2025-11-25' })
    expect(json['error']).toBeDefined()
    expect(headers.get('mcp-session-id')).toBeNull()
  })

  it(cites('mcp:lifecycle:unknown', 'is asked for again when the session id is not ours'), async () => {
    const { status, json } = await legacy('tools/list', {}, { 'mcp-session-id': 'dAAAA.BBBB' })
    expect(status).toBe(404)
    expect(json).toMatchObject({ id: 7, error: { data: { code: 'not_found' } } })
  })

  it.each([
    ['JSON alone', 'application/json', 202, null],
    ['events', 'application/json, text/event-stream', 200, 'text/event-stream'],
  ])(
    cites(
      'mcp:cancel:notified',
      'lets notifications/cancelled of the same session stop a call, and answers nothing more to a client of %s',
    ),
    async (_, accept, status, type) => {
      const { tools, seen } = testTools()
      const own = await startMcpGateway({ tools })
      try {
        const send = (body: object, session?: string) =>
          fetch(own.url, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              accept,
              ...(session === undefined ? {} : { 'mcp-session-id': session }),
            },
            body: JSON.stringify({ jsonrpc: '2.0', ...body }),
          })
        const params = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'x', version: '1' },
        }
        const session = (await send({ id: 0, method: 'initialize', params })).headers.get('mcp-session-id')!
        const waiting = { name: 'gateway.test.wait', _meta: { progressToken: 1 } }
        const call = send({ id: 5, method: 'tools/call', params: waiting }, session)
        await seen.started
        await send({ method: 'notifications/cancelled', params: { requestId: 5 } }, session)
        await seen.aborted
        const answer = await call
        expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type])
        expect(await answer.text()).toBe('')
      } finally {
        await own.close()
      }
    },
  )
})

describe('the 2026 revision', () => {
  it(
    cites(
      ['mcp:discover:answer', 'mcp:discover:cache'],
      'discovers versions, capabilities and how long that holds',
    ),
    async () => {
      const { json } = await modern('server/discover')
      expect(json['result']).toMatchObject({
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        resultType: 'complete',
        ttlMs: 300_000,
        cacheScope: 'private',
      })
      expect(json['result']._meta['io.modelcontextprotocol/serverInfo'].name).toBe('agent-gateway')
    },
  )

  it.each([
    ['no MCP-Protocol-Version', { 'mcp-protocol-version': undefined }, {}, 400, -32020],
    ['another MCP-Protocol-Version', { 'mcp-protocol-version': '2025-11-25' }, {}, 400, -32020],
    ['no Mcp-Method', { 'mcp-method': undefined }, {}, 400, -32020],
    ['another Mcp-Method', { 'mcp-method': 'tools/list' }, {}, 400, -32020],
    ['no Mcp-Name', { 'mcp-name': undefined }, {}, 400, -32020],
    ['another Mcp-Name', { 'mcp-name': 'gateway.test.fail' }, {}, 400, -32020],
    ['a broken Base64 Mcp-Name', { 'mcp-name': '=?base64?%%?=' }, {}, 400, -32020],
    ['no _meta', {}, { _meta: undefined }, 400, -32602],
    ['no client capabilities', {}, { _meta: { [VERSION]: '2026-07-28' } }, 400, -32602],
    [
      'an unknown version',
      { 'mcp-protocol-version': '2027-01-01' },
      { _meta: { ...meta, [VERSION]: '2027-01-01' } },
      400,
      -32022,
    ],
  ])(
    cites(
      ['mcp:headers:required', 'mcp:headers:match', 'mcp:version:envelope', 'mcp:version:unsupported'],
      'refuses a request with %s',
    ),
    async (_, headers, params, status, code) => {
      const answer = await modern(
        'tools/call',
        { name: 'gateway.test.echo', arguments: { text: 'x' }, ...params },
        headers,
      )
      expect([answer.status, answer.json['error']?.code]).toEqual([status, code])
    },
  )

  it(cites('mcp:headers:base64', 'reads a Base64 Mcp-Name'), async () => {
    const name = `=?base64?${Buffer.from('gateway.test.echo').toString('base64')}?=`
    const { json } = await modern(
      'tools/call',
      { name: 'gateway.test.echo', arguments: { text: 'x' } },
      { 'mcp-name': name },
    )
    expect(json['result'].structuredContent).toEqual({ text: 'x' })
  })

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'nothing/at-all', 'tasks/get'])(
    cites('mcp:methods:unknown', 'answers %s with 404 and -32601'),
    async (method) => {
      const { status, json } = await modern(method)
      expect([status, json['error'].code, json['id']]).toEqual([404, -32601, 7])
    },
  )

  it(cites('mcp:subscriptions:ack', 'acknowledges a subscription first and lets go of it'), async () => {
    const controller = new AbortController()
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { _meta: meta, notifications: { toolsListChanged: true } },
      }),
      signal: controller.signal,
    })
    const { value } = await response.body!.getReader().read()
    expect(Buffer.from(value!).toString()).toContain('notifications/subscriptions/acknowledged')
    controller.abort()
  })
})

describe('what is not a request', () => {
  const json = { 'content-type': 'application/json' }
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  it.each([
    ['nothing', '', json, 400, -32700],
    ['half a document', '{"jsonrpc"', json, 400, -32700],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), json, 400, -32700],
    ['a document nested too deeply', '['.repeat(100) + ']'.repeat(100), json, 400, -32700],
    ['a number', '5', json, 400, -32600],
    ['null', 'null', json, 400, -32600],
    ['an object of another kind', '{"hello":"world"}', json, 400, -32600],
    ['another JSON-RPC version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', json, 400, -32600],
    ['a fractional id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', json, 400, -32600],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', json, 400, -32600],
    ['parameters by position', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', json, 400, -32600],
    ['an empty batch', '[]', json, 400, -32600],
    [
      'a batch that asks for the list more often than anybody needs it',
      JSON.stringify(Array.from({ length: 21 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))),
      json,
      400,
      -32600,
    ],
    ['text', ping, { 'content-type': 'text/plain' }, 415, -32600],
    ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415, -32600],
    ['a compressed body', ping, { ...json, 'content-encoding': 'gzip' }, 415, -32600],
    ['an unknown version', ping, { ...json, 'mcp-protocol-version': '1999-01-01' }, 400, -32022],
    ['an origin of a page', ping, { ...json, origin: 'https://evil.example' }, 403, -32600],
    ['more than the limit', `"${'x'.repeat(256 * 1024)}"`, json, 413, -32600],
  ])(
    cites(
      ['mcp:transport:origin', 'mcp:transport:type', 'mcp:jsonrpc:parse', 'mcp:jsonrpc:request'],
      '%s is refused in JSON-RPC',
    ),
    async (_, body, headers, status, code) => {
      const answer = await post(body, headers as Record<string, string>)
      expect([answer.status, answer.json['error']?.code]).toEqual([status, code])
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(answer.text).not.toMatch(/<html|node_modules|\.ts:\d/i)
    },
  )

  it(cites('mcp:transport:methods', 'GET and DELETE are refused with what is allowed'), async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await fetch(gateway.url, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
      expect(await response.json()).toMatchObject({ error: { data: { code: 'method_not_allowed' } } })
    }
  })

  it(cites('mcp:transport:host', 'a name that resolves here is refused by its Host'), async () => {
    const { hostname, port, pathname } = new URL(gateway.url)
    const req = request({
      hostname,
      port,
      path: pathname,
      method: 'POST',
      headers: { ...json, host: 'evil.example' },
    })
    req.end(ping)
    const [res] = await once(req, 'response')
    res.resume()
    expect(res.statusCode).toBe(403)
  })

  it(
    cites('mcp:transport:limit', 'a body without a length is cut off at the limit, and the refusal arrives'),
    async () => {
      const { hostname, port, pathname } = new URL(gateway.url)
      const req = request({ hostname, port, path: pathname, method: 'POST', headers: json })
      // The gateway closes the connection once it has answered; what we still had to say is lost then.
      req.on('error', () => {})
      for (let i = 0; i < 20; i++) req.write('x'.repeat(16 * 1024))
      const [res] = await once(req, 'response')
      res.resume()
      expect(res.statusCode).toBe(413)
      req.destroy()
    },
  )

  it(cites('mcp:jsonrpc:batch', 'a batch of the 2025 era is answered'), async () => {
    const { json: answer } = await post([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'gateway_test_echo', arguments: { text: 'x' } },
      },
    ])
    expect(answer).toMatchObject({ id: 1, result: { structuredContent: { text: 'x' } } })
  })

  it(cites('mcp:jsonrpc:response', 'a response to nothing is taken and dropped'), async () => {
    expect((await post({ jsonrpc: '2.0', id: 'x', result: {} })).status).toBe(202)
  })

  it(cites('mcp:jsonrpc:any', 'no JSON whatever makes the server fail'), async () => {
    const method = fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping', 'server/discover', 'x')
    const message = fc.oneof(
      fc.jsonValue(),
      fc.record({
        jsonrpc: fc.constant('2.0'),
        id: fc.oneof(fc.integer(), fc.jsonValue()),
        method,
        params: fc.oneof(
          fc.jsonValue(),
          fc.record({
            name: fc.oneof(fc.constant('gateway.test.echo'), fc.jsonValue()),
            arguments: fc.jsonValue(),
            _meta: fc.oneof(fc.constant(meta), fc.jsonValue()),
          }),
        ),
      }),
    )
    const headers = fc.constantFrom<Record<string, string>>(
      {},
      { 'mcp-protocol-version': '2025-06-18' },
      {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'gateway.test.echo',
      },
    )
    await fc.assert(
      fc.asyncProperty(message, headers, async (body, given) => {
        const { status, text } = await post(JSON.stringify(body), given)
        expect(status).toBeLessThan(500)
        expect(text).not.toMatch(/node_modules|\.ts:\d|<html/)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the log', () => {
  it(
    cites(
      'mcp:trace:context',
      'has a line for each call, with the trace of the header or of _meta, and for each refusal',
    ),
    async () => {
      const logged: Record<string, unknown>[] = []
      const own = await startMcpGateway({ logged })
      try {
        const send = async (params: object, headers: Record<string, string> = {}) => {
          const response = await fetch(own.url, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
          })
          await response.arrayBuffer()
          return response.headers.get('x-request-id')
        }
        const echo = { name: 'gateway.test.echo', arguments: { text: 'x' } }
        const trace = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`
        const ids = [
          await send(echo, { traceparent: trace('a') }),
          await send({ ...echo, _meta: { traceparent: trace('b') } }),
          await send({ ...echo, _meta: { traceparent: trace('0') } }),
          await send(echo, { origin: 'https://evil.example' }),
        ]
        expect(logged).toMatchObject([
          { request_id: ids[0], door: 'mcp', tool: 'gateway.test.echo', code: 'ok', traceparent: trace('a') },
          { request_id: ids[1], door: 'mcp', tool: 'gateway.test.echo', code: 'ok', traceparent: trace('b') },
          { request_id: ids[2], door: 'mcp', tool: 'gateway.test.echo', code: 'ok' },
          { request_id: ids[3], door: 'mcp', code: 'origin_denied', reason: 'origin' },
        ])
        expect(logged[2]).not.toHaveProperty('traceparent')
      } finally {
        await own.close()
      }
    },
  )
})

describe('limits', () => {
  it(cites('mcp:limits:rate', 'the list is limited like calls, and says when to come back'), async () => {
    const own = await startMcpGateway({ env: { GATEWAY_RATE_LIMIT: '1' } })
    try {
      const ask = () =>
        fetch(own.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        })
      expect((await ask()).status).toBe(200)
      const refused = await ask()
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused.json()).toMatchObject({ id: 1, error: { data: { code: 'rate_limited' } } })
    } finally {
      await own.close()
    }
  })
})

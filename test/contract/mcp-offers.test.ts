// What MCP offers beside tools, on the whole gateway and in both eras: resources, prompts, completion, skills.
import { createHash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { skillEntry } from '@modelcontextprotocol/server/ext/skills'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/core/errors.ts'
import { serveMcpStdio } from '../../src/doors/mcp/stdio.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { cites } from '../requirements.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

// Whatever came back is what is tested.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any
interface Asked {
  readonly token?: string
  readonly query?: string
}
type Ask = (method: string, params?: Record<string, unknown>, asked?: Asked) => Promise<Answer>

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function post(body: unknown, headers: Record<string, string>, { token, query = '' }: Asked) {
  const response = await fetch(`${gateway.baseUrl}/mcp${query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Answer
  expect(answer.id).toBe(1)
  return answer
}
const legacy: Ask = (method, params = {}, asked = {}) =>
  post({ jsonrpc: '2.0', id: 1, method, params }, { 'mcp-protocol-version': '2025-11-25' }, asked)
const modern: Ask = (method, params = {}, asked = {}) => {
  const name = method === 'resources/read' ? params['uri'] : params['name']
  const named = method === 'resources/read' || method === 'prompts/get' ? { 'mcp-name': String(name) } : {}
  return post(
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named },
    asked,
  )
}
const eras = [
  ['2025', legacy],
  ['2026', modern],
] as const

const textAt = async (ask: Ask, uri: string, asked?: Asked) =>
  (await ask('resources/read', { uri }, asked)).result.contents[0].text as string

describe.each(eras)('in the era of %s', (era, ask) => {
  it(
    cites('mcp:resources:list', 'lists an index of each kind, and no more: clients make tools of resources'),
    async () => {
      const { resources } = (await ask('resources/list')).result
      expect(resources.map(({ uri }: { uri: string }) => uri)).toEqual([
        'gateway://catalogue',
        'gateway://tools',
        'gateway://skills',
        'gateway://problems',
      ])
      for (const token of [undefined, gateway.operatorKey]) {
        const asked = token === undefined ? {} : { token }
        const { tools } = (await ask('tools/list', {}, asked)).result
        const named = [...(await textAt(ask, 'gateway://tools', asked)).matchAll(/^- ([\w.-]+): /gm)]
        expect(named.map(([, name]) => name)).toEqual(tools.map(({ name }: { name: string }) => name))
      }
      expect(await textAt(ask, 'gateway://skills')).toContain('- skill://pay-for-a-web-page/SKILL.md: ')
    },
  )

  it('reads every resource that it lists, in the type it said', async () => {
    const { resources } = (await ask('resources/list')).result
    for (const { uri, mimeType } of resources) {
      const { contents } = (await ask('resources/read', { uri })).result
      expect(contents).toEqual([{ uri, mimeType, text: expect.any(String) }])
      if (mimeType === 'application/json') expect(() => JSON.parse(contents[0].text)).not.toThrow()
    }
  })

  it('shows what the list of tools leaves out: the whole schemas, examples and codes', async () => {
    const tool = JSON.parse(await textAt(ask, 'gateway://tools/gateway_execute')) as Answer
    expect(tool).toMatchObject({
      name: 'gateway_execute',
      rest: { method: 'POST', path: '/v1/execute' },
      output_schema: { type: 'object', anyOf: expect.any(Array) },
    })
    expect(tool.examples[0].input).toEqual({ intent: 'demo' })
    expect(tool.codes).toContain('sources_unusable')
    expect(tool.a2a_skills).toContain('web-extraction')
    // Either spelling is an address of it.
    expect(await textAt(ask, 'gateway://tools/gateway.web.fetch')).toBe(
      await textAt(ask, 'gateway://tools/gateway_web_fetch'),
    )
  })

  it('says of every code what to do', async () => {
    for (const code of Object.keys(ERRORS)) {
      const text = await textAt(ask, `gateway://problems/${code}`)
      expect(text).toContain(`Code \`${code}\``)
      // Whoever reads this has tools, not routes.
      expect(text).not.toMatch(/(?:GET|POST) \//)
    }
    expect(await textAt(ask, 'gateway://problems/permit_not_found')).toContain(
      'at gateway_actions_permits_list.',
    )
    expect(await textAt(ask, 'gateway://capabilities/extract-preview')).toContain('"limitations"')
  })

  it.each([
    'gateway://tools/gateway_nothing',
    'gateway://tools/__proto__',
    'gateway://problems/constructor',
    'gateway://capabilities/nothing',
    'gateway://receipts/rcp_0000000000000000000000000000000000',
    `gateway://receipts/${'r'.repeat(100)}`,
    'gateway://tools/../problems',
    'skill://pay-for-a-web-page/../../package.json',
    'skill://pay-for-a-web-page',
    'file:///etc/passwd',
    'https://example.com/',
    `skill://${'a'.repeat(10_000)}/SKILL.md`,
    '',
  ])(cites('mcp:resources:miss', 'has no resource %j, and says so as its era does'), async (uri) => {
    const { error } = await ask('resources/read', { uri })
    expect(error).toMatchObject({
      code: era === '2025' ? -32002 : -32602,
      data: { uri: uri.slice(0, 256) },
    })
  })

  it(cites('mcp:cache:hints', 'says how long an answer holds where its era wants to know'), async () => {
    const results = [
      (await ask('resources/list')).result,
      (await ask('resources/templates/list')).result,
      (await ask('prompts/list')).result,
      (await ask('resources/read', { uri: 'gateway://catalogue' })).result,
      (await ask('skills/list')).result,
    ]
    for (const { ttlMs, cacheScope, resultType } of results)
      expect([ttlMs, cacheScope, resultType]).toEqual(
        era === '2026' ? [300_000, 'private', 'complete'] : [undefined, undefined, undefined],
      )
  })

  it.each(['resources/list', 'resources/templates/list', 'prompts/list', 'skills/list'])(
    'refuses a cursor that %s never gave out',
    async (method) => {
      expect((await ask(method, { cursor: 'x' })).error.code).toBe(-32602)
    },
  )

  it(
    cites('mcp:prompts:get', 'makes a prompt of each goal, with what its user said and the skill behind it'),
    async () => {
      const { prompts } = (await ask('prompts/list')).result
      expect(prompts.map(({ name }: { name: string }) => name)).toContain('pay-for-a-web-page')
      for (const { name, arguments: wanted } of prompts) {
        const said = Object.fromEntries(
          wanted.map((argument: { name: string }) => [argument.name, `"quoted"\n# ${argument.name}`]),
        )
        const { messages } = (await ask('prompts/get', { name, arguments: said })).result
        expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'user'])
        // What is said cannot become a line of its own.
        for (const argument of wanted)
          expect(messages[0].content.text).toContain(
            `- ${argument.name}: "\\"quoted\\"\\n# ${argument.name}"`,
          )
        const { resource } = messages[1].content
        expect(resource.text).toBe(await textAt(ask, `skill://${name}/SKILL.md`))
      }
    },
  )

  it.each([
    [{ name: 'nothing' }, /no such prompt/],
    [{ name: 'pay-for-a-web-page' }, /needs the argument url/],
    [{ name: 'pay-for-a-web-page', arguments: { url: '' } }, /needs the argument url/],
    [{ name: 'pay-for-a-web-page', arguments: { url: 'x', extra: 'y' } }, /takes url, and nothing else/],
    [{ name: 'pay-for-a-web-page', arguments: { url: 1 } }, /text of at most/],
    [{ name: 'pay-for-a-web-page', arguments: { url: 'x'.repeat(20_000) } }, /text of at most/],
    [{ name: 'pay-for-a-web-page', arguments: [] }, /object of texts/],
  ])('refuses the prompt %j', async (params, words) => {
    const { error } = await ask('prompts/get', params)
    expect(error.code).toBe(-32602)
    expect(error.message).toMatch(words)
  })

  const complete = async (ref: object, name: string, value: string, asked?: Asked) =>
    (await ask('completion/complete', { ref, argument: { name, value } }, asked)).result.completion

  it(
    cites('mcp:completion:values', 'completes codes, tools, capabilities, skills and providers'),
    async () => {
      const template = (uri: string) => ({ type: 'ref/resource', uri })
      expect(await complete(template('gateway://problems/{code}'), 'code', 'sett')).toEqual({
        values: Object.keys(ERRORS).filter((code) => code.startsWith('sett')),
        total: 3,
        hasMore: false,
      })
      expect((await complete(template('gateway://tools/{name}'), 'name', 'web_f')).values).toEqual([
        'gateway_web_fetch',
      ])
      expect((await complete(template('gateway://capabilities/{id}'), 'id', '')).values).toContain(
        'extract-preview',
      )
      expect((await complete(template('skill://{name}/SKILL.md'), 'name', 'pay')).values).toEqual([
        'pay-for-a-web-page',
      ])
      const prompt = { type: 'ref/prompt', name: 'call-an-api-without-the-secret' }
      expect((await complete(prompt, 'provider', 'GITH')).values).toContain('github')
      expect(await complete(prompt, 'task', 'x')).toEqual({ values: [], total: 0, hasMore: false })
    },
  )

  it('completes hosts with those of the capability on the connection, and with nothing of others', async () => {
    const { capability } = await gateway.grant()
    const prompt = { type: 'ref/prompt', name: 'call-an-api-without-the-secret' }
    expect((await complete(prompt, 'host', '', { token: capability })).values).toEqual(['api.example.com'])
    for (const token of [undefined, gateway.operatorKey, 'agw_cap_wrong'])
      expect((await complete(prompt, 'host', '', token === undefined ? {} : { token })).values).toEqual([])
  })

  it('completes receipts with those of whoever asks, and of nobody else', async () => {
    const [mine, other] = [await gateway.grant(), await gateway.grant()]
    const { body } = await gateway.fetch(mine.capability, { method: 'GET', url: gateway.url('/ok') })
    const receiptId = (body as Answer).receipt.receipt_id as string
    const receipts = (asked: Asked) =>
      complete(
        { type: 'ref/resource', uri: 'gateway://receipts/{receipt_id}' },
        'receipt_id',
        receiptId.slice(0, 12),
        asked,
      )
    expect((await receipts({ token: mine.capability })).values).toEqual([receiptId])
    expect((await receipts({ token: gateway.operatorKey })).values).toContain(receiptId)
    for (const token of [other.capability, 'agw_sk_wrong', undefined])
      expect((await receipts(token === undefined ? {} : { token })).values).toEqual([])
    // Reading it needs its id alone, as at every door.
    expect(JSON.parse(await textAt(ask, `gateway://receipts/${receiptId}`))).toMatchObject({
      receipt_id: receiptId,
      jws: expect.stringMatching(/^ey/),
    })
  })

  it.each([
    [{}, /`ref` and `argument`/],
    [{ ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: '' } }, /no such prompt/],
    [
      { ref: { type: 'ref/prompt', name: 'pay-for-a-web-page' }, argument: { name: 'a', value: '' } },
      /no such argument/,
    ],
    [{ ref: { type: 'ref/resource', uri: 'x' }, argument: { name: 'a', value: '' } }, /no such template/],
    [
      {
        ref: { type: 'ref/resource', uri: 'gateway://problems/{code}' },
        argument: { name: 'toString', value: '' },
      },
      /no such variable/,
    ],
    [
      { ref: { type: 'ref/prompt', name: 'pay-for-a-web-page' }, argument: { name: 'url' } },
      /a name and a value/,
    ],
  ])('refuses to complete %j', async (params, words) => {
    const { error } = await ask('completion/complete', params)
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(words) })
  })

  it(cites('mcp:skills:list', 'publishes skills with the digest of what a connection reads'), async () => {
    for (const query of ['?names=portable', '?names=dotted']) {
      const { skills } = (await ask('skills/list', {}, { query })).result
      expect(skills.length).toBeGreaterThan(5)
      for (const skill of skills) {
        const text = await textAt(ask, skill.uri, { query })
        const name = skill.frontmatter.name as string
        expect(skill).toEqual(await skillEntry(name, { 'SKILL.md': text }))
        expect(skill.resources[0].digest).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`)
        expect((await ask('skills/get', { uri: skill.uri }, { query })).result.skill).toEqual(skill)
      }
    }
    expect((await ask('skills/get', { uri: 'skill://nothing/SKILL.md' })).error.code).toBe(-32602)
  })

  it('spells tools as the connection does, in every resource, prompt and skill', async () => {
    const names = (
      await ask('tools/list', {}, { query: '?names=dotted', token: gateway.operatorKey })
    ).result.tools
      .map(({ name }: { name: string }) => name)
      .filter((name: string) => name.includes('.'))
    expect(names.length).toBeGreaterThan(20)
    const portable = names.map((name: string) => name.replaceAll('.', '_'))
    for (const [query, foreign] of [
      ['?names=portable', names],
      ['?names=dotted', portable],
    ] as const) {
      const { resources } = (await ask('resources/list', {}, { query })).result
      const { prompts } = (await ask('prompts/list', {}, { query })).result
      const texts = [JSON.stringify(prompts)]
      // Examples are what a caller sends, and either spelling may be sent.
      const inFull = (query === '?names=portable' ? portable : names).map(
        (name: string) => `gateway://tools/${name}`,
      )
      for (const uri of [...resources.map((each: { uri: string }) => each.uri), ...inFull])
        texts.push((await textAt(ask, uri, { query })).replace(/"examples":\[.*"codes":/s, '"codes":'))
      for (const code of Object.keys(ERRORS))
        texts.push(await textAt(ask, `gateway://problems/${code}`, { query }))
      for (const { name } of prompts) texts.push(await textAt(ask, `skill://${name}/SKILL.md`, { query }))
      const anyForeign = foreign.map((name: string) => name.replaceAll('.', '\\.')).join('|')
      const pattern = new RegExp(`(?<![\\w./@-])(?:${anyForeign})(?![\\w@-]|\\.\\w)`)
      for (const text of texts) expect(pattern.exec(text)?.[0]).toBeUndefined()
    }
  })
})

describe('a request that is unusual in its headers', () => {
  const read = (name: string, params: object = {}) =>
    fetch(`${gateway.baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'resources/read',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'resources/read',
        params: { uri: 'gateway://problems', ...params, _meta: META },
      }),
    })

  it('is answered all the same when its name is in Base64', async () => {
    const answer = await read(`=?base64?${Buffer.from('gateway://problems').toString('base64')}?=`)
    expect(((await answer.json()) as Answer).result).toMatchObject({
      contents: [{ uri: 'gateway://problems', mimeType: 'text/markdown' }],
      ttlMs: 300_000,
      cacheScope: 'private',
    })
  })

  it('is refused when its name is another than that of the resource', async () => {
    const answer = await read('gateway://catalogue')
    expect([answer.status, ((await answer.json()) as Answer).error.code]).toEqual([400, -32020])
  })
})

interface OfferClient {
  listResources(): Promise<{ resources: { uri: string }[] }>
  listResourceTemplates(): Promise<{ resourceTemplates: unknown[] }>
  readResource(params: { uri: string }): Promise<{ contents: unknown[] }>
  listPrompts(): Promise<{ prompts: { name: string }[] }>
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<{ messages: unknown[] }>
  complete(params: {
    ref: { type: 'ref/resource'; uri: string }
    argument: { name: string; value: string }
  }): Promise<{ completion: { values: string[] } }>
  close(): Promise<void>
}
const info = { name: 'x', version: '1' }

async function connectV1(url: URL): Promise<OfferClient> {
  const client = new ClientV1(info)
  // The v1 types predate exactOptionalPropertyTypes.
  await client.connect(new HttpV1(url) as Parameters<typeof client.connect>[0])
  return client
}

const connectV2 =
  (mode: 'legacy' | 'auto') =>
  async (url: URL): Promise<OfferClient> => {
    const client = new Client(info, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(url))
    return client
  }

describe.each([
  ['v1', connectV1],
  ['v2 as of 2025', connectV2('legacy')],
  ['v2', connectV2('auto')],
] as const)('the official client %s', (_, connect) => {
  it('lists, reads, prompts and completes', async () => {
    const client = await connect(new URL(`${gateway.baseUrl}/mcp`))
    try {
      const { resources } = await client.listResources()
      expect(resources.map(({ uri }) => uri)).toContain('gateway://catalogue')
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(5)
      const { contents } = await client.readResource({ uri: 'gateway://problems/rate_limited' })
      expect(contents[0]).toMatchObject({ mimeType: 'text/markdown' })
      await expect(client.readResource({ uri: 'gateway://problems/nothing' })).rejects.toThrow(
        'no such resource',
      )
      const { prompts } = await client.listPrompts()
      const [{ name = '' } = {}] = prompts.filter((prompt) => prompt.name.startsWith('pay'))
      const prompt = await client.getPrompt({ name, arguments: { url: 'https://example.com/' } })
      expect(prompt.messages).toHaveLength(2)
      const completed = await client.complete({
        ref: { type: 'ref/resource', uri: 'gateway://problems/{code}' },
        argument: { name: 'code', value: 'rate' },
      })
      expect(completed.completion.values).toEqual(['rate_limited'])
    } finally {
      await client.close()
    }
  })
})

it('declares what it offers, and neither subscriptions nor changes', async () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const { capabilities } = (await legacy('initialize', params)).result
  expect(capabilities).toEqual({ tools: { listChanged: false }, resources: {}, prompts: {}, completions: {} })
  const discovered = (await modern('server/discover')).result.capabilities
  expect(discovered).toMatchObject({ resources: {}, prompts: {}, completions: {} })
  expect(discovered.extensions).toMatchObject({ 'io.modelcontextprotocol/skills': {} })
})

it('refuses with 429 who asks too often, and says when to come back', async () => {
  const limited = await startTestGateway({ env: { GATEWAY_RATE_LIMIT: '1' } })
  try {
    const ask = () =>
      fetch(`${limited.baseUrl}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'prompts/list' }),
      })
    expect((await ask()).status).toBe(200)
    const refused = await ask()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await refused.json()).toMatchObject({ id: 1, error: { data: { code: 'rate_limited' } } })
  } finally {
    await limited.close()
  }
})

describe('over stdio', () => {
  it.each([
    ['2025', 'door'],
    ['2026', 'door'],
    ['2025', 'url'],
    ['2026', 'url'],
  ])('offers the same to a client of %s (%s)', async (era, where) => {
    const stdin = new PassThrough()
    const stdout = new PassThrough()
    const served = serveMcpStdio({
      target: where === 'door' ? { door: gateway.gateway.mcp } : { url: `${gateway.baseUrl}/mcp` },
      stdin,
      stdout,
    })
    const lines: Answer[] = []
    createInterface({ input: stdout }).on('line', (line) => lines.push(JSON.parse(line)))
    const say = (id: number, method: string, params: object = {}) =>
      stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, method, params: era === '2026' ? { ...params, _meta: META } : params })}\n`,
      )
    if (era === '2025')
      say(0, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      })
    say(1, 'resources/list')
    say(2, 'resources/read', { uri: 'gateway://problems/rate_limited' })
    say(3, 'resources/read', { uri: 'gateway://problems/nothing' })
    say(4, 'prompts/get', { name: 'pay-for-a-web-page', arguments: { url: 'https://example.com/' } })
    say(5, 'skills/list')
    say(6, 'completion/complete', {
      ref: { type: 'ref/resource', uri: 'gateway://problems/{code}' },
      argument: { name: 'code', value: 'rate' },
    })
    stdin.end()
    await served
    const answer = (id: number) => lines.find((line) => line.id === id)
    expect(answer(1).result.resources).toHaveLength(4)
    expect(answer(2).result.contents[0].text).toContain('rate_limited')
    expect(answer(3).error).toMatchObject({
      code: era === '2025' ? -32002 : -32602,
      data: { uri: 'gateway://problems/nothing' },
    })
    expect(answer(4).result.messages).toHaveLength(2)
    expect(answer(5).result.skills.length).toBeGreaterThan(5)
    expect(answer(6).result.completion.values).toEqual(['rate_limited'])
    if (era === '2026') expect(answer(1).result).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' })
  })
})

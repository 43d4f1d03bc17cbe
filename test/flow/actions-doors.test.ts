// Permits as an operator and an agent meet them: the official clients of MCP and A2A on the whole gateway, and answers that
// fit what is published of them.
import { SendMessageRequest } from '@a2a-js/sdk'
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/core/registry.ts'
import { answerSchema } from '../../src/doors/mcp/answer-schema.ts'
import { tools } from '../../tools/index.ts'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { at } from '../support/tree.ts'

let gw: TestGateway
let actions: ActionsClient
beforeAll(async () => {
  gw = await startTestGateway()
  actions = await createActionsClient(gw, gw.url)
})
afterAll(() => gw.close())

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

async function connectMcp(token?: string) {
  const client = new Client({ name: 'actions-test', version: '1.0.0' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gw.baseUrl}/mcp`), {
      requestInit: { headers: bearer(token) },
    }),
  )
  return {
    client,
    async call(name: string, given: Body) {
      const { isError, structuredContent } = await client.callTool({ name, arguments: given })
      return { isError: isError ?? false, content: structuredContent as Body }
    },
  }
}

async function connectA2a(token?: string) {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    for (const [name, value] of Object.entries(bearer(token))) headers.set(name, value)
    return fetch(input, { ...init, headers })
  }
  const client = await new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
    }),
  ).createFromUrl(gw.baseUrl)
  return (skill: string, input: Body): Promise<unknown> =>
    client.sendMessage(
      SendMessageRequest.fromJSON({
        message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data: { skill, input } }] },
      }),
    )
}

/** The first data part of an answer, wherever A2A puts it. */
function dataOf(answer: unknown): Body {
  const parts =
    (at(answer, 'artifacts', '0', 'parts') as unknown[] | undefined) ??
    (at(answer, 'status', 'message', 'parts') as unknown[] | undefined) ??
    (at(answer, 'parts') as unknown[])
  return parts.map((part) => at(part, 'content')).find((content) => at(content, '$case') === 'data')![
    'value' as never
  ] as Body
}

const ask = () => ({
  credential_id: actions.credentialId,
  request: actions.request(),
  mandate: actions.mandate(),
})

describe('over MCP', () => {
  it('an operator prepares, an agent without any token executes, and a repeat names the first attempt', async () => {
    const operator = await connectMcp(gw.operatorKey)
    const agent = await connectMcp()
    const prepared = await operator.call('gateway_actions_prepare', ask())
    expect(prepared).toMatchObject({ isError: false, content: { state: 'ready' } })
    const { permit } = prepared.content
    const executed = await agent.call('gateway.actions.execute', { permit, request: actions.request() })
    expect(executed).toMatchObject({
      isError: false,
      content: { upstream: { status: 200, body: '{"ok":true}' }, permit_id: prepared.content['permit_id'] },
    })
    const again = await agent.call('gateway.actions.execute', { permit, request: actions.request() })
    expect(again).toMatchObject({
      isError: true,
      content: { code: 'permit_used', conflict: 'replay', attempt_id: executed.content['attempt_id'] },
    })
    await Promise.all([operator.client.close(), agent.client.close()])
  })

  it('an operator reads what waits, and approves it', async () => {
    const { client, call } = await connectMcp(gw.operatorKey)
    const given = { ...ask(), mandate: actions.mandate({ requires_approval: true }) }
    const { permit, permit_id } = (await call('gateway.actions.prepare', given)).content
    const early = await call('gateway.actions.execute', { permit, request: actions.request() })
    expect(early.content).toMatchObject({ code: 'permit_pending', conflict: 'state' })
    const shown = await call('gateway.actions.permits.get', { permit_id })
    expect(at(shown.content, 'summary', 'text')).toContain('POST https://api.example.com')
    expect((await call('gateway.actions.approve', { permit_id })).content['state']).toBe('ready')
    expect((await call('gateway.actions.execute', { permit, request: actions.request() })).isError).toBe(
      false,
    )
    await client.close()
  })

  it('shows what only operators may do to operators alone, and what everybody may read to everybody', async () => {
    const lists = await Promise.all(
      [undefined, gw.operatorKey].map(async (token) => {
        const { client } = await connectMcp(token)
        const { tools } = await client.listTools()
        await client.close()
        return tools
          .map(({ name }) => name.replaceAll('_', '.'))
          .filter((name) => name.startsWith('gateway.actions.'))
      }),
    )
    expect(lists[0]!.toSorted()).toEqual(
      'execute manifest permits.wait pricing stats'.split(' ').map((name) => `gateway.actions.${name}`),
    )
    expect(lists[1]!.toSorted()).toEqual(
      'execute manifest permits.wait pricing stats prepare approve refuse permits.get permits.list mandates.create mandates.list mandates.revoke'
        .split(' ')
        .map((name) => `gateway.actions.${name}`)
        .toSorted(),
    )
  })

  it('asks whoever prepares for a service key', async () => {
    const { client, call } = await connectMcp()
    await expect(call('gateway.actions.prepare', ask())).rejects.toThrow(/key_required|Unauthorized/)
    await client.close()
  })
})

describe('over A2A', () => {
  it('an operator prepares, an agent without any token executes, and a repeat names the first attempt', async () => {
    const operator = await connectA2a(gw.operatorKey)
    const agent = await connectA2a()
    const prepared = dataOf(await operator('actions-prepare', ask()))
    expect(prepared).toMatchObject({ state: 'ready', permit: expect.stringMatching(/^ey/) })
    const { permit } = prepared
    const executed = dataOf(await agent('actions-execute', { permit, request: actions.request() }))
    expect(executed).toMatchObject({ upstream: { status: 200 }, permit_id: prepared['permit_id'] })
    const again = dataOf(await agent('actions-execute', { permit, request: actions.request() }))
    expect(again).toMatchObject({ code: 'permit_used', attempt_id: executed['attempt_id'] })
  })
})

describe('what is published', () => {
  // Documents are read as they come; a wrong shape fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  type Json = any
  let openapi: Json
  let ajv: Ajv2020
  beforeAll(async () => {
    openapi = (await gw.rest('GET', '/openapi.json', undefined, '')).body
    ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
    ajv.addSchema({ ...openapi, $id: 'openapi' })
  })

  /** What the description finds wrong with an answer of an operation. */
  function misfit(method: string, path: string, status: number, body: unknown): string {
    const { responses } = openapi.paths[path][method.toLowerCase()]
    const content = responses[status]?.content
    if (!content) return `${method} ${path} does not describe ${status}`
    const [{ schema }] = Object.values(content) as Json
    const validate = ajv.compile({ $ref: `openapi${schema.$ref}` })
    if (!validate(body)) return ajv.errorsText(validate.errors)
    const codes = Object.keys((Object.values(content) as Json)[0].examples ?? {})
    const code = at(body, 'code')
    return code === undefined || codes.includes(String(code)) ? '' : `${String(code)} is not described`
  }

  it('describes every answer of a permit’s life, REST and MCP alike', async () => {
    const outputs = new Map(
      createRegistry(tools).tools.map((entry) => [entry.tool.name, ajv.compile(answerSchema(entry))]),
    )
    const found: string[] = []
    async function check(tool: string, method: string, path: string, body?: Body, id = '', token?: string) {
      const answer = await gw.rest(method, path.replace(/\{\w+\}/, id), body, token)
      found.push(misfit(method, path, answer.status, answer.body))
      const output = outputs.get(tool)
      if (output && !output(answer.body)) found.push(`${tool}: ${ajv.errorsText(output.errors)}`)
      return answer.body
    }
    const permits = '/v1/actions/permits'
    const terms = actions.mandate({ requires_approval: true })
    const { mandate_id } = await check(
      'gateway.actions.mandates.create',
      'POST',
      '/v1/actions/mandates',
      terms,
    )
    const given = { credential_id: actions.credentialId, request: actions.request(), mandate_id }
    const first = await check('gateway.actions.prepare', 'POST', permits, given)
    const second = await check('gateway.actions.prepare', 'POST', permits, given)
    await check('gateway.actions.prepare', 'POST', permits, { ...given, mandate_id: 'mdt_x' })
    await check('gateway.actions.prepare', 'POST', permits, { ...given, mandate: terms })
    await check('gateway.actions.prepare', 'POST', permits, given, '', 'agw_sk_wrong')
    await check('gateway.actions.permits.list', 'GET', permits)
    await check('gateway.actions.permits.get', 'GET', `${permits}/{permit_id}`, undefined, first.permit_id)
    await check('gateway.actions.permits.get', 'GET', `${permits}/{permit_id}`, undefined, 'none')
    const execute = (permit: string, request = actions.request()) =>
      check('gateway.actions.execute', 'POST', '/v1/actions/execute', { permit, request }, '', '')
    await execute(first.permit)
    await check(
      'gateway.actions.approve',
      'POST',
      `${permits}/{permit_id}/approve`,
      undefined,
      first.permit_id,
    )
    await check(
      'gateway.actions.approve',
      'POST',
      `${permits}/{permit_id}/approve`,
      undefined,
      first.permit_id,
    )
    await check(
      'gateway.actions.refuse',
      'POST',
      `${permits}/{permit_id}/refuse`,
      undefined,
      second.permit_id,
    )
    await execute(second.permit)
    await execute(first.permit, actions.request({ body: 'other' }))
    expect((await execute(first.permit)).permit_id).toBe(first.permit_id)
    await execute(first.permit)
    await execute('none')
    await check('gateway.actions.mandates.list', 'GET', '/v1/actions/mandates')
    const revoke = '/v1/actions/mandates/{mandate_id}/revoke'
    await check('gateway.actions.mandates.revoke', 'POST', revoke, {}, mandate_id)
    await check('gateway.actions.mandates.revoke', 'POST', revoke, {}, 'none')
    for (const path of ['', '/pricing', '/stats'])
      await check('', 'GET', `/v1/actions${path}`, undefined, '', '')
    expect(found.length).toBeGreaterThan(20)
    expect(found.filter((each) => each !== '')).toEqual([])
  })

  it('says in the manifest only what is so', async () => {
    const manifest = (await gw.rest('GET', '/v1/actions', undefined, '')).body
    for (const members of [manifest.permit.request, manifest.mandate.members] as Record<string, Body>[])
      for (const [name, member] of Object.entries(members))
        expect(member['description'], name).toEqual(expect.any(String))
    for (const { method, url } of Object.values(manifest.endpoints) as { method: string; url: string }[]) {
      const path = url.slice(gw.baseUrl.length)
      expect(openapi.paths[path]?.[method.toLowerCase()], `${method} ${path}`).toBeDefined()
    }
    const { permit } = await actions.prepare(actions.request(), actions.mandate({ requires_approval: true }))
    const claims = JSON.parse(Buffer.from(permit.split('.')[1]!, 'base64url').toString())
    expect(Object.keys(claims).toSorted()).toEqual([...manifest.permit.claims].toSorted())
    expect(Object.keys(manifest.permit.request)).toEqual(['url', 'method', 'headers', 'body', 'body_base64'])
    expect(Object.keys(manifest.mandate.members).toSorted()).toEqual(
      Object.keys(actions.mandate({ max_credits: 1, requires_approval: true, approval: {} })).toSorted(),
    )
    expect(manifest.conflicts.map((each: Body) => each['status'])).toEqual([409, 409, 409])
    const pricing = (await gw.rest('GET', '/v1/actions/pricing', undefined, '')).body
    expect(pricing).toMatchObject({
      credits_per_execution: 1,
      credits_per_preparation: 0,
      balance_to_prepare: 1,
    })
  })
})

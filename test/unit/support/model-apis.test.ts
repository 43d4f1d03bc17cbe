// The mocks of the model APIs refuse what the real ones refuse: a mock that takes everything would let every adapter pass.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ModelServer, startModelApis } from '../../support/model-apis/index.ts'

type Json = Record<string, unknown>

let model: ModelServer
beforeAll(async () => {
  model = await startModelApis()
})
afterAll(() => model.close())
beforeEach(() => model.play([[{ tool: 'echo', input: { text: 'hi' } }]]))

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const user = { role: 'user', content: 'hello' }

/** One of the APIs: a request that it takes, with the parts that the cases replace. */
interface Case {
  readonly path: string
  readonly headers: Record<string, string>
  tools(name: string, parameters: Json): unknown[]
  body(tools: unknown[], messages: unknown[]): Json
  /** A question, a call, and, unless it is left out, the answer of the tool. */
  messages(answered: boolean): unknown[]
  /** An answer to a call that nobody made. */
  readonly orphan: unknown[]
  readonly words: Readonly<Record<'key' | 'name' | 'schema' | 'open' | 'orphan', RegExp>>
}

const bearer = { authorization: 'Bearer any' }
const called = { id: 'call_1', type: 'function', function: { name: 'echo', arguments: '{}' } }
const item = { type: 'function_call', call_id: 'call_1', name: 'echo', arguments: '{}' }
const functionResponse = { name: 'echo', response: { output: 'done' } }

const apis: Readonly<Record<string, Case>> = {
  'OpenAI Chat Completions': {
    path: '/v1/chat/completions',
    headers: bearer,
    tools: (name, parameters) => [{ type: 'function', function: { name, parameters } }],
    body: (tools, messages) => ({ model: 'any', tools, messages }),
    messages: (answered) => [
      user,
      { role: 'assistant', tool_calls: [called] },
      ...(answered ? [{ role: 'tool', tool_call_id: 'call_1', content: 'done' }] : []),
    ],
    orphan: [user, { role: 'tool', tool_call_id: 'call_9', content: 'done' }],
    words: {
      key: /API key/,
      name: /does not match/,
      schema: /type 'object'/,
      open: /did not have response messages: call_1/,
      orphan: /must be a response to a preceeding message/,
    },
  },
  'OpenAI Responses': {
    path: '/v1/responses',
    headers: bearer,
    tools: (name, parameters) => [{ type: 'function', name, parameters }],
    body: (tools, input) => ({ model: 'any', tools, input }),
    messages: (answered) => [
      user,
      item,
      ...(answered ? [{ type: 'function_call_output', call_id: 'call_1', output: 'done' }] : []),
    ],
    orphan: [user, { type: 'function_call_output', call_id: 'call_9', output: 'done' }],
    words: {
      key: /API key/,
      name: /does not match/,
      schema: /type 'object'/,
      open: /No tool output found for function call call_1/,
      orphan: /No tool call found for function call output with call_id call_9/,
    },
  },
  'Anthropic Messages': {
    path: '/v1/messages',
    headers: { 'x-api-key': 'any', 'anthropic-version': '2023-06-01' },
    tools: (name, input_schema) => [{ name, input_schema }],
    body: (tools, messages) => ({ model: 'any', max_tokens: 10, tools, messages }),
    messages: (answered) => [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'echo', input: {} }] },
      {
        role: 'user',
        content: answered
          ? [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }]
          : [{ type: 'text', text: 'and?' }],
      },
    ],
    orphan: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'done' }] }],
    words: {
      key: /x-api-key/,
      name: /should match pattern/i,
      schema: /input_schema/,
      open: /without `tool_result` blocks immediately after: toolu_1/,
      orphan: /unexpected `tool_use_id`/,
    },
  },
  'Gemini generateContent': {
    path: '/v1beta/models/any:generateContent',
    headers: { 'x-goog-api-key': 'any' },
    tools: (name, parameters) => [{ functionDeclarations: [{ name, parameters }] }],
    body: (tools, contents) => ({ tools, contents }),
    messages: (answered) => [
      { role: 'user', parts: [{ text: 'hello' }] },
      { role: 'model', parts: [{ functionCall: { name: 'echo', args: {} } }] },
      { role: 'user', parts: [answered ? { functionResponse } : { text: 'and?' }] },
    ],
    orphan: [{ role: 'user', parts: [{ functionResponse }] }],
    words: {
      key: /unregistered callers/,
      name: /Invalid function name/,
      schema: /type OBJECT/,
      open: /number of function response parts/,
      orphan: /number of function response parts/,
    },
  },
}

describe.each(Object.entries(apis))('the mock of %s', (_name, api) => {
  const ask = async (tools: unknown[], messages: unknown[], headers = api.headers) => {
    const response = await fetch(model.url + api.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(api.body(tools, messages)),
    })
    return { status: response.status, text: await response.text() }
  }
  const good = api.tools('echo', schema)
  const [first] = api.messages(true)

  it('calls the tool of its script, and then says what the tool said', async () => {
    const call = await ask(good, [first])
    expect(call).toMatchObject({ status: 200, text: expect.stringContaining('echo') as string })
    const said = await ask(good, api.messages(true))
    expect(said).toMatchObject({
      status: 200,
      text: expect.stringContaining('The tool said: done') as string,
    })
    expect(model.refusals).toEqual([])
    expect(model.turns.map(({ results }) => results)).toEqual([[], ['done']])
  })

  it('refuses who has no key', async () => {
    const { status, text } = await ask(good, [first], {})
    expect(status).toBeGreaterThanOrEqual(401)
    expect(text).toMatch(api.words.key)
  })

  it.each([
    ['a name with other characters', () => ask(api.tools('echo two!', schema), [first]), 'name'],
    ['a name of 200 characters', () => ask(api.tools('e'.repeat(200), schema), [first]), 'name'],
    ['arguments that are no object', () => ask(api.tools('echo', { type: 'string' }), [first]), 'schema'],
    ['a call without an answer', () => ask(good, api.messages(false)), 'open'],
    ['an answer without a call', () => ask(good, api.orphan), 'orphan'],
  ] as const)('refuses %s', async (_what, request, words) => {
    const { status, text } = await request()
    expect(status).toBe(400)
    expect(text).toMatch(api.words[words])
    expect(model.refusals).toHaveLength(1)
  })
})

it('a model does not call a tool in a way that the offered schema refuses', async () => {
  model.play([[{ tool: 'echo', input: { text: 1 } }]])
  const api = apis['OpenAI Chat Completions']
  const response = await fetch(`${model.url}/v1/chat/completions`, {
    method: 'POST',
    headers: bearer,
    body: JSON.stringify(api?.body(api.tools('echo', schema), [user])),
  })
  expect(response.status).toBe(422)
  expect(await response.text()).toContain('does not take')
})

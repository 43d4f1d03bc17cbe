// Agent frameworks as their documentation sets them up: an MCP address and a model, nothing else. Each reaches its model through the
// SDK of that model's provider, which is only told another base URL.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createMCPClient } from '@ai-sdk/mcp'
import { createOpenAI } from '@ai-sdk/openai'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { ChatOpenAI } from '@langchain/openai'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  Agent,
  MCPServerStreamableHttp,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
} from '@openai/agents'
import { generateText, isStepCount, type LanguageModel, streamText } from 'ai'
import { createAgent } from 'langchain'
import { MCPAgent } from 'mcp-use/agent'
import { MCPClient } from 'mcp-use/client'
import { OpenAI } from 'openai'
import { toOpenaiStrict } from './model-apis/rules-openai.ts'

interface Addresses {
  readonly mcp: string
  readonly model: string
  /** A capability or a service key; a stranger has none. */
  readonly token?: string | undefined
}

/** One framework with one model API behind it. Resolves to the agent's last words. */
export interface Framework {
  readonly name: string
  run(to: Addresses, prompt: string): Promise<string>
}

const MAX_STEPS = 8
const apiKey = 'any'

type Run = Framework['run']

const headersOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { Authorization: `Bearer ${token}` }

const aiSdk =
  (open: (baseUrl: string) => LanguageModel, isStreamed = false): Run =>
  async ({ mcp, model, token }, prompt) => {
    const client = await createMCPClient({ transport: { type: 'http', url: mcp, headers: headersOf(token) } })
    try {
      const request = {
        model: open(model),
        tools: await client.tools(),
        stopWhen: isStepCount(MAX_STEPS),
        maxRetries: 0,
        prompt,
      }
      if (!isStreamed) return (await generateText(request)).text
      let failure: unknown
      const streamed = streamText({ ...request, onError: ({ error }) => void (failure ??= error) })
      await streamed.consumeStream()
      if (failure !== undefined) throw failure
      return await streamed.text
    } finally {
      await client.close()
    }
  }

const langChain =
  (open: (baseUrl: string) => BaseChatModel, isStreamed = false): Run =>
  async ({ mcp, model, token }, prompt) => {
    const client = new MultiServerMCPClient({
      mcpServers: { gateway: { transport: 'http', url: mcp, headers: headersOf(token) } },
    })
    try {
      const agent = createAgent({ model: open(model), tools: await client.getTools() })
      const input = { messages: [{ role: 'user' as const, content: prompt }] }
      if (!isStreamed) return (await agent.invoke(input)).messages.at(-1)?.text ?? ''
      // Being asked for messages as they come, LangChain streams from the model.
      let last = ''
      for await (const [mode, data] of await agent.stream(input, { streamMode: ['messages', 'values'] }))
        if (mode === 'values') last = data.messages.at(-1)?.text ?? ''
      return last
    } finally {
      await client.close()
    }
  }

const agentsSdk =
  (
    Model: typeof OpenAIResponsesModel | typeof OpenAIChatCompletionsModel,
    isStreamed = false,
    convertSchemasToStrict = false,
  ): Run =>
  async ({ mcp, model, token }, prompt) => {
    const server = new MCPServerStreamableHttp({
      url: mcp,
      name: 'gateway',
      requestInit: { headers: headersOf(token) },
    })
    await server.connect()
    try {
      const client = new OpenAI({ apiKey, baseURL: `${model}/v1`, maxRetries: 0 })
      const agent = new Agent({
        name: 'tester',
        instructions: 'Use the tools.',
        model: new Model(client, 'gpt-mock'),
        mcpServers: [server],
        mcpConfig: { convertSchemasToStrict },
      })
      const runner = new Runner({ tracingDisabled: true })
      if (!isStreamed) return String((await runner.run(agent, prompt)).finalOutput)
      const streamed = await runner.run(agent, prompt, { stream: true })
      for await (const _event of streamed);
      await streamed.completed
      return String(streamed.finalOutput)
    } finally {
      await server.close()
    }
  }

const mcpUse =
  (open: (baseUrl: string) => BaseChatModel): Run =>
  async ({ mcp, model, token }, prompt) => {
    const client = new MCPClient({ mcpServers: { gateway: { url: mcp, headers: headersOf(token) } } })
    const agent = new MCPAgent({ llm: open(model), client, maxSteps: MAX_STEPS })
    try {
      return await agent.run({ prompt })
    } finally {
      await agent.close()
      await client.closeAllSessions()
    }
  }

/** The loop that many write themselves, with functions made strict: then a model says null for each member that it leaves out. */
const byHand: Run = async ({ mcp, model, token }, prompt) => {
  const client = new Client({ name: 'by-hand', version: '1.0.0' })
  const requestInit = { headers: headersOf(token) }
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit }))
  try {
    const openai = new OpenAI({ apiKey, baseURL: `${model}/v1`, maxRetries: 0 })
    const { tools: listed } = await client.listTools()
    const tools = listed.map(({ name, description = '', inputSchema }) => ({
      type: 'function' as const,
      function: { name, description, ...strictWherePossible(inputSchema) },
    }))
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: prompt }]
    for (let step = 0; step < MAX_STEPS; step++) {
      const { choices } = await openai.chat.completions.create({ model: 'gpt-mock', messages, tools })
      const message = choices[0]?.message
      if (!message?.tool_calls) return message?.content ?? ''
      messages.push(message)
      for (const call of message.tool_calls) {
        if (call.type !== 'function') continue
        const input = JSON.parse(call.function.arguments) as Record<string, unknown>
        const { content } = await client.callTool({ name: call.function.name, arguments: input })
        const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
        messages.push({ role: 'tool', tool_call_id: call.id, content: text })
      }
    }
    return ''
  } finally {
    await client.close()
  }
}

/** A tool that takes members which nobody named cannot be strict. */
function strictWherePossible(schema: Readonly<Record<string, unknown>>) {
  try {
    return { parameters: toOpenaiStrict(schema), strict: true }
  } catch {
    return { parameters: schema, strict: false }
  }
}

const retries = { apiKey, maxRetries: 0 }
const chatOpenAi = (model: string, useResponsesApi = false) =>
  new ChatOpenAI({
    ...retries,
    useResponsesApi,
    model: 'gpt-mock',
    configuration: { baseURL: `${model}/v1` },
  })
const chatAnthropic = (model: string) =>
  new ChatAnthropic({ ...retries, model: 'claude-mock', anthropicApiUrl: model })
const chatGemini = (model: string) =>
  new ChatGoogleGenerativeAI({ ...retries, model: 'gemini-mock', baseUrl: model })

const aiOpenAi = (model: string) => createOpenAI({ apiKey, baseURL: `${model}/v1` })
const aiAnthropic = (model: string) => createAnthropic({ apiKey, baseURL: `${model}/v1` })('claude-mock')
const aiGoogle = (model: string) => createGoogle({ apiKey, baseURL: `${model}/v1beta` })('gemini-mock')

const aiModels: readonly (readonly [string, (model: string) => LanguageModel])[] = [
  ['OpenAI Responses', (model) => aiOpenAi(model).responses('gpt-mock')],
  ['OpenAI Chat Completions', (model) => aiOpenAi(model).chat('gpt-mock')],
  ['Anthropic', aiAnthropic],
  ['Gemini', aiGoogle],
]
const chatModels: readonly (readonly [string, (model: string) => BaseChatModel])[] = [
  ['OpenAI Responses', (model) => chatOpenAi(model, true)],
  ['OpenAI Chat Completions', chatOpenAi],
  ['Anthropic', chatAnthropic],
  ['Gemini', chatGemini],
]
const agentModels = [
  ['OpenAI Responses', OpenAIResponsesModel],
  ['OpenAI Chat Completions', OpenAIChatCompletionsModel],
] as const

const inBothWays = <T>(
  name: string,
  models: readonly (readonly [string, T])[],
  run: (model: T, isStreamed: boolean) => Run,
) =>
  models.flatMap(([api, model]) => [
    { name: `${name} with ${api}`, run: run(model, false) },
    { name: `${name} with ${api}, streamed`, run: run(model, true) },
  ])

export const frameworks: readonly Framework[] = [
  ...inBothWays('AI SDK', aiModels, aiSdk),
  ...inBothWays('LangChain', chatModels, langChain),
  ...inBothWays('OpenAI Agents SDK', agentModels, agentsSdk),
  {
    name: 'OpenAI Agents SDK with OpenAI Responses, its schemas made strict',
    run: agentsSdk(OpenAIResponsesModel, false, true),
  },
  { name: 'OpenAI SDK by hand, with strict functions', run: byHand },
  // It streams from no model: what its agent streams are its own steps.
  ...chatModels.slice(1).map(([api, model]) => ({ name: `mcp-use with ${api}`, run: mcpUse(model) })),
]

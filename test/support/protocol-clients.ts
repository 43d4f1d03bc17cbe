// Clients of MCP and A2A as their users have them, without a model: each is given the address that the documentation gives, lists,
// calls, and pays where its interface lets it.
import { Message, SendMessageRequest, Task } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import {
  ClientFactory as OldClientFactory,
  DefaultAgentCardResolver as OldCardResolver,
} from '@a2a-js/sdk-0.3/client'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createRuntime } from 'mcporter'
import { MCPClient } from 'mcp-use/client'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../src/lib/json.ts'
import { finish } from './process.ts'
import { removeFolder } from './remove-folder.ts'

type Json = Readonly<Record<string, unknown>>

export interface Answer {
  /** A refusal, or a price. */
  readonly isError: boolean
  /** What a person sees. */
  readonly text: string
  /** The requirements of x402, where the answer is a price. */
  readonly required?: unknown
}

export interface Connected {
  /** Names of tools, or ids of skills. */
  list(): Promise<readonly string[]>
  call(name: string, input: Json): Promise<Answer>
  /** The same call with a payment; absent where the client has no place for one. */
  pay?(name: string, input: Json, payment: Json): Promise<Answer>
  close(): Promise<void>
}

export interface ProtocolClient {
  readonly name: string
  /** What a free and a paid tool are called there. */
  readonly free: string
  /** Another free one, which an A2A agent answers with a message and no task. */
  readonly check: string
  readonly paid: string
  /** @param url of the gateway */
  connect(url: string): Promise<Connected>
}

const LAUNCHER = new URL('../../dist/launcher.js', import.meta.url).pathname
const info = { name: 'buyer', version: '1.0.0' }
const portable = { free: 'gateway_execute', check: 'gateway_preflight', paid: 'gateway_web_fetch' }
const PAYMENT = 'x402/payment'

/** A result of tools/call as a client shows it: the words of its content. */
function answerOf(result: unknown): Answer {
  const { isError, content, structuredContent } = result as {
    isError?: boolean
    content?: { text?: string }[]
    structuredContent?: unknown
  }
  const text = (content ?? []).map((part) => part.text ?? '').join('\n')
  return { isError: isError === true, text, required: structuredContent }
}

/** What the SDKs of both majors have in common, as far as this file calls it. */
interface SdkClient {
  listTools(): Promise<{ tools: readonly { name: string }[] }>
  callTool(params: { name: string; arguments: Json; _meta?: Json }): Promise<unknown>
  close(): Promise<void>
}
const sdk = (client: SdkClient): Connected => ({
  list: async () => (await client.listTools()).tools.map(({ name }) => name),
  call: async (name, input) => answerOf(await client.callTool({ name, arguments: input })),
  pay: async (name, input, payment) =>
    answerOf(await client.callTool({ name, arguments: input, _meta: { [PAYMENT]: payment } })),
  close: () => client.close(),
})

const sdkV2 = (mode: 'auto' | 'legacy') => async (url: string) => {
  const client = new Client(info, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  return sdk(client as SdkClient)
}

async function sdkV1(url: string): Promise<Connected> {
  const client = new ClientV1(info)
  // The v1 types predate exactOptionalPropertyTypes.
  await client.connect(new HttpV1(new URL(`${url}/mcp`)) as Parameters<typeof client.connect>[0])
  return sdk(client as SdkClient)
}

/** As desktop assistants do it: a local program of ours that reaches the gateway. */
async function sdkV1Stdio(url: string): Promise<Connected> {
  const client = new ClientV1(info)
  const env = { PATH: process.env['PATH'] ?? '', GATEWAY_BASE_URL: url }
  const transport = new StdioV1({
    command: process.execPath,
    args: [LAUNCHER, 'stdio'],
    env,
    stderr: 'ignore',
  })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return sdk(client as SdkClient)
}

const moduleFile = (path: string) => new URL(`../../node_modules/${path}`, import.meta.url).pathname

/** A command line of a user who has none of its settings. */
async function commandLine(file: string) {
  const home = await mkdtemp(join(tmpdir(), 'agent-gateway-client-'))
  return {
    run: (...args: string[]) =>
      finish(process.execPath, [moduleFile(file), ...args], {
        cwd: home,
        env: { PATH: process.env['PATH'], HOME: home },
      }),
    close: () => removeFolder(home),
  }
}

export const openInspector = () =>
  commandLine('@modelcontextprotocol/inspector/clients/launcher/build/index.js')

async function inspector(url: string): Promise<Connected> {
  const { run, close } = await openInspector()
  const method = (name: string, ...args: string[]) => run('--cli', `${url}/mcp`, '--method', name, ...args)
  const call = async (name: string, input: Json, ...args: string[]): Promise<Answer> => {
    const { stdout, stderr } = await method(
      'tools/call',
      '--tool-name',
      name,
      '--tool-args-json',
      JSON.stringify(input),
      ...args,
    )
    return answerOf(JSON.parse(stdout || stderr))
  }
  return {
    async list() {
      // Strict: an error of a schema that other clients would meet is an error here.
      const { code, stdout, stderr } = await method('tools/list', '--strict')
      if (code !== 0) throw new Error(stderr)
      return (JSON.parse(stdout) as { tools: { name: string }[] }).tools.map(({ name }) => name)
    },
    call,
    pay: (name, input, payment) =>
      call(name, input, '--tool-metadata', `${PAYMENT}=${JSON.stringify(payment)}`),
    close,
  }
}

/** Its command line lists and calls. Only a program that embeds it can pay, through the client that it opens. */
async function mcporter(url: string): Promise<Connected> {
  const { run, close } = await commandLine('mcporter/dist/cli.js')
  const runtime = await createRuntime({
    servers: [{ name: 'gateway', command: { kind: 'http', url: new URL(`${url}/mcp`) } }],
  })
  return {
    async list() {
      const { stdout } = await run('list', `${url}/mcp`, '--allow-http', '--json')
      return (JSON.parse(stdout) as { tools: { name: string }[] }).tools.map(({ name }) => name)
    },
    async call(name, input) {
      const args = ['--args', JSON.stringify(input)]
      const { code, stdout } = await run('call', `${url}/mcp.${name}`, '--allow-http', ...args)
      return {
        isError: code !== 0,
        text: stdout,
        ...(code === 0 ? {} : { required: JSON.parse(stdout) as unknown }),
      }
    },
    async pay(name, input, payment) {
      const { client } = await runtime.connect('gateway')
      return answerOf(await client.callTool({ name, arguments: input, _meta: { [PAYMENT]: payment } }))
    },
    async close() {
      await runtime.close()
      await close()
    },
  }
}

/** What a program of its users calls beside the agent. Neither its calls nor its raw requests can carry metadata (1.34). */
async function mcpUse(url: string): Promise<Connected> {
  const client = new MCPClient({ mcpServers: { gateway: { url: `${url}/mcp` } } })
  const session = await client.createSession('gateway')
  return {
    list: async () => (await session.listTools()).map(({ name }) => name),
    call: async (name, input) => answerOf(await session.callTool(name, input)),
    close: () => client.closeAllSessions(),
  }
}

/** The client under LangChain's tools, which it hands out. */
async function langChain(url: string): Promise<Connected> {
  const servers = new MultiServerMCPClient({
    mcpServers: { gateway: { transport: 'http', url: `${url}/mcp` } },
  })
  const client = await servers.getClient('gateway')
  if (client === undefined) throw new Error('LangChain opened no client')
  return { ...sdk(client as unknown as SdkClient), close: () => servers.close() }
}

const skills = { free: 'extract-preview', check: 'preflight', paid: 'web-fetch' }

/** A message without a task is an answer that is complete. */
interface A2aAnswer {
  readonly taskId?: string | undefined
  readonly state: string
  readonly words: string
  readonly metadata: Json
  readonly output: unknown
}

/** @param send resolves to what a message led to */
function a2a(
  ids: readonly string[],
  send: (message: { parts: readonly Json[]; taskId?: string; metadata?: Json }) => Promise<A2aAnswer>,
): Connected {
  let asked: string | undefined
  const answer = ({ state, words, metadata, output }: A2aAnswer): Answer => ({
    isError: state !== 'completed',
    text: state === 'completed' ? JSON.stringify(output) : words,
    required: metadata['x402.payment.required'],
  })
  return {
    list: () => Promise.resolve(ids),
    async call(skill, input) {
      const given = await send({ parts: [{ data: { skill, input } }] })
      asked = given.taskId
      return answer(given)
    },
    async pay(_skill, _input, payment) {
      const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment }
      if (asked === undefined) throw new Error('nothing was asked for')
      return answer(await send({ parts: [{ text: 'Paid.' }], taskId: asked, metadata }))
    },
    close: () => Promise.resolve(),
  }
}

const wordsOf = (parts: unknown) =>
  (Array.isArray(parts) ? parts : [])
    .map((part: unknown) => (isObject(part) ? String(part['text'] ?? '') : ''))
    .join('\n')
let messages = 0

function messageAnswer(message: unknown): A2aAnswer {
  const { parts } = message as { parts: readonly { data?: unknown }[] }
  const output = parts.find(({ data }) => data !== undefined)?.data
  return { state: 'completed', words: wordsOf(parts), metadata: {}, output }
}

const a2aV1 = (binding: string) => async (url: string) => {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
    preferredTransports: [binding],
  })
  const client = await new ClientFactory(options).createFromUrl(url)
  const card = await new DefaultAgentCardResolver().resolve(url)
  return a2a(
    card.skills.map(({ id }) => id),
    async (given) => {
      const message = { messageId: `m${++messages}`, role: 'ROLE_USER', ...given }
      const answered = await client.sendMessage(SendMessageRequest.fromJSON({ message }))
      if (!('status' in answered)) return messageAnswer(Message.toJSON(answered))
      const { status, artifacts } = Task.toJSON(answered) as {
        status: { state: string; message?: { parts: unknown; metadata?: Json } }
        artifacts?: { parts: { data?: unknown }[] }[]
      }
      return {
        taskId: answered.id,
        state: status.state.replace('TASK_STATE_', '').toLowerCase(),
        words: wordsOf(status.message?.parts),
        metadata: status.message?.metadata ?? {},
        output: artifacts?.[0]?.parts[0]?.data,
      }
    },
  )
}

async function a2aV03(url: string): Promise<Connected> {
  const client = await new OldClientFactory().createFromUrl(url)
  const card = await new OldCardResolver().resolve(url)
  return a2a(
    card.skills.map(({ id }) => id),
    async ({ parts, ...given }) => {
      const kinds = parts.map((part) => ({ kind: 'data' in part ? 'data' : 'text', ...part }))
      const message = { kind: 'message', role: 'user', messageId: `m${++messages}`, parts: kinds, ...given }
      const answered = await client.sendMessage({ message: message as never })
      if (answered.kind === 'message') return messageAnswer(answered)
      const { id: taskId, status, artifacts } = answered
      const [part] = artifacts?.[0]?.parts ?? []
      return {
        taskId,
        state: status.state,
        words: wordsOf(status.message?.parts),
        metadata: status.message?.metadata ?? {},
        output: part?.kind === 'data' ? part.data : undefined,
      }
    },
  )
}

export const protocolClients: readonly ProtocolClient[] = [
  { name: 'MCP SDK v2, as of 2026', ...portable, connect: sdkV2('auto') },
  { name: 'MCP SDK v2, as of 2025', ...portable, connect: sdkV2('legacy') },
  { name: 'MCP SDK v1', ...portable, connect: sdkV1 },
  { name: 'MCP SDK v1 over stdio', ...portable, connect: sdkV1Stdio },
  // It shows the dots of the specification, and is shown them.
  {
    name: 'Inspector',
    free: 'gateway_execute',
    check: 'gateway.preflight',
    paid: 'gateway.web.fetch',
    connect: inspector,
  },
  { name: 'mcporter', ...portable, connect: mcporter },
  { name: 'mcp-use', ...portable, connect: mcpUse },
  { name: 'LangChain', ...portable, connect: langChain },
  { name: 'A2A SDK 1.x over JSON-RPC', ...skills, connect: a2aV1('JSONRPC') },
  { name: 'A2A SDK 1.x over HTTP+JSON', ...skills, connect: a2aV1('HTTP+JSON') },
  { name: 'A2A SDK 0.3', ...skills, connect: a2aV03 },
]

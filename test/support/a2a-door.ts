// The A2A door on a real listener, with tools of its own and an in-memory store: no other part of the gateway runs.
import { hideNames } from '../../src/commerce/secrets/places.ts'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import { free } from '../../src/core/price.ts'
import { createCallPath } from '../../src/core/call.ts'
import { loadConfig } from '../../src/app/config.ts'
import { createA2aDoor } from '../../src/doors/a2a/index.ts'
import { httpContext } from '../../src/doors/http/request.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { createRateLimiter } from '../../src/core/rate-limit.ts'
import { createLogger } from '../../src/lib/log.ts'
import { type AnyTool, createRegistry } from '../../src/core/registry.ts'
import { defineTool } from '../../tools/services.ts'
import type { Services } from '../../tools/services.ts'
import type { Signer } from '../../src/receipts/ports.ts'
import type { Store } from '../../src/store/ports.ts'
import type { ArtifactUpdate, WireMessage, WireStatus, WireTask } from '../../src/doors/a2a/wire.ts'
import { a2aFixtures } from '../conformance/fixtures/a2a.ts'
import { newToken } from '../../src/lib/tokens.ts'
import { deriveKey } from './derive-key.ts'
import { createMemoryTaskStore, type MemoryTaskStore } from './task-store.ts'
import type { PaymentGate } from '../../src/core/charging.ts'
import { noCredits, noGate } from './no-gate.ts'
import { noIdentity } from './no-identity.ts'

export interface DoorUnderTest {
  readonly url: string
  readonly memory: MemoryTaskStore
  readonly verifyKey: () => ReturnType<typeof generateKeyPairSync>['publicKey']
  readonly lines: string[]
  /** Opens the gate that the tool `wait` waits at. */
  release(): void
  /** Resolves when `wait` has begun. */
  readonly begun: Promise<void>
  readonly aborted: () => boolean
  close(): Promise<void>
}

export const KEY_A = newToken('sk', Buffer.alloc(32, 1))
export const KEY_B = newToken('sk', Buffer.alloc(32, 2))
export const CAPABILITY = newToken('cap', Buffer.alloc(32, 3))

const effects = { readOnly: true, idempotent: true, openWorld: false }
const route = (name: string) => ({ method: 'POST' as const, path: `/t/${name}`, operationId: name })
const skill = (id: string) => ({ id, tags: ['test'], examples: [`Run ${id}`] })

export async function startA2aDoor(
  options: {
    memory?: MemoryTaskStore
    store?: Store
    fixtures?: boolean
    rateLimit?: number
    /** Tools besides its own. */
    tools?: readonly AnyTool[]
    gate?: PaymentGate
    now?: () => number
  } = {},
): Promise<DoorUnderTest> {
  const memory = options.memory ?? createMemoryTaskStore()
  const store = options.store ?? memory.store
  memory.addKey(KEY_A, { accountId: 'acct_a' })
  memory.addKey(KEY_B, { accountId: 'acct_b' })
  memory.addCapability(CAPABILITY, { id: 'cap_1' })

  const now = options.now ?? Date.now
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  let begin = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  let wasAborted = false

  const tools: AnyTool[] = [
    defineTool({
      name: 'gateway.echo',
      title: 'Echo',
      toolset: 'web',
      summary: 'Says the text back.',
      input: z.strictObject({
        text: z.string(),
        email: z.string().optional(),
        secret: z.string().optional(),
      }),
      output: z.strictObject({ text: z.string() }),
      price: free,
      caller: 'anyone',
      effects,
      rest: route('echo'),
      skill: skill('echo'),
      reply: 'task',
      errors: [],
      examples: [{ title: 'Hello', input: { text: 'hello' } }],
      handle: async ({ text }) => ({ text }),
    }),
    defineTool({
      name: 'gateway.shout',
      title: 'Shout',
      toolset: 'web',
      summary: 'Says it louder and keeps nothing.',
      input: z.strictObject({ text: z.string() }),
      output: z.strictObject({ text: z.string() }),
      price: free,
      caller: 'anyone',
      effects,
      rest: route('shout'),
      skill: skill('shout'),
      reply: 'message',
      errors: [],
      examples: [{ title: 'Hello', input: { text: 'hello' } }],
      async handle({ text }) {
        if (text === '') throw new GatewayError('intent_unknown', 'Say something.')
        return { text: text.toUpperCase() }
      },
    }),
    defineTool({
      name: 'gateway_execute',
      title: 'Execute',
      toolset: 'web',
      summary: 'A family of skills.',
      input: z.strictObject({ capability: z.enum(['alpha', 'beta']), n: z.int().default(0) }),
      output: z.strictObject({ capability: z.string(), n: z.int() }),
      price: free,
      caller: 'anyone',
      effects,
      rest: route('execute'),
      skill: [skill('alpha'), skill('beta')],
      reply: 'task',
      errors: [],
      examples: [{ title: 'Beta', input: { capability: 'beta', n: 2 } }],
      handle: async ({ capability, n }) => ({ capability, n }),
    }),
    defineTool({
      name: 'gateway.fail',
      title: 'Fail',
      toolset: 'web',
      summary: 'Fails after it was accepted.',
      input: z.strictObject({ how: z.enum(['business', 'crash']) }),
      output: z.strictObject({}),
      price: free,
      caller: 'anyone',
      effects,
      rest: route('fail'),
      skill: skill('fail'),
      reply: 'task',
      errors: ['intent_unknown'],
      examples: [{ title: 'Fail', input: { how: 'business' } }],
      async handle({ how }) {
        if (how === 'crash') throw new Error('driver says: password=hunter2')
        throw new GatewayError('intent_unknown', 'Ask for something else.', {
          extras: { repair: { try: 'demo' } },
        })
      },
    }),
    defineTool({
      name: 'gateway.wait',
      title: 'Wait',
      toolset: 'web',
      summary: 'Works until it is released or aborted.',
      input: z.strictObject({ ignoreAbort: z.boolean().default(false) }),
      output: z.strictObject({ done: z.boolean() }),
      price: free,
      caller: 'anyone',
      effects,
      rest: route('wait'),
      skill: skill('wait'),
      reply: 'task',
      errors: [],
      examples: [{ title: 'Wait', input: {} }],
      async handle({ ignoreAbort }, { signal, progress }) {
        begin()
        progress({ done: 1, total: 2, message: 'half way' })
        const aborted = new Promise<never>((_resolve, reject) =>
          signal().addEventListener('abort', () => {
            wasAborted = true
            if (!ignoreAbort) reject(new Error('aborted'))
          }),
        )
        await Promise.race([gate, aborted])
        return { done: true }
      },
    }),
    defineTool({
      name: 'gateway.fetch',
      title: 'Fetch',
      toolset: 'web',
      summary: 'Needs a capability.',
      input: z.strictObject({ capability: z.string().optional() }),
      output: z.strictObject({ caller: z.string() }),
      price: free,
      caller: 'capability',
      effects,
      rest: route('fetch'),
      skill: skill('fetch'),
      reply: 'task',
      errors: [],
      examples: [{ title: 'Fetch', input: {} }],
      handle: async (_input, { caller }) => ({ caller: caller.id }),
    }),
    defineTool({
      name: 'gateway.issue',
      title: 'Issue',
      toolset: 'web',
      summary: 'Operators only; shows a token once.',
      input: z.strictObject({}),
      output: z.strictObject({ capability: z.string() }),
      price: free,
      caller: 'operator',
      effects,
      rest: route('issue'),
      skill: skill('issue'),
      reply: 'task',
      errors: [],
      examples: [{ title: 'Issue', input: {} }],
      handle: async () => ({ capability: CAPABILITY }),
    }),
  ]

  const lines: string[] = []
  const log = createLogger('info', { write: (line: string) => void lines.push(line) })
  const registry = createRegistry([...tools, ...(options.tools ?? [])])
  const calls = createCallPath({
    services: {} as Services,
    gate: options.gate ?? noGate,
    ...noCredits,
    store,
    limiter: createRateLimiter(options.rateLimit ?? 0),
    hideNames,
    log,
    now,
  })
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const addresses = { baseUrl: url, siteUrl: url, mcpUrl: `${url}/mcp` }
  const parts = {
    registry,
    calls,
    payments: options.gate ?? noGate,
    config: loadConfig({}),
    addresses,
    documents: {} as never,
    services: {} as never,
    identity: noIdentity,
    refusals: { refused: async () => {} },
    store,
    signer: testSigner(privateKey.export({ format: 'jwk' }) as Record<string, unknown>),
    deriveKey,
    log,
    now,
  }
  const door = await createA2aDoor(parts, options.fixtures ? a2aFixtures : undefined)
  server.on('request', (req, res) => {
    const context = httpContext(req, 0)
    const handler = context.path.startsWith('/.well-known/') ? door.card : door.http
    void handler(req, res, context)
  })
  return {
    url,
    memory,
    lines,
    verifyKey: () => publicKey,
    release,
    begun,
    aborted: () => wasAborted,
    async close() {
      release()
      await door.close()
      await stop(server)
    },
  }
}

function testSigner(jwk: Record<string, unknown>): Signer {
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  const encode = (value: unknown) => Buffer.from(canonicalize(value)!).toString('base64url')
  return {
    kid: 'test-key',
    environment: 'sandbox',
    sign(typ, payload, { jku, claims } = {}) {
      const head = { ...claims, alg: 'EdDSA', kid: 'test-key', typ, ...(jku !== undefined && { jku }) }
      const signed = `${encode(head)}.${encode(payload)}`
      return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
    },
  }
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Whatever an operation answers; a test asserts the members it expects. */
export interface Answer extends Partial<WireTask> {
  readonly task: WireTask
  readonly message: WireMessage
  readonly tasks: readonly WireTask[]
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
  readonly statusUpdate: { taskId: string; contextId: string; status: WireStatus }
  readonly artifactUpdate: ArtifactUpdate
}
export interface RpcBody {
  readonly jsonrpc: string
  readonly id: unknown
  readonly result: Answer
  readonly error: { code: number; message: string; data: readonly Record<string, unknown>[] }
}
export interface RestBody extends Answer {
  readonly error: {
    code: number
    status: string
    message: string
    details: readonly Record<string, unknown>[]
  }
}

/** A JSON-RPC request over HTTP, as curl would send it. */
export const post = (door: { url: string }, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${door.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

export async function rpc(
  door: { url: string },
  method: string,
  params: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: RpcBody }> {
  const response = await post(door, { jsonrpc: '2.0', id: 1, method, params }, headers)
  return { status: response.status, headers: response.headers, body: (await response.json()) as RpcBody }
}

/** An HTTP+JSON operation. */
export async function rest(
  door: { url: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: RestBody }> {
  const response = await fetch(`${door.url}/a2a/rest${path}`, {
    method,
    headers: {
      'a2a-version': '1.0',
      ...(body === undefined ? {} : { 'content-type': 'application/a2a+json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as RestBody }
}

/** Sends a message and returns the task it became. */
export async function sendTask(
  door: { url: string },
  data: unknown,
  headers: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Promise<WireTask> {
  const { body } = await rpc(door, 'SendMessage', { message: message(data), ...more }, headers)
  return body.result.task
}

let count = 0
/** A user message with one data part. */
export function message(data: unknown, more: Record<string, unknown> = {}) {
  return { messageId: `m-${++count}`, role: 'ROLE_USER', parts: [{ data }], ...more }
}
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Events of a stream, over either binding. */
export async function* readEvents(response: Response): AsyncGenerator<RpcBody & RestBody> {
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 2)
      if (line.startsWith('data: ')) yield JSON.parse(line.slice(6)) as RpcBody & RestBody
    }
  }
}

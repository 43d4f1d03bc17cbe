// The MCP door behind a bare listener, with a store of two tokens and tools made for its tests.
import { hideNames } from '../../src/commerce/secrets/places.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { free } from '../../src/core/price.ts'
import type { AuthenticationStore } from '../../src/core/authenticate.ts'
import { createCallPath } from '../../src/core/call.ts'
import { loadConfig } from '../../src/app/config.ts'
import type { Config } from '../../src/core/config.ts'
import { type HttpHandler, httpContext } from '../../src/doors/http/request.ts'
import { createMcpDoor, type McpDoor } from '../../src/doors/mcp/index.ts'
import type { DoorParts } from '../../src/doors/parts.ts'
import { createRateLimiter } from '../../src/core/rate-limit.ts'
import { createLogger } from '../../src/lib/log.ts'
import { type AnyTool, createRegistry } from '../../src/core/registry.ts'
import type { CallerKind } from '../../src/core/caller.ts'
import { defineTool } from '../../tools/services.ts'
import type { Services } from '../../tools/services.ts'
import type { Capability, ServiceKey } from '../../src/store/ports.ts'
import { hashToken, newToken } from '../../src/lib/tokens.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { PaymentGate } from '../../src/core/charging.ts'
import { deriveKey } from './derive-key.ts'
import { noCredits, noGate } from './no-gate.ts'

export const adminKey = newToken('sk', Buffer.alloc(32, 1))
export const operatorKey = newToken('sk', Buffer.alloc(32, 2))
export const capability = newToken('cap', Buffer.alloc(32, 3))
export const sellerKey = newToken('sk', Buffer.alloc(32, 4))
export const emailKey = newToken('ek', Buffer.alloc(32, 5))

const key = (id: string, admin: boolean): ServiceKey => ({
  id,
  accountId: 'acct_test',
  label: id,
  admin,
  role: 'operator',
  createdAt: 0,
  revokedAt: null,
})
const agent: Capability = {
  id: 'cap_test',
  accountId: 'acct_test',
  credentialId: 'cred_test',
  parentId: null,
  rootId: 'cap_test',
  label: 'test',
  scope: { hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET'] },
  maxUses: null,
  uses: 0,
  isBudgeted: false,
  showsBalance: false,
  createdAt: 0,
  expiresAt: Number.MAX_SAFE_INTEGER,
  revokedAt: null,
}

export const testStore: AuthenticationStore = {
  findSession: async () => undefined,
  findAccessToken: async () => undefined,
  findKey: async (hash) =>
    hash.equals(hashToken(adminKey))
      ? key('key_admin', true)
      : hash.equals(hashToken(operatorKey))
        ? key('key_operator', false)
        : hash.equals(hashToken(sellerKey))
          ? { ...key('key_seller', false), role: 'seller' }
          : undefined,
  findEmailKey: async (hash) =>
    hash.equals(hashToken(emailKey))
      ? { id: 'ek_test', createdAt: 0, lastSeenDay: '1970-01-01', revokedAt: null }
      : undefined,
  findCapability: async (hash) => (hash.equals(hashToken(capability)) ? agent : undefined),
}

export interface Seen {
  /** Resolves when the waiting tool has started. */
  readonly started: Promise<void>
  /** Resolves when the waiting tool has seen its signal abort. */
  readonly aborted: Promise<void>
}

const basics = {
  price: free,
  effects: { readOnly: true, idempotent: true, openWorld: false },
  errors: [],
  examples: [],
}
const route = (name: string) => ({
  method: 'POST' as const,
  path: `/v1/test/${name}`,
  operationId: `test${name.replace('_', '')}`,
})

function event(): { readonly happened: Promise<void>; happen(): void } {
  let happen = () => {}
  const happened = new Promise<void>((resolve) => (happen = resolve))
  return { happened, happen: () => happen() }
}

/** A tool that waits until it is aborted, and tools that echo, fail, count and tell who called. */
export function testTools(): { tools: AnyTool[]; seen: Seen } {
  const start = event()
  const abort = event()
  const whoami = (caller: CallerKind, name: string): AnyTool =>
    defineTool({
      ...basics,
      name,
      title: `Tell who calls (${caller})`,
      toolset: 'web',
      summary: 'Returns what the gateway knows of the caller.',
      input: z.strictObject({ capability: z.string().optional() }),
      output: z.strictObject({ kind: z.string(), id: z.string() }),
      caller,
      rest: route(name.split('.').at(-1)!),
      handle: async (_input, { caller: { kind, id } }) => ({ kind, id }),
    })
  const tools = [
    defineTool({
      ...basics,
      name: 'gateway.test.echo',
      title: 'Echo',
      toolset: 'web',
      summary: 'Returns its text.',
      input: z.strictObject({ text: z.string().max(1000) }),
      output: z.strictObject({ text: z.string() }),
      caller: 'anyone',
      rest: route('echo'),
      handle: async ({ text }) => ({ text }),
    }),
    defineTool({
      ...basics,
      name: 'gateway.test.fail',
      title: 'Fail',
      toolset: 'web',
      summary: 'Fails in the way that is asked for.',
      input: z.strictObject({ how: z.enum(['refused', 'bug']) }),
      output: z.strictObject({ never: z.string() }),
      caller: 'anyone',
      rest: route('fail'),
      async handle({ how }) {
        if (how === 'bug') throw new Error('driver said: password=hunter2')
        throw new GatewayError('intent_unknown', 'Say what to do, or call gateway.test.echo.', {
          extras: { repair: { try: 'demo' } },
        })
      },
    }),
    defineTool({
      ...basics,
      name: 'gateway.test.count',
      title: 'Count',
      toolset: 'web',
      summary: 'Counts and reports each step, one of them twice.',
      input: z.strictObject({ to: z.int().max(100) }),
      output: z.strictObject({ counted: z.int() }),
      caller: 'anyone',
      rest: route('count'),
      async handle({ to }, { progress }) {
        for (let done = 1; done <= to; done++) {
          progress({ done, total: to, message: `step ${done}` })
          progress({ done: done - 1, total: to })
          await new Promise((resolve) => setImmediate(resolve))
        }
        return { counted: to }
      },
    }),
    defineTool({
      ...basics,
      name: 'gateway.test.wait',
      title: 'Wait',
      toolset: 'web',
      summary: 'Waits until it is cancelled.',
      input: z.strictObject({}),
      output: z.strictObject({ waited: z.boolean() }),
      caller: 'anyone',
      rest: route('wait'),
      async handle(_input, { signal, progress }) {
        start.happen()
        if (!signal().aborted)
          await new Promise((resolve) => signal().addEventListener('abort', resolve, { once: true }))
        // Nobody may hear of it any more.
        progress({ done: 1, message: 'too late' })
        abort.happen()
        return { waited: true }
      },
    }),
    whoami('anyone', 'gateway.test.who'),
    whoami('capability', 'gateway.test.agent'),
    whoami('email', 'gateway.test.email'),
    whoami('operator', 'gateway.test.operator'),
    whoami('admin', 'gateway.test.admin'),
    whoami('seller', 'gateway.test.seller'),
  ]
  return { tools: tools as unknown as AnyTool[], seen: { started: start.happened, aborted: abort.happened } }
}

export interface TestGateway {
  readonly url: string
  readonly door: McpDoor
  readonly parts: DoorParts
  close(): Promise<void>
}

export async function startMcpGateway(
  options: {
    tools?: readonly AnyTool[]
    gate?: PaymentGate
    env?: Record<string, string>
    /** Log lines are added to it. */
    logged?: Record<string, unknown>[]
  } = {},
): Promise<TestGateway> {
  const config: Config = loadConfig({
    GATEWAY_RATE_LIMIT: '0',
    GATEWAY_LOG_LEVEL: options.logged ? 'info' : 'silent',
    ...options.env,
  })
  let handle: HttpHandler = () => {}
  const server = createServer({ maxHeaderSize: 16 * 1024 }, (req, res) => {
    void handle(req, res, httpContext(req, 0))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const log = createLogger(config.logLevel, {
    write: (line: string) => void options.logged?.push(JSON.parse(line) as Record<string, unknown>),
  })
  const now = Date.now
  const calls = createCallPath({
    services: {} as Services,
    gate: options.gate ?? noGate,
    ...noCredits,
    store: testStore,
    limiter: createRateLimiter(config.rateLimit),
    hideNames,
    log,
    now,
  })
  const parts = {
    registry: createRegistry(options.tools ?? testTools().tools),
    calls,
    config,
    addresses: { baseUrl, siteUrl: baseUrl, mcpUrl: `${baseUrl}/mcp` },
    store: testStore,
    signer: { kid: 'test', sign: (typ: string) => `signed ${typ}` },
    deriveKey,
    log,
    now,
  } as unknown as DoorParts
  const door = createMcpDoor(parts)
  handle = door.http
  return {
    url: `${baseUrl}/mcp`,
    door,
    parts,
    async close() {
      await door.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

// Tools, prompts and resources that the official conformance suite calls. Served by the real handler, and only with
// GATEWAY_CONFORMANCE_FIXTURES=1, which production refuses.
import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from '@modelcontextprotocol/server'
import { isObject } from '../../lib/json.ts'
import type { Era, ToolEntry } from './catalogue.ts'
import type { Exchange } from './exchange.ts'
import { CONTENT_CAPABILITIES, installContent, PNG, WAV } from './fixture-content.ts'
import { declaredCapabilities, inputFixtures, text } from './fixture-inputs.ts'
import { isRpcId, type JsonObject, META, RPC, type RpcError } from './wire.ts'

export interface FixtureCall {
  readonly era: Era
  readonly params: JsonObject
  readonly exchange: Exchange
}

export type FixtureOutcome =
  { readonly result: JsonObject } | { readonly error: RpcError; readonly status?: number }

export interface Fixtures {
  readonly tools: readonly ToolEntry[]
  readonly capabilities: JsonObject
  /** Undefined when `name` is no fixture. */
  call(name: string, call: FixtureCall): Promise<FixtureOutcome> | undefined
  /** Prompts, resources, completion and logging, on the SDK's server. */
  install(server: Server): void
}

type Fixture = (call: FixtureCall) => Promise<FixtureOutcome>

const STEP_MS = 50
const image = { type: 'image', data: PNG, mimeType: 'image/png' }
const content =
  (...items: JsonObject[]): Fixture =>
  async () => ({ result: { content: items } })
const resource = (uri: string, mimeType: string, body: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: body },
})

async function logThreeTimes({ era, params, exchange }: FixtureCall): Promise<FixtureOutcome> {
  const meta = params['_meta']
  // The 2026 revision: no log line for a request that did not ask for one.
  const isWanted = era === 'legacy' || (isObject(meta) && meta[META.logLevel] !== undefined)
  for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    if (isWanted) exchange.notify('notifications/message', { level: 'info', logger: 'fixture', data })
    await delay(STEP_MS)
  }
  return text('Tool with logging executed.')
}

async function progressThreeTimes({ params, exchange }: FixtureCall): Promise<FixtureOutcome> {
  const meta = params['_meta']
  const progressToken = isObject(meta) ? meta['progressToken'] : undefined
  for (const progress of [0, 50, 100]) {
    if (isRpcId(progressToken))
      exchange.notify('notifications/progress', { progressToken, progress, total: 100 })
    await delay(STEP_MS)
  }
  return text('Tool with progress executed.')
}

const requireSampling: Fixture = async (call) =>
  'sampling' in declaredCapabilities(call)
    ? text('The client declared sampling.')
    : {
        status: 400,
        error: {
          code: RPC.missingCapability,
          message: 'The client must declare sampling for this tool',
          data: { requiredCapabilities: { sampling: {} } },
        },
      }

const FIXTURES: Readonly<Record<string, Fixture>> = {
  test_simple_text: async () => text('This is a simple text response for testing.'),
  test_image_content: content(image),
  test_audio_content: content({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: content(
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ),
  test_multiple_content_types: content(
    { type: 'text', text: 'Multiple content types test:' },
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ),
  test_error_handling: async () => ({
    result: {
      content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
      isError: true,
    },
  }),
  test_tool_with_logging: logThreeTimes,
  test_logging_tool: logThreeTimes,
  test_tool_with_progress: progressThreeTimes,
  test_missing_capability: requireSampling,
  json_schema_2020_12_tool: async () => text('This tool is there for its schema.'),
  ...inputFixtures,
}

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a JSON Schema keyword
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const oneString = (name: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
})
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  json_schema_2020_12_tool: SCHEMA_2020_12,
  test_sampling: oneString('prompt'),
  test_elicitation: oneString('message'),
}

export function createFixtures(): Fixtures {
  return {
    tools: Object.keys(FIXTURES).map((name) => ({
      name,
      description: `Conformance fixture ${name.replaceAll('_', ' ')}`,
      inputSchema: SCHEMAS[name] ?? { type: 'object' },
    })),
    capabilities: CONTENT_CAPABILITIES,
    call(name, call) {
      const fixture = Object.hasOwn(FIXTURES, name) ? FIXTURES[name] : undefined
      return fixture?.(call).catch(() => ({
        result: { content: [{ type: 'text', text: 'The client did not answer.' }], isError: true },
      }))
    },
    install: installContent,
  }
}

// The list of tools as a connection is shown it, serialised once at start: {dotted, portable} x {public, seller, operator, admin} x {2025, 2026}.
import { API_VERSION } from '../../core/config.ts'
import type { JsonSchema, RegisteredTool, Registry } from '../../core/registry.ts'
import type { Addresses } from '../../core/config.ts'
import { isPaid } from '../../core/price.ts'
import { priceSentence } from '../message-payment.ts'
import { instructions } from './instructions.ts'
import { createSpell, type Spell, type Spelling, spellSchema } from './names.ts'
import { PAYMENT_EXTENSION } from './result.ts'
import { type JsonObject, META } from './wire.ts'

export type Era = 'legacy' | 'modern'
/** The service key on the connection decides this; no key is `public`. */
export type Audience = 'public' | 'seller' | 'operator' | 'admin'

const AUDIENCES: readonly Audience[] = ['public', 'seller', 'operator', 'admin']
/** The list changes with a new version only; private, because it depends on the key and on the client. */
export const LIST_TTL_MS = 300_000

export interface ToolEntry {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations?: JsonObject
  readonly _meta?: JsonObject
}

/** Tools and capabilities beyond the registry's. */
export interface Additions {
  readonly tools: readonly ToolEntry[]
  readonly capabilities: JsonObject
}

export interface Catalogue {
  readonly serverInfo: JsonObject
  /** Extensions are of 2026. */
  readonly capabilities: Readonly<Record<Era, JsonObject>>
  readonly instructions: (spelling: Spelling) => string
  readonly spell: Spell
  readonly tools: (spelling: Spelling, audience: Audience) => readonly ToolEntry[]
  /** Result JSON of tools/list as bytes. */
  readonly listResult: (era: Era, spelling: Spelling, audience: Audience) => Buffer
  /** Ends every modern result: `,"resultType":…,"_meta":{…}}`; the metadata alone, for a result that has its own. */
  readonly modernTail: string
  readonly modernMeta: JsonObject
}

/** The tools, texts and capabilities that MCP lists, for each audience its own. */
export function createCatalogue(registry: Registry, addresses: Addresses, additions: Additions): Catalogue {
  const spell = createSpell(registry)
  const served = registry.tools.filter(({ tool }) => tool.doors.includes('mcp'))
  const serverInfo = {
    name: 'agent-gateway',
    title: 'Agent Gateway',
    version: API_VERSION,
    websiteUrl: addresses.siteUrl,
  }
  const capabilities = { tools: { listChanged: false }, ...additions.capabilities }
  const modernMeta = { [META.serverInfo]: serverInfo }
  const modernTail = `,"resultType":"complete","_meta":${JSON.stringify(modernMeta)}}`
  const cacheTail = `,"ttlMs":${LIST_TTL_MS},"cacheScope":"private"${modernTail}`

  const words = perSpelling((spelling) => instructions(registry, (text) => spell(text, spelling)))
  const lists = perSpelling(
    (spelling) =>
      Object.fromEntries(
        AUDIENCES.map((audience) => {
          const tools = [
            ...served
              .filter((entry) => isShown(entry, audience))
              .map((entry) => describe(entry, spelling, spell)),
            ...additions.tools,
          ]
          const json = `{"tools":${JSON.stringify(tools)}`
          return [
            audience,
            { tools, legacy: Buffer.from(`${json}}`), modern: Buffer.from(`${json}${cacheTail}`) },
          ]
        }),
      ) as Record<Audience, { tools: ToolEntry[]; legacy: Buffer; modern: Buffer }>,
  )

  return {
    serverInfo,
    capabilities: { legacy: capabilities, modern: { ...capabilities, ...paymentExtension(served) } },
    modernTail,
    modernMeta,
    instructions: (spelling) => words[spelling],
    spell,
    tools: (spelling, audience) => lists[spelling][audience].tools,
    listResult: (era, spelling, audience) => lists[spelling][audience][era],
  }
}

const perSpelling = <T>(make: (spelling: Spelling) => T): Record<Spelling, T> => ({
  dotted: make('dotted'),
  portable: make('portable'),
})

const paymentExtension = (served: readonly RegisteredTool[]) =>
  served.some(({ tool }) => isPaid(tool)) ? { extensions: { [PAYMENT_EXTENSION]: {} } } : {}

function isShown({ tool }: RegisteredTool, audience: Audience): boolean {
  if (tool.caller === 'admin') return audience === 'admin'
  // An operator that sells calls them too, but most do not: its list is long enough without them.
  if (tool.caller === 'seller') return audience === 'seller'
  return tool.caller !== 'operator' || audience === 'operator' || audience === 'admin'
}

/** The key of a tool's dotted name, which is the same on every connection, in its `_meta`. */
export const NAME_META = 'agent-gateway/name'

function describe(
  { tool, portableName, ...schemas }: RegisteredTool,
  spelling: Spelling,
  spell: Spell,
): ToolEntry {
  const words = (text: string) => spell(text, spelling)
  const isPortable = spelling === 'portable'
  return {
    name: isPortable ? portableName : tool.name,
    // People know a tool by the name that the documents use.
    title: isPortable && portableName !== tool.name ? `${tool.title} (${tool.name})` : tool.title,
    description: words(tool.summary) + priceSentence(tool),
    inputSchema: spellSchema({ type: 'object', ...schemas.listedSchema }, words),
    outputSchema: spellSchema(orRefusal(schemas.messageSchema, isPaid(tool)), words),
    annotations: {
      title: tool.title,
      readOnlyHint: tool.effects.readOnly,
      destructiveHint: tool.effects.destructive ?? false,
      idempotentHint: tool.effects.idempotent,
      openWorldHint: tool.effects.openWorld,
    },
    _meta: { [NAME_META]: tool.name },
  }
}

/** `structuredContent` holds this beside `isError`. */
const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'Problem document (with isError): do what `detail` says',
  properties: {
    code: { type: 'string' },
    status: { type: 'integer' },
    title: { type: 'string' },
    detail: { type: 'string' },
    request_id: { type: 'string' },
  },
  required: ['code', 'status', 'title', 'detail', 'request_id'],
}

/** A paid tool answers this, with isError, to a call without a payment or with one that was not accepted. */
const PAYMENT_REQUIRED: JsonSchema = {
  type: 'object',
  description:
    'x402 payment required (with isError): send the same call again with a payment of one of `accepts` in _meta["x402/payment"]',
  properties: {
    x402Version: { type: 'integer', const: 2 },
    error: { type: 'string' },
    resource: { type: 'object' },
    accepts: { type: 'array', items: { type: 'object' } },
    extensions: { type: 'object' },
  },
  required: ['x402Version', 'resource', 'accepts'],
}

/**
 * Clients on the v1 SDK hold `structuredContent` against the schema even when `isError` is set, and throw the answer
 * away when it does not fit; so every tool's schema admits the problem document too, and a paid one's the challenge.
 */
function orRefusal(output: JsonSchema, isPaidTool: boolean): JsonObject {
  const { $defs, ...success } = output
  return {
    type: 'object',
    anyOf: [success, PROBLEM, ...(isPaidTool ? [PAYMENT_REQUIRED] : [])],
    ...($defs === undefined ? {} : { $defs }),
  }
}

// The tools, texts and capabilities that a connection is shown. What a tool looks like in a list is decided here, who sees it in
// audience.ts, and which part of the list a connection asked for in selection.ts.
import { API_VERSION } from '../../core/config.ts'
import type { AnyTool, RegisteredTool, Registry } from '../../core/registry.ts'
import type { Addresses } from '../../core/config.ts'
import { spellSchema } from '../../core/tool-words.ts'
import { isPaid } from '../../core/price.ts'
import { priceSentence } from '../message-payment.ts'
import { instructions } from './instructions.ts'
import { createLists, type Era, type ToolEntry, type View } from './lists.ts'
import { createSpell, type Spell, type Spelling } from './names.ts'
import { PAYMENT_EXTENSION } from './result.ts'
import { type JsonObject, META } from './wire.ts'

/** The list changes with a new version only; private, because it depends on the key and on the client. */
export const LIST_TTL_MS = 300_000

export type { Era, ToolEntry }

/** Tools and capabilities beyond the registry's. */
export interface Additions {
  readonly tools: readonly ToolEntry[]
  readonly capabilities: JsonObject
  readonly extensions?: JsonObject
}

export interface Catalogue {
  readonly serverInfo: JsonObject
  /** Extensions are of 2026. */
  readonly capabilities: Readonly<Record<Era, JsonObject>>
  /** Names only tools that the connection is shown. */
  readonly instructions: (view: Pick<View, 'spelling' | 'selection'>) => string
  readonly spell: Spell
  readonly tools: (view: View) => readonly ToolEntry[]
  /** Result JSON of tools/list as bytes. */
  readonly listResult: (era: Era, view: View) => Buffer
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

  const listOf = createLists(served, (entry, spelling) => describe(entry, spelling, spell), additions.tools, {
    legacy: '}',
    modern: cacheTail,
  })

  return {
    serverInfo,
    capabilities: {
      legacy: capabilities,
      modern: { ...capabilities, extensions: { ...paymentExtension(served), ...additions.extensions } },
    },
    modernTail,
    modernMeta,
    instructions: ({ spelling, selection }) =>
      instructions(
        (name) => {
          const tool = registry.find(name)?.tool
          return tool !== undefined && (selection?.has(tool) ?? true)
        },
        (text) => spell(text, spelling),
      ),
    spell,
    tools: (view) => listOf(view).tools,
    listResult: (era, view) => listOf(view)[era],
  }
}

const paymentExtension = (served: readonly RegisteredTool[]) =>
  served.some(({ tool }) => isPaid(tool)) ? { [PAYMENT_EXTENSION]: {} } : {}

/** The key of a tool's dotted name, which is the same on every connection, in its `_meta`. */
const NAME_META = 'agent-gateway/name'

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
    description: words(tool.brief ?? tool.summary) + priceSentence(tool),
    inputSchema: spellSchema({ type: 'object', ...schemas.listedSchema }, words),
    annotations: annotationsOf(tool),
    _meta: { [NAME_META]: tool.name },
  }
}

/**
 * No model reads these, but everything that asks a person first does. Defaults of the specification are left out: a tool may destroy, may not be
 * repeated, and meets the world, unless it says otherwise; of one that only reads, the first two mean nothing.
 */
function annotationsOf({ effects: { readOnly, destructive, idempotent, openWorld } }: AnyTool): JsonObject {
  return {
    ...(readOnly && { readOnlyHint: true }),
    ...(!readOnly && destructive !== true && { destructiveHint: false }),
    ...(!readOnly && idempotent && { idempotentHint: true }),
    ...(!readOnly && !openWorld && { openWorldHint: false }),
  }
}

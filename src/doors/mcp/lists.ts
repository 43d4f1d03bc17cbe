// Answers of tools/list as bytes: the whole list of each audience once at start, a part of it when it is first asked for.
import type { RegisteredTool } from '../../core/registry.ts'
import { type Audience, AUDIENCES, isShown } from './audience.ts'
import type { Spelling } from './names.ts'
import type { Selection } from './selection.ts'
import type { JsonObject } from './wire.ts'

export type Era = 'legacy' | 'modern'

export interface ToolEntry {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly annotations?: JsonObject
  readonly _meta?: JsonObject
}

/** Everything that decides what a connection is shown. */
export interface View {
  readonly spelling: Spelling
  readonly audience: Audience
  readonly selection: Selection | undefined
}

interface List extends Readonly<Record<Era, Buffer>> {
  readonly tools: readonly ToolEntry[]
}

/** A list is some 40 KB, and anybody may ask for any part: the oldest makes room. */
const MAX_PARTS = 64

/**
 * @param served tools of the registry that MCP serves
 * @param describe how a list shows a tool
 * @param added tools that every list ends with
 * @param tails JSON behind the array of tools
 */
export function createLists(
  served: readonly RegisteredTool[],
  describe: (entry: RegisteredTool, spelling: Spelling) => ToolEntry,
  added: readonly ToolEntry[],
  tails: Readonly<Record<Era, string>>,
): (view: View) => List {
  const whole = new Map<string, List>()
  const parts = new Map<string, List>()
  const described = {
    dotted: new Map(served.map((entry) => [entry, written(describe(entry, 'dotted'))])),
    portable: new Map(served.map((entry) => [entry, written(describe(entry, 'portable'))])),
  }
  const addedWritten = added.map(written)

  function build({ spelling, audience, selection }: View): List {
    const shown = [...described[spelling]].filter(
      ([{ tool }]) => isShown(tool, audience) && (selection?.has(tool) ?? true),
    )
    const listed = [...shown.map(([, tool]) => tool), ...addedWritten]
    const json = `{"tools":[${listed.map((tool) => tool.json).join(',')}]`
    return {
      tools: listed.map((tool) => tool.entry),
      legacy: Buffer.from(json + tails.legacy),
      modern: Buffer.from(json + tails.modern),
    }
  }

  for (const spelling of ['dotted', 'portable'] as const)
    for (const audience of AUDIENCES)
      whole.set(`${spelling} ${audience}`, build({ spelling, audience, selection: undefined }))

  return (view) => {
    const { spelling, audience, selection } = view
    const key = `${spelling} ${audience}`
    if (selection === undefined) return whole.get(key) ?? build(view)
    const partKey = `${key} ${selection.text}`
    const known = parts.get(partKey)
    if (known) return known
    const list = build(view)
    for (const oldest of parts.keys()) {
      if (parts.size < MAX_PARTS) break
      parts.delete(oldest)
    }
    parts.set(partKey, list)
    return list
  }
}

const written = (entry: ToolEntry) => ({ entry, json: JSON.stringify(entry) })

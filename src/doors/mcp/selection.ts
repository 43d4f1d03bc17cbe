// A connection may ask for a part of the list: `?toolsets=` names groups, `?tools=` single tools in either spelling, and both together
// are added up. A selection hides and does not forbid: a tool outside of it is called as before.
import { GatewayError } from '../../core/errors.ts'
import { type AnyTool, portableName, type Registry } from '../../core/registry.ts'
import { TOOLSETS, type Toolset } from '../../core/tool.ts'
import { nearestTo } from '../../lib/edit-distance.ts'

export interface Selection {
  /** Toolsets, `+`, portable names: the same text for the same tools, of characters that may stand in a header. */
  readonly text: string
  has(tool: AnyTool): boolean
}

/** The query of a connection, read. */
export interface ConnectionQuery {
  /** Value of `?names=`. */
  readonly names: string | undefined
  /** Undefined: the whole list. */
  readonly selection: Selection | undefined
}

export interface Selections {
  /**
   * @param query raw, without the question mark
   * @throws {GatewayError} request_invalid, that says which word is unknown and what it may have been
   */
  read(query: string): ConnectionQuery
  /** The selection of this `text`; what it names that is not served (any more) is left out. */
  restore(text: string): Selection
  /** Says that there is no such tool, and which one may have been meant. */
  unknownTool(name: string): string
}

const NOTHING: ConnectionQuery = { names: undefined, selection: undefined }
/** Reading a query takes longer than all the rest of a list; clients send the same one each time. */
const MAX_REMEMBERED = 256
const MAX_REMEMBERED_LENGTH = 512
/** Stands in no name, and unlike a comma does not make two values of a header. */
const SEPARATOR = '-'
/** Ways to write the parameters wrong that would otherwise be ignored in silence. */
const MISSPELT: Readonly<Record<string, string>> = {
  name: 'names',
  naming: 'names',
  tool: 'tools',
  toolset: 'toolsets',
  tool_sets: 'toolsets',
  tool_set: 'toolsets',
}

/** Reads which tools a connection wants to see. */
export function createSelections(registry: Registry): Selections {
  const served = registry.tools.filter(({ tool }) => tool.doors.includes('mcp'))
  const remembered = new Map<string, ConnectionQuery>()

  function select(toolsets: ReadonlySet<Toolset>, names: ReadonlySet<string>): Selection {
    const groups = TOOLSETS.filter((toolset) => toolsets.has(toolset))
    const single = served.filter(({ tool }) => names.has(tool.name) && !toolsets.has(tool.toolset))
    const shown = new Set(single.map(({ tool }) => tool.name))
    return {
      text: `${groups.join(SEPARATOR)}+${single.map((entry) => entry.portableName).join(SEPARATOR)}`,
      has: (tool) => toolsets.has(tool.toolset) || shown.has(tool.name),
    }
  }

  function readSelection(params: URLSearchParams): Selection | undefined {
    const [toolsets, names] = [listIn(params, 'toolsets'), listIn(params, 'tools')]
    if (!toolsets && !names) return undefined
    return select(new Set(toolsets?.map(toolsetOf)), new Set(names?.map(toolOf)))
  }

  function toolOf(name: string): string {
    const entry = registry.find(name)
    if (!entry?.tool.doors.includes('mcp')) throw refuse(unknownTool(name))
    return entry.tool.name
  }

  function unknownTool(name: string): string {
    const [route] = registry.find(name)?.tool.rest ?? []
    if (route) return `${name} is not served over MCP, but at ${route.method} ${route.path}.`
    const wanted = plain(name)
    const known = served.map((entry) => entry.portableName)
    const nearest = nearestTo(wanted.startsWith('gateway_') ? wanted : `gateway_${wanted}`, known)
    const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    return `Unknown tool: ${name.slice(0, 128)}.${advice} tools/list names the tools there are.`
  }

  return {
    read(query) {
      if (query === '') return NOTHING
      const seen = remembered.get(query)
      if (seen) return seen
      const params = new URLSearchParams(query)
      checkNames(params)
      const read = { names: params.get('names') ?? undefined, selection: readSelection(params) }
      if (query.length <= MAX_REMEMBERED_LENGTH) {
        if (remembered.size >= MAX_REMEMBERED) remembered.clear()
        remembered.set(query, read)
      }
      return read
    },
    restore(text) {
      const [toolsets = '', names = ''] = text.split('+')
      const known = names.split(SEPARATOR).flatMap((name) => registry.find(name)?.tool.name ?? [])
      return select(new Set(toolsets.split(SEPARATOR).filter(isToolset)), new Set(known))
    },
    unknownTool,
  }
}

const refuse = (detail: string) => new GatewayError('request_invalid', detail, { reason: 'mcp query' })

/** @throws {GatewayError} request_invalid for a parameter that is nearly one of ours */
function checkNames(params: URLSearchParams): void {
  for (const key of params.keys()) {
    const lower = key.toLowerCase().replace(/\[\]$/, '').replaceAll('-', '_')
    const meant = MISSPELT[lower] ?? (['names', 'tools', 'toolsets'].includes(lower) ? lower : undefined)
    if (meant !== undefined && meant !== key)
      throw refuse(`Unknown parameter ?${key.slice(0, 64)}=. Did you mean ?${meant}=?`)
  }
}

/** The words of a list that may be written once or several times; undefined where it is not there. */
function listIn(params: URLSearchParams, key: 'tools' | 'toolsets'): readonly string[] | undefined {
  if (!params.has(key)) return undefined
  const words = params
    .getAll(key)
    .flatMap((value) => value.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
  if (words.length > 0) return words
  const example = key === 'tools' ? 'gateway_web_fetch,gateway_inspect' : 'web,egress'
  throw refuse(`?${key}= is empty. Leave it out for all tools, or name some: ?${key}=${example}`)
}

function toolsetOf(word: string): Toolset {
  if (isToolset(word)) return word
  const nearest = nearestTo(word.toLowerCase(), TOOLSETS)
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw refuse(`Unknown toolset: ${word.slice(0, 64)}.${advice} There are ${TOOLSETS.join(', ')}.`)
}

const isToolset = (word: string): word is Toolset => (TOOLSETS as readonly string[]).includes(word)

const plain = (name: string) =>
  portableName(
    name
      .slice(0, 128)
      .toLowerCase()
      .replaceAll(/[\s/-]/g, '_'),
  )

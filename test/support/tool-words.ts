// Finds names of tools in what a gateway sent. A text of the gateway's own may hold only the names that its reader can use.
import { createRegistry, type RegisteredTool } from '../../src/core/registry.ts'
import { routeName } from '../../src/core/tool-words.ts'
import { tools } from '../../tools/index.ts'
import { isObject } from '../../src/lib/json.ts'

export const registry = createRegistry(tools)

/** Every way to name a tool in a text. */
export const NAMES = {
  dotted: ({ tool }: RegisteredTool) => tool.name,
  portable: ({ portableName }: RegisteredTool) => portableName,
  route: routeName,
} as const
export type Naming = keyof typeof NAMES

/** The names of these kinds that stand in a text, as whole words. */
export function namesOf(kinds: readonly Naming[], text: string): string[] {
  const found = registry.tools.flatMap((entry) =>
    kinds.map((kind) => NAMES[kind](entry)).filter((name) => stands(name, text)),
  )
  // What is the same in both spellings is in neither of them wrong.
  return found.filter((name) => name !== 'gateway_execute')
}

function stands(name: string, text: string): boolean {
  const at = text.indexOf(name)
  if (at < 0) return false
  const [before, after] = [text[at - 1] ?? ' ', text.slice(at + name.length, at + name.length + 2)]
  const isWord = !/[\w./@-]/.test(before) && !/^(?:[\w@/-]|\.\w)/.test(after)
  return isWord || stands(name, text.slice(at + name.length))
}

/**
 * The sentences in a JSON value: what stands under the names that the gateway's own words have, and, where a text is JSON itself,
 * those in it. Outputs of tools have other names, so that what came from the internet is not among them.
 */
export function sentencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => sentencesIn(item))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'repair' && isObject(inner)) return typeof inner['send'] === 'string' ? [inner['send']] : []
    if (VALUES.has(key)) return []
    if (typeof inner !== 'string') return sentencesIn(inner)
    if (key === 'text') return inner.startsWith('{') ? sentencesIn(JSON.parse(inner)) : [inner]
    return WORDS.has(key) ? [inner] : []
  })
}
const WORDS: ReadonlySet<string> = new Set([
  'description',
  'title',
  'detail',
  'message',
  'error',
  'instructions',
  'summary',
])
const VALUES: ReadonlySet<string> = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'example',
  '_meta',
  'extensions',
  'value',
])

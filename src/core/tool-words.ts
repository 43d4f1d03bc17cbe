// Sentences of the gateway name tools by their dotted names, and a tool has another name at each door: a spelling of it over MCP, a
// skill over A2A, a route over REST. This rewrites the names of tools in a sentence, and nothing else of it.
import { isObject } from '../lib/json.ts'
import type { Problem } from './errors.ts'
import type { RegisteredTool, Registry } from './registry.ts'

/** Rewrites a text of the gateway's own. Never for what came from the internet or from a caller. */
export type Speller = (text: string) => string

/**
 * Whole words that could be a tool's name, in either spelling. Hosts and addresses are no names: what follows `.`, `/`, `-` or `@`,
 * or goes on with one of them, is left alone.
 */
const CANDIDATE = /(?<![\w./@-])gateway(?:[._][a-z]+)+(?![\w@-]|\.\w|:\d)/g

/** @param nameOf the name that a reader of the text knows the tool by */
export function createSpeller(registry: Registry, nameOf: (entry: RegisteredTool) => string): Speller {
  return (text) => {
    // Most texts name no tool, and this runs with every refusal.
    if (!text.includes('gateway')) return text
    return text.replaceAll(CANDIDATE, (name) => {
      const entry = registry.find(name)
      return entry ? nameOf(entry) : name
    })
  }
}

/** The name that a reader over HTTP knows a tool by: `POST /v1/egress/fetch`. */
export const routeName = ({ tool }: RegisteredTool): string => `${tool.rest[0].method} ${tool.rest[0].path}`

/** A schema's words as a reader's door spells them. What a caller would send (`enum`, `const`, `default`, `examples`) stays. */
export function spellSchema<T>(schema: T, spell: Speller): T {
  if (Array.isArray(schema)) return schema.map((item: unknown) => spellSchema(item, spell)) as T
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (VALUES.has(key)) return [key, value]
      const isText = typeof value === 'string' && (key === 'description' || key === 'title')
      return [key, isText ? spell(value) : spellSchema(value, spell)]
    }),
  ) as T
}

const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required'])

/** The words of a problem document; what it holds beside them (ids, the example in `repair`) is data. */
export function spellProblem(problem: Problem, spell: Speller): Problem {
  const { fields, repair } = problem
  const send = repair?.['send']
  return {
    ...problem,
    title: spell(problem.title),
    detail: spell(problem.detail),
    ...(typeof send === 'string' && { repair: { ...repair, send: spell(send) } }),
    ...(fields && { fields: fields.map((field) => ({ ...field, message: spell(field.message) })) }),
  }
}

// A connection is shown one spelling of the tool names, chosen here (contract, section 2). Calls accept both, always.
import type { Problem } from '../../core/errors.ts'
import type { Registry } from '../../core/registry.ts'
import { createSpeller } from '../../core/tool-words.ts'
import { DOT_ACCEPTING_CLIENTS } from '../../data/dot-accepting-clients.ts'
import { isObject } from '../../lib/json.ts'

export type Spelling = 'dotted' | 'portable'
export type NamesSetting = 'auto' | Spelling

export interface SpellingHints {
  /** Value of `?names=`, when present. */
  readonly query: string | undefined
  /** `clientInfo.name` of initialize or of the request's `_meta`. */
  readonly clientName: string | undefined
  readonly userAgent: string | undefined
  /** Settled by an earlier `initialize` of this session. */
  readonly session: Spelling | undefined
}

const isSpelling = (text: string | undefined): text is Spelling => text === 'dotted' || text === 'portable'

/** The connection's own wish first, then the operator's, then what is known of the client; portable names suit every client. */
export function chooseSpelling(setting: NamesSetting, hints: SpellingHints): Spelling {
  const { query, clientName, userAgent, session } = hints
  if (isSpelling(query)) return query
  if (query === undefined && setting !== 'auto') return setting
  if (session !== undefined) return session
  // A name says more than a User-Agent, which a proxy or a library may have written.
  const isAccepting = clientName === undefined ? agentAcceptsDots(userAgent) : clientAcceptsDots(clientName)
  return isAccepting ? 'dotted' : 'portable'
}

const ACCEPTING_NAMES = new Set(DOT_ACCEPTING_CLIENTS.map(({ name }) => name))
const ACCEPTING_AGENTS = new Set(DOT_ACCEPTING_CLIENTS.flatMap(({ agent }) => agent ?? []))

const clientAcceptsDots = (name: string) => ACCEPTING_NAMES.has(name.slice(0, 64).toLowerCase())

/** `claude-code/2.1 (cli)`: only what stands in front names the program. */
const agentAcceptsDots = (userAgent: string | undefined) =>
  userAgent !== undefined &&
  ACCEPTING_AGENTS.has((userAgent.split('/', 1)[0] ?? '').slice(0, 64).toLowerCase())

/**
 * Rewrites the names of tools in a text of the gateway's own to the spelling of a connection; other words stay as they are.
 * Never for outputs, which may come from the internet.
 */
export type Spell = (text: string, spelling: Spelling) => string

/** The names are those of the registry's tools: no other word is taken for one. */
export function createSpell(registry: Registry): Spell {
  const spellers = {
    dotted: createSpeller(registry, ({ tool }) => tool.name),
    portable: createSpeller(registry, ({ portableName }) => portableName),
  }
  return (text, spelling) => spellers[spelling](text)
}

/** A schema's words as the connection spells them. What a caller would send (`enum`, `const`, `default`, `examples`) stays. */
export function spellSchema<T>(schema: T, spell: (text: string) => string): T {
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

/** The words of a problem document; what it holds beside them (`repair`, ids) is data. */
export function spellProblem(problem: Problem, spell: (text: string) => string): Problem {
  const { fields } = problem
  return {
    ...problem,
    title: spell(problem.title),
    detail: spell(problem.detail),
    ...(fields && { fields: fields.map((field) => ({ ...field, message: spell(field.message) })) }),
  }
}

/** Whether `?names=` may have this value: none, `auto` or a spelling. */
export const isNamesQuery = (value: string | undefined): boolean =>
  value === undefined || value === 'auto' || isSpelling(value)

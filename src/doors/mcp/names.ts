// A connection is shown one spelling of the tool names, chosen here (contract, section 2). Calls accept both, always.
import type { Registry } from '../../core/registry.ts'
import { createSpeller } from '../../core/tool-words.ts'
import { DOT_ACCEPTING_CLIENTS } from '../../data/dot-accepting-clients.ts'

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

/** Whether `?names=` may have this value: none, `auto` or a spelling. */
export const isNamesQuery = (value: string | undefined): boolean =>
  value === undefined || value === 'auto' || isSpelling(value)

// Sentences of the gateway name its tools, and a tool has another name at each door. This rewrites the names of tools in a
// sentence, and nothing else of it; the door says which name it knows a tool by.
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

// A tool as an A2A skill where its file writes none: every tool is served at every door, and its file already says what a card says.
import type { SkillCard, Toolset } from './tool.ts'

/** `gateway.egress.fetch` -> `gateway_egress_fetch`: the spelling that every MCP client accepts. */
export const portableName = (name: string) => name.replaceAll('.', '_')

/** `gateway.signing_keys.list` -> `signing-keys-list`. */
const skillId = (name: string) =>
  portableName(name)
    .replace(/^gateway_/, '')
    .replaceAll('_', '-')

/** Name and description are left out: a card takes the tool's title and summary. */
export function derivedSkill(tool: {
  readonly name: string
  readonly title: string
  readonly toolset: Toolset
  readonly examples: readonly { readonly title: string }[]
}): SkillCard {
  const sentences =
    tool.examples.length > 1 ? tool.examples.map(({ title }) => `${tool.title}: ${title}`) : []
  return {
    id: skillId(tool.name),
    tags: [tool.toolset],
    examples: sentences.length > 0 ? sentences : [tool.title],
  }
}

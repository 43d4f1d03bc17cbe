// The help message: it answers words that no tool understands with what this agent can do and the exact call of each skill. Its text
// is made once, at start. It says each thing once and leaves descriptions to the card, because a model pays for every word of it.
import { priceWords } from '../../documents/protocols.ts'
import { isFor } from './card-reader.ts'
import { pricedAs, type Skill, type SkillTable } from './skills.ts'
import { agentMessage, dataPart, textPart, type WireMessage, type WirePart } from './wire.ts'

/** @param contextId of the conversation, so that the next message can go on with it */
export type WriteHelp = (contextId: string | undefined) => WireMessage

/** @returns a writer of the message that answers words which name no skill: what there is, and how it is called */
export function createHelpMessage(table: SkillTable, extensionUri: string): WriteHelp {
  const offered = table.skills.filter(({ entry }) => isFor('public', entry.tool))
  const parts: readonly WirePart[] = [
    textPart(
      'I run skills; I am not a language model. To use one, send a message with a data part such as ' +
        '{"skill": "<id>", "input": {…}} (the same JSON as text works too). The agent card describes each skill, and its ' +
        `schemas are at ${extensionUri}.\n\nSkills, each with a call of it:\n${offered.map(lineOf).join('\n')}`,
    ),
    dataPart({ skills: offered.map(({ id }) => id), extension: extensionUri }),
  ]
  return (contextId) => agentMessage(parts, contextId === undefined ? undefined : { contextId })
}

/** `- Verify an email address (needs an email key …): {"skill":"verify-email","input":{"email":"ada@example.com"}}` */
function lineOf(skill: Skill): string {
  const { tool } = skill.entry
  const { price } = pricedAs(skill)
  const facts = [price.kind === 'free' ? '' : priceWords(price), NEEDS[tool.caller]].filter(
    (fact) => fact !== '',
  )
  const call = JSON.stringify({ skill: skill.id, input: exampleInput(skill) })
  return `- ${skill.card.name ?? tool.title}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}: ${call}`
}

const NEEDS = {
  anyone: '',
  capability: 'needs a capability, agw_cap_…',
  account: 'needs a service key or a capability',
  email: 'needs an email key, agw_ek_…: keys-free gives one',
  operator: 'needs a service key',
  admin: 'needs an administrator key',
  seller: "needs a seller's key",
} as const

/** An example that fits this very skill, where a tool publishes several. */
export function exampleInput(skill: Skill): unknown {
  const inputs = skill.entry.tool.examples.map(({ input }) => input as unknown)
  const { capability } = skill
  if (capability === undefined) return inputs[0] ?? {}
  const named = (input: unknown) => (input as Record<string, unknown> | null)?.['capability']
  return (
    inputs.find((input) => named(input) === capability) ??
    inputs.find((input) => named(input) === undefined) ?? { capability }
  )
}

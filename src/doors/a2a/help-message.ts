// The help message: it answers words that no tool understands with what this agent can do and the exact call of each skill. Its text
// is made once, at start.
import { priceSentence } from '../message-payment.ts'
import { pricedAs, type Skill, type SkillTable } from './skills.ts'
import { agentMessage, dataPart, textPart, type WireMessage, type WirePart } from './wire.ts'

/** @param contextId of the conversation, so that the next message can go on with it */
export type WriteHelp = (contextId: string | undefined) => WireMessage

/** @returns a writer of the message that answers words which name no skill: what there is, and how it is called */
export function createHelpMessage(table: SkillTable, extensionUri: string): WriteHelp {
  const offered = table.skills.filter(isForAgents)
  const calls = offered.map((skill) => ({
    skill: skill.id,
    does: (skill.card.description ?? skill.entry.tool.summary) + priceSentence(pricedAs(skill)),
    needs: NEEDS[skill.entry.tool.caller],
    example: { skill: skill.id, input: exampleInput(skill) },
  }))
  const lines = calls.map(
    ({ skill, does, needs, example }) =>
      `- ${skill}: ${does}${needs ? ` (${needs})` : ''}\n  Example: ${JSON.stringify(example)}`,
  )
  const parts: readonly WirePart[] = [
    textPart(
      'I run skills; I am not a language model. To use one, send a message with a data part such as ' +
        '{"skill": "<id>", "input": {…}} (the same JSON as text works too).\n\nSkills:\n' +
        `${lines.join('\n')}`,
    ),
    dataPart({ skills: calls, extension: extensionUri }),
  ]
  return (contextId) => agentMessage(parts, contextId === undefined ? undefined : { contextId })
}

/** Operators have the card of their own; agents cannot call these. */
export const isForAgents = (skill: Skill) =>
  skill.entry.tool.caller !== 'operator' &&
  skill.entry.tool.caller !== 'admin' &&
  skill.entry.tool.caller !== 'seller'

const NEEDS = {
  anyone: '',
  capability: 'needs a capability, agw_cap_…, as Authorization: Bearer',
  account: 'needs a service key or a capability as Authorization: Bearer',
  email: 'needs an email key, agw_ek_…, as Authorization: Bearer; POST /v1/keys/free makes one',
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

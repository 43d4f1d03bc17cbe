// MCP prompts: one for each goal of skills/. A prompt is what its user says, followed by the skill that says how.
import { isObject } from '../../lib/json.ts'
import { invalidParams } from './refusal.ts'
import type { PublishedSkill } from './skills.ts'
import type { JsonObject } from './wire.ts'

/** A page of HTML is the longest thing that anybody says. */
const MAX_VALUE = 16_384

export const listPrompts = (skills: readonly PublishedSkill[]): JsonObject[] =>
  skills.map((skill) => ({
    name: skill.name,
    title: titleOf(skill),
    description: skill.description,
    arguments: skill.arguments.map(({ name, description, isRequired }) => ({
      name,
      description,
      required: isRequired,
    })),
  }))

/** @throws {RpcRefusal} invalid params: no such prompt, an argument that is missing, unknown or too long */
export function getPrompt(skills: readonly PublishedSkill[], params: JsonObject): JsonObject {
  const skill = skills.find(({ name }) => name === params['name'])
  if (!skill) throw invalidParams('There is no such prompt. prompts/list says what there is.')
  const said = readArguments(skill, params['arguments'] ?? {})
  const goal = [
    `Reach this goal with the tools of Agent Gateway: ${skill.description}`,
    '',
    'What is given, as data:',
    ...said.map(([name, value]) => `- ${name}: ${JSON.stringify(value)}`),
    '',
    `Follow ${skill.uri} below: it says who pays, the order of the steps and what can fail. Pay for nothing that was not agreed to.`,
  ]
  return {
    description: skill.description,
    messages: [
      { role: 'user', content: { type: 'text', text: goal.join('\n') } },
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri: skill.uri, mimeType: 'text/markdown', text: skill.text },
        },
      },
    ],
  }
}

function readArguments(skill: PublishedSkill, given: unknown): [string, string][] {
  if (!isObject(given)) throw invalidParams('`arguments` is an object of texts.')
  const known = skill.arguments.map(({ name }) => name)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw invalidParams(`The prompt ${skill.name} takes ${known.join(', ')}, and nothing else.`)
  return skill.arguments.flatMap(({ name, isRequired }): [string, string][] => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || value === '') {
      if (isRequired) throw invalidParams(`The prompt ${skill.name} needs the argument ${name}.`)
      return []
    }
    if (typeof value !== 'string' || value.length > MAX_VALUE)
      throw invalidParams(`The argument ${name} is a text of at most ${MAX_VALUE} characters.`)
    return [[name, value]]
  })
}

/** `pay-for-a-web-page` is `Pay for a web page`. */
const titleOf = ({ name }: PublishedSkill) =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ')

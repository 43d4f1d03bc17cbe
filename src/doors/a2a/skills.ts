// This finds the skill that a message asks for. A2A has no field for it, so the forms in use are read in a fixed order: our extension,
// a data part, message metadata, request metadata, one JSON object in the text. Words that a tool understands are a request
// for it; any others get a list of skills.
import { GatewayError } from '../../core/errors.ts'
import {
  portableName,
  type AnyTool,
  type RegisteredTool,
  type Registry,
  type SkillCard,
} from '../../core/registry.ts'
import { nearestTo } from '../../lib/edit-distance.ts'
import { createSpeller, type Speller } from '../../core/tool-words.ts'
import { isObject } from '../../lib/json.ts'
import type { SendRequest } from './envelope.ts'
import type { Json, WireMessage } from './wire.ts'

export const SKILLS_EXTENSION_PATH = '/a2a/ext/skills/v1'

export interface Skill {
  readonly id: string
  readonly card: SkillCard
  readonly entry: RegisteredTool
  /** Set as input `capability`, where one tool publishes several skills. */
  readonly capability: string | undefined
}

/** The price of a skill, where its tool has several. */
export const pricedAs = ({ card, entry: { tool } }: Skill): Pick<AnyTool, 'price'> => ({
  price: card.price ?? tool.price,
})

export interface SkillTable {
  readonly skills: readonly Skill[]
  /** Writes the tools' names in a text of ours as ids of skills. */
  readonly spell: Speller
  /** Finds a skill by its id, by its tool's name and by the portable spelling of that. */
  find(name: string): Skill | undefined
  /** Finds the skill that words alone are a request for. */
  findByWords(words: string): Skill | undefined
}

export type Choice =
  { readonly kind: 'skill'; readonly skill: Skill; readonly input: unknown } | { readonly kind: 'none' }

/** Skills by their id, and by either spelling of their tool's name. */
export function createSkillTable(registry: Registry): SkillTable {
  const skills: Skill[] = []
  const byName = new Map<string, Skill>()
  for (const entry of registry.tools) {
    const { tool } = entry
    if (!tool.doors.includes('a2a')) continue
    const members = familyOf(entry)
    for (const card of tool.skills) {
      const skill = { id: card.id, card, entry, capability: members.includes(card.id) ? card.id : undefined }
      skills.push(skill)
      byName.set(card.id, skill)
    }
    const first = tool.skills[0]
    if (!first) continue
    // The input itself says which of a family is meant where the tool's own name is used.
    const own = { id: members.length > 0 ? tool.name : first.id, card: first, entry, capability: undefined }
    for (const name of [tool.name, entry.portableName]) if (!byName.has(name)) byName.set(name, own)
  }
  const find = (name: string) => byName.get(name)
  return {
    skills,
    spell: createSpeller(registry, ({ tool }) => find(tool.name)?.id ?? tool.name),
    find,
    findByWords(words) {
      const entry = registry.tools.find(({ tool }) => tool.understands?.(words))
      return entry && find(entry.tool.name)
    },
  }
}

/** The skills that a tool tells apart by its input `capability` (a token of that name has no such list). */
function familyOf(entry: RegisteredTool): readonly unknown[] {
  const properties = entry.inputSchema['properties']
  const capability = isObject(properties) ? properties['capability'] : undefined
  const names = isObject(capability) ? capability['enum'] : undefined
  return Array.isArray(names) ? names : []
}

/**
 * @param extensionUri the metadata key of our extension
 * @throws {GatewayError} tool_not_found, input_invalid
 */
export function chooseSkill(table: SkillTable, request: SendRequest, extensionUri: string): Choice {
  const named = findName(request, extensionUri)
  if (!named) return chooseByWords(table, request)
  const skill = table.find(named.name)
  if (!skill) throw noSkill(table, named.name.slice(0, 64))
  return { kind: 'skill', skill, input: withCapability(skill, inputOf(skill, named)) }
}

function noSkill({ skills }: SkillTable, name: string): GatewayError {
  const ids = skills.map(({ id }) => id)
  const wanted = portableName(name.toLowerCase())
    .replace(/^gateway_/, '')
    .replaceAll('_', '-')
  const nearest = nearestTo(wanted, ids)
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return new GatewayError(
    'tool_not_found',
    `There is no skill "${name}".${advice} Skills: ${ids.join(', ')}.`,
  )
}

/** Words of a follow-up are about the task that it follows up. */
function chooseByWords(table: SkillTable, { message }: SendRequest): Choice {
  const words = textOf(message).trim()
  const isAlone = message.taskId === undefined && message.parts.every((part) => part.text !== undefined)
  const skill = isAlone && words !== '' ? table.findByWords(words) : undefined
  return skill ? { kind: 'skill', skill, input: { intent: words } } : { kind: 'none' }
}

interface Named {
  readonly name: string
  readonly input: unknown
  /** Words that stood where an input could have been. */
  readonly words?: string
}

function findName(request: SendRequest, extensionUri: string): Named | undefined {
  const { message } = request
  const extension = message.metadata?.[extensionUri]
  if (isObject(extension)) {
    const name = extension['skillId']
    if (typeof name === 'string') return { name, input: extension['input'] ?? {} }
    throw new GatewayError('input_invalid', `Put a skill's id into ${extensionUri} as \`skillId\`.`)
  }
  for (const part of message.parts) {
    const named = isObject(part.data) ? nameIn(part.data) : undefined
    if (named) return named
  }
  return (
    metadataName(message.metadata, message) ?? metadataName(request.metadata, message) ?? nameInText(message)
  )
}

/** `{skill | skillId | tool, input | parameters | arguments}` */
function nameIn(value: Json): Named | undefined {
  const name = value['skill'] ?? value['skillId'] ?? value['tool']
  if (typeof name !== 'string') return undefined
  return { name, input: value['input'] ?? value['parameters'] ?? value['arguments'] ?? {} }
}

/** Metadata may name the skill and leave the input to a data part. */
function metadataName(metadata: Json | undefined, message: WireMessage): Named | undefined {
  const name = metadata?.['skillId'] ?? metadata?.['skill']
  if (typeof name !== 'string') return undefined
  const data = message.parts.find((part) => isObject(part.data))?.data
  const given = metadata?.['input'] ?? data ?? objectInText(message)
  return given === undefined ? { name, input: {}, words: textOf(message).trim() } : { name, input: given }
}

function nameInText(message: WireMessage): Named | undefined {
  const value = objectInText(message)
  return value && nameIn(value)
}

const textOf = (message: WireMessage) => message.parts.map((part) => part.text ?? '').join('\n')

/** The one JSON object that the text holds, possibly between words or in a code fence. */
function objectInText(message: WireMessage): Json | undefined {
  const text = textOf(message)
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  if (start < 0 || end < start) return undefined
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Words in place of an input are the intent of a skill that takes one; any other skill has no use for them. */
function inputOf(skill: Skill, { input, words = '' }: Named): unknown {
  const properties = skill.entry.inputSchema['properties']
  if (!isObject(properties) || !('intent' in properties)) return input
  if (typeof input === 'string') return { intent: input }
  return words === '' ? input : { intent: words }
}

function withCapability(skill: Skill, input: unknown): unknown {
  const { capability } = skill
  if (capability === undefined || !isObject(input)) return input
  const given = input['capability']
  if (given !== undefined && given !== capability)
    throw new GatewayError(
      'input_conflict',
      `The skill is ${skill.id} but the input asks for another capability. Leave \`capability\` out, or name that skill.`,
      { extras: { fields: [{ pointer: '/capability', message: `must be ${capability} for this skill` }] } },
    )
  return { ...input, capability }
}

// The goals of skills/ as data: front matter, text, digest; and the index that is published of them (Agent Skills discovery 0.2.0).
import { hash } from 'node:crypto'
import type { Addresses } from '../core/config.ts'
import type { Registry } from '../core/registry.ts'

/** One goal that is reached with several tools, as its SKILL.md says it. */
export interface SkillDocument {
  /** Name of its folder: lower case and hyphens. */
  readonly name: string
  readonly description: string
  /** Dotted names of the tools it uses. */
  readonly tools: readonly string[]
  /** Who asks for it says these. */
  readonly arguments: readonly SkillArgument[]
  /** The file as it is, front matter included. */
  readonly text: string
  /** What stands below the front matter. */
  readonly body: string
  /** Lower-case hex SHA-256 of the file. */
  readonly sha256: string
}

export interface SkillArgument {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
}

/** Front matter of the kind these files use: `key: text`, or a key with `- entries` below it. */
export type FrontMatter = Readonly<Record<string, string | readonly string[]>>

/** @throws {Error} naming the line that is neither a field nor an entry */
export function readFrontMatter(text: string): { readonly fields: FrontMatter; readonly body: string } {
  const [, head, body] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? []
  if (head === undefined || body === undefined) throw new Error('no front matter')
  const fields: Record<string, string | string[]> = {}
  let list: string[] | undefined
  for (const line of head.split('\n')) {
    const [, entry] = /^ {2}- (.+)$/.exec(line) ?? []
    const [, key, value] = /^([a-z_]+):(?: (.+))?$/.exec(line) ?? []
    if (entry !== undefined && list) list.push(entry)
    else if (key !== undefined && value !== undefined) fields[key] = value
    else if (key !== undefined) fields[key] = list = []
    else throw new Error(`front matter line is neither field nor entry: ${line}`)
  }
  return { fields, body }
}

/** @throws {Error} where a SKILL.md says less than it has to */
export function readSkill(text: string): SkillDocument {
  const { fields, body } = readFrontMatter(text)
  const say = (key: string): string => {
    const value = fields[key]
    if (typeof value !== 'string') throw new Error(`a skill says its ${key} in one line`)
    return value
  }
  const list = (key: string) => {
    const value = fields[key] ?? []
    if (typeof value === 'string') throw new Error(`a skill lists its ${key}`)
    return value
  }
  const argument = (isRequired: boolean) => (entry: string) => {
    const [, name, description] = /^([a-z_]+): (.+)$/.exec(entry) ?? []
    if (name === undefined || description === undefined)
      throw new Error(`not an argument and its meaning: ${entry}`)
    return { name, description, isRequired }
  }
  return {
    name: say('name'),
    description: say('description'),
    tools: list('tools'),
    arguments: [...list('arguments').map(argument(true)), ...list('options').map(argument(false))],
    text,
    body,
    sha256: hash('sha256', text, 'hex'),
  }
}

/** The skills whose tools are all served, by name. */
export const servedSkills = (
  skills: readonly SkillDocument[],
  registry: Pick<Registry, 'find'>,
): SkillDocument[] =>
  skills
    .filter(({ tools }) => tools.every((name) => registry.find(name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))

/** Path of the one file that a skill of ours is. */
export const skillPath = ({ name }: Pick<SkillDocument, 'name'>): string => `/skills/${name}/SKILL.md`

/** Where other programs look for the index. */
export const SKILLS_INDEX_PATH = '/.well-known/agent-skills/index.json'

/** `/.well-known/agent-skills/index.json`, and the same at `/skills`. */
export const skillsIndex = (
  skills: readonly SkillDocument[],
  { baseUrl }: Addresses,
): Record<string, unknown> => ({
  $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
  skills: skills.map((skill) => ({
    name: skill.name,
    type: 'skill-md',
    description: skill.description,
    url: baseUrl + skillPath(skill),
    digest: `sha256:${skill.sha256}`,
  })),
})

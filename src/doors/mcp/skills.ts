// Skills as the Skills extension of MCP publishes them (io.modelcontextprotocol/skills, SEP-2640). The SDK's own attaches to its
// high-level server alone, and its digests would be of another text than a connection reads that spells tools differently.
import { hash } from 'node:crypto'
import { type FrontMatter, readFrontMatter, type SkillDocument } from '../../documents/skills.ts'
import type { Spell, Spelling } from './names.ts'
import type { JsonObject } from './wire.ts'

export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills'

/** A skill as a connection reads it. */
export interface PublishedSkill extends Pick<SkillDocument, 'name' | 'description' | 'arguments'> {
  readonly uri: string
  readonly text: string
  /** The entry of skills/list and skills/get. */
  readonly entry: JsonObject
}

/** @returns the skills in one spelling, by name; made when they are first asked for */
export function createSkills(
  skills: readonly SkillDocument[],
  spell: Spell,
): (spelling: Spelling) => readonly PublishedSkill[] {
  const made: { [S in Spelling]?: readonly PublishedSkill[] } = {}
  return (spelling) =>
    (made[spelling] ??= skills.map((skill) => publish(skill, (text) => spell(text, spelling))))
}

function publish(skill: SkillDocument, spell: (text: string) => string): PublishedSkill {
  const uri = `skill://${skill.name}/SKILL.md`
  const text = spell(skill.text)
  return {
    uri,
    name: skill.name,
    description: spell(skill.description),
    arguments: skill.arguments,
    text,
    entry: {
      uri,
      frontmatter: toJson(readFrontMatter(text).fields),
      resources: [{ uri, digest: `sha256:${hash('sha256', text, 'hex')}`, size: Buffer.byteLength(text) }],
    },
  }
}

/** The front matter as YAML reads it: `key: text` in a list is a mapping of one key. */
const toJson = (fields: FrontMatter): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string'
        ? value
        : value.map((entry) => {
            const [, name, text] = /^([\w.-]+): (.+)$/.exec(entry) ?? []
            return name === undefined ? entry : { [name]: text }
          }),
    ]),
  )

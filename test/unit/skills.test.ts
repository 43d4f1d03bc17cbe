import { readdirSync, readFileSync } from 'node:fs'
import { hideNames } from '../../src/commerce/secrets/places.ts'
import { skillEntry } from '@modelcontextprotocol/server/ext/skills'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/core/errors.ts'
import { parseInput } from '../../src/core/input.ts'
import { type FrontMatter, readFrontMatter, readSkill, servedSkills } from '../../src/documents/skills.ts'
import { createRegistry } from '../../src/core/registry.ts'
import { tools } from '../../tools/index.ts'

const root = new URL('../../skills/', import.meta.url)
const registry = createRegistry(tools)
const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())

const pairs = (value: FrontMatter[string] | undefined) =>
  (value as readonly string[]).map((entry) => /^(\S+): (.+)$/.exec(entry)!.slice(1) as [string, string])

describe.each(folders.map(({ name }) => name))('skill %s', (folder) => {
  const text = readFileSync(new URL(`${folder}/SKILL.md`, root), 'utf8')
  const { fields, body } = readFrontMatter(text)

  it('says its name, goal, tools, payer, order and failures, and nothing else', () => {
    const said = Object.keys(fields).filter((key) => key !== 'options')
    expect(said).toEqual(['name', 'description', 'tools', 'arguments', 'pays', 'order', 'failures'])
    expect(fields['name']).toBe(folder)
    for (const key of ['tools', 'order', 'failures']) expect(fields[key], key).not.toHaveLength(0)
  })

  it('is a skill as the Skills extension of MCP publishes it, its digest that of the file', async () => {
    const { frontmatter, resources } = await skillEntry(folder, { 'SKILL.md': text })
    expect(frontmatter).toMatchObject({ name: folder, description: fields['description'] })
    const { sha256 } = readSkill(text)
    expect(resources).toEqual([
      { uri: `skill://${folder}/SKILL.md`, digest: `sha256:${sha256}`, size: Buffer.byteLength(text) },
    ])
  })

  it('asks for what its order needs to know', () => {
    const { arguments: asked } = readSkill(text)
    expect(asked.some(({ isRequired }) => isRequired)).toBe(true)
    expect(new Set(asked.map(({ name }) => name)).size).toBe(asked.length)
  })

  it('names only tools that exist, and uses them in its order and its text', () => {
    const named = fields['tools'] as readonly string[]
    for (const name of named) expect(registry.find(name), name).toBeDefined()
    for (const [who, tool] of pairs(fields['order'])) {
      expect(['operator', 'agent', 'anyone']).toContain(who)
      expect(named).toContain(tool)
    }
    for (const [, tool] of body.matchAll(/`(gateway[._][a-z._]+)`/g)) expect(named).toContain(tool)
  })

  it('plans only for errors of the table', () => {
    for (const [code] of pairs(fields['failures'])) expect(Object.keys(ERRORS)).toContain(code)
  })

  it('shows examples that the tool named before them accepts', () => {
    let tool: string | undefined
    let examples = 0
    for (const [, named, json] of body.matchAll(/`(gateway[._][a-z._]+)`|```json\n([^]*?)```/g)) {
      if (named !== undefined) tool = named
      else {
        expect(
          () => parseInput(registry.find(tool!)!.tool, JSON.parse(json!), { hideNames }),
          `${tool}: ${json}`,
        ).not.toThrow()
        examples++
      }
    }
    expect(examples).toBeGreaterThan(0)
  })
})

it('finds the skills', () => {
  expect(folders.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['call-an-api-without-the-secret', 'preview-an-extraction']),
  )
})

it.each(['no front matter', '---\nname: x\n  nested: y\n---\n'])('refuses a skill that reads %j', (text) => {
  expect(() => readFrontMatter(text)).toThrow()
})

it.each([
  ['---\ndescription: x\n---\n', /says its name/],
  ['---\nname:\n  - x\n---\n', /says its name/],
  ['---\nname: x\ndescription: y\ntools: gateway.inspect\n---\n', /lists its tools/],
  ['---\nname: x\ndescription: y\narguments:\n  - url\n---\n', /not an argument/],
])('refuses a skill that leaves something out: %j', (text, words) => {
  expect(() => readSkill(text)).toThrow(words)
})

it('serves the skills whose tools are served, by name', () => {
  const skill = (name: string, tool: string) =>
    readSkill(`---\nname: ${name}\ndescription: d\ntools:\n  - ${tool}\n---\n`)
  const given = [skill('b', 'gateway.inspect'), skill('c', 'gateway.nothing'), skill('a', 'gateway_execute')]
  expect(servedSkills(given, registry).map(({ name }) => name)).toEqual(['a', 'b'])
})

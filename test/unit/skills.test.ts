import { readdirSync, readFileSync } from 'node:fs'
import { hideNames } from '../../src/commerce/secrets/places.ts'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/core/errors.ts'
import { parseInput } from '../../src/core/input.ts'
import { createRegistry } from '../../src/core/registry.ts'
import { tools } from '../../tools/index.ts'

const root = new URL('../../skills/', import.meta.url)
const registry = createRegistry(tools)
const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())

type Fields = Record<string, string | string[]>

/** The front matter these files use: `key: text`, or a key with `- entries` below it. */
function parseSkill(text: string): { fields: Fields; body: string } {
  const match = /^---\n([^]*?)\n---\n([^]*)$/.exec(text)
  if (!match) throw new Error('no front matter')
  const fields: Fields = {}
  let list: string[] | undefined
  for (const line of match[1]!.split('\n')) {
    const entry = /^ {2}- (.+)$/.exec(line)
    const field = /^([a-z_]+):(?: (.+))?$/.exec(line)
    if (entry && list) list.push(entry[1]!)
    else if (field?.[2] !== undefined) fields[field[1]!] = field[2]
    else if (field) fields[field[1]!] = list = []
    else throw new Error(`front matter line is neither field nor entry: ${line}`)
  }
  return { fields, body: match[2]! }
}

const pairs = (value: string | string[] | undefined) =>
  (value as string[]).map((entry) => /^(\S+): (.+)$/.exec(entry)!.slice(1) as [string, string])

describe.each(folders.map(({ name }) => name))('skill %s', (folder) => {
  const { fields, body } = parseSkill(readFileSync(new URL(`${folder}/SKILL.md`, root), 'utf8'))

  it('says its name, goal, tools, payer, order and failures, and nothing else', () => {
    expect(Object.keys(fields)).toEqual(['name', 'description', 'tools', 'pays', 'order', 'failures'])
    expect(fields['name']).toBe(folder)
    for (const key of ['tools', 'order', 'failures']) expect(fields[key], key).not.toHaveLength(0)
  })

  it('names only tools that exist, and uses them in its order and its text', () => {
    const named = fields['tools'] as string[]
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
  expect(() => parseSkill(text)).toThrow()
})

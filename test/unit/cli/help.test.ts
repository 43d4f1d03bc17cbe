// What the command line says of itself: an example for every verb, no address of the REST door, and a near word for a wrong one.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../../src/cli/program.ts'

const CLI = join(import.meta.dirname, '../../../src/cli')

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]
const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => void (text += part) })
  command.outputHelp()
  return text
}
const tree = all(createProgram())

/** Upstreams have paths too; ours are named by no text. */
const ofOthers = /https?:\/\/\S+|--path(-prefix)? \S+/g
const namesPath = (text: string) => /\/v1\//.test(text.replace(ofOthers, ''))

describe.each(tree.map((command) => [pathOf(command), command] as const))('%s', (path, command) => {
  it('has help that says what it does, with an example, and names no address', () => {
    const help = helpOf(command)
    expect(command.description()).not.toBe('')
    if (command.commands.length === 0) {
      const example = /^Examples?\b.*:$([^]*)/m.exec(help)?.[1]
      expect(example, path).toContain('agent-gateway')
      expect(example, path).toContain(command.name())
    }
    expect(namesPath(help), help).toBe(false)
  })
})

it('shows restore with a file as backup makes it', () => {
  const restore = tree.find((command) => command.name() === 'restore')
  expect(restore && helpOf(restore)).toContain('\n  agent-gateway restore gateway-backup.gz')
})

it('names no address in any message', () => {
  const files = readdirSync(CLI, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const found = files.flatMap((file) =>
    readFileSync(join(CLI, file), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\*|\/\*\*)/.test(line) && namesPath(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(files.length).toBeGreaterThan(50)
  expect(found).toEqual([])
})

it.each([
  [['paymnts'], 'payments'],
  [['payments', 'lst'], 'list'],
  [['payments', 'list', '--stat', 'x'], '--state'],
  [['completion', 'bsh'], 'bash, zsh, fish'],
])('%j is told what is near', async (args, near) => {
  const program = createProgram()
  let said = ''
  for (const command of all(program))
    command.exitOverride().configureOutput({ writeErr: (part) => void (said += part) })
  await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow()
  expect(said).toContain(near)
})

// What --json prints of every command that has a table: the members that the gateway answered, whatever the table shows of them.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createProgram } from '../../../src/cli/program.ts'
import type { AnyTool } from '../../../src/core/registry.ts'
import { newToken } from '../../../src/lib/tokens.ts'
import { tools } from '../../../tools/index.ts'
import { removeFolder } from '../../support/remove-folder.ts'

/** What prints something else than one answer, and what it is. */
const OTHERS: Readonly<Record<string, string>> = {
  'payments reconcile': 'the answers about several payments',
  'listings list': 'the services of the seller alone',
  'listings queue': 'the services alone',
}

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]
const pathOf = (command: Command): string[] =>
  command.parent ? [...pathOf(command.parent), command.name()] : []
const commands = all(createProgram())
  .filter((command) => command.options.some(({ long }) => long === '--columns'))
  .map((command) => [pathOf(command).join(' '), command] as const)

const ROW = { row: 1, by: { kind: 'person' }, summary: null }

/** Whatever the tool's answer has, with one row in each of its lists, on its last page. */
function answerOf(tool: AnyTool): Record<string, unknown> {
  const { properties = {} } = z.toJSONSchema(tool.output as z.ZodType, { unrepresentable: 'any' })
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      if (name === 'next') return [name, null]
      return [name, typeof schema === 'object' && schema.type === 'array' ? [ROW] : true]
    }),
  )
}

const routes = tools.flatMap((tool) =>
  tool.rest.map(({ method, path }) => ({
    tool,
    method,
    isIn: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  })),
)

let server: Server
let folder: string
let answers: Record<string, unknown>[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'json-answers-'))
  await writeFile(join(folder, 'key'), newToken('sk'))
  server = createServer((req, res) => {
    const { pathname } = new URL(req.url!, 'http://localhost')
    const route = routes.find(({ method, isIn }) => method === req.method && isIn.test(pathname))
    const answer = answerOf(route!.tool)
    answers.push(answer)
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await new Promise<unknown>((resolve) => server.close(resolve))
  await removeFolder(folder)
})
afterEach(() => {
  vi.restoreAllMocks()
  answers = []
})

async function printed(words: readonly string[]): Promise<unknown> {
  let text = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += String(part)
    return true
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options = ['--json', '--url', url, '--key-file', join(folder, 'key')]
  await createProgram().parseAsync([...words, ...options], { from: 'user' })
  vi.restoreAllMocks()
  return JSON.parse(text)
}

describe('--json', () => {
  it('is looked at for every list', () => {
    const lists = all(createProgram()).filter((command) => command.name() === 'list')
    const looked = new Set(commands.map(([path]) => path))
    // Policies are three, and each is a page of text: they have no table.
    expect(lists.map((command) => pathOf(command).join(' ')).filter((path) => !looked.has(path))).toEqual([
      'policies list',
    ])
    expect(Object.keys(OTHERS).filter((path) => !looked.has(path))).toEqual([])
  })

  it.each([
    ...commands.filter(([path]) => !(path in OTHERS)),
    ['policies list', undefined] as const,
    ['permits list --pending', undefined] as const,
    ['payouts show --paid', undefined] as const,
  ])('of `%s` has every member of the answer', async (path, command) => {
    const given = command?.registeredArguments.filter(({ required }) => required).map(() => 'x') ?? []
    const found = await printed([...path.split(' '), ...given])
    expect(answers).toHaveLength(1)
    expect(found).toMatchObject(answers[0]!)
  })
})

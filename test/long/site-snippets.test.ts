// The calls that the pages of tools show, run as they are pasted: taken out of the page, given to a shell or to Node, with nothing changed.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/core/registry.ts'
import { hasPlaceholder } from '../../src/documents/snippets.ts'
import { isObject } from '../../src/lib/json.ts'
import { tools } from '../../tools/index.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { finish } from '../support/process.ts'
import { at, type Json } from '../support/tree.ts'

const root = new URL('../..', import.meta.url).pathname
const ajv = new Ajv2020({ strict: false, validateFormats: false })
const { tools: entries } = createRegistry(tools)

let gateway: DefaultGateway
beforeAll(async () => {
  gateway = await startDefaultGateway()
})
afterAll(() => gateway?.close())

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }

/** The blocks of code of the page's examples by the name of their tab, as somebody copies them. */
async function blocksOf(path: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const response = await fetch(gateway.url + path, { headers: { accept: 'text/html' } })
  const html = await response.text()
  const aside = html.slice(html.indexOf('<aside'), html.indexOf('</aside>'))
  return Object.fromEntries(
    [...aside.matchAll(/<section aria-label="([^"]+)">(.*?)<\/section>/gs)].map(
      ([, name = '', inner = '']) => [
        name,
        [...inner.matchAll(/<code[^>]*>(.*?)<\/code>/gs)].map(([, code = '']) =>
          code
            .replaceAll(/<[^>]+>/g, '')
            .replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity),
        ),
      ],
    ),
  )
}

const env = () => ({ PATH: process.env['PATH'] })
const shell = async (command: string | undefined) =>
  (await finish('sh', ['-c', command ?? 'false'], { env: env() })).stdout
const node = async (program: string | undefined, more: Record<string, string> = {}) => {
  const args = [
    '--input-type=module-typescript',
    '--disable-warning=ExperimentalWarning',
    '-e',
    program ?? '',
  ]
  return (await finish(process.execPath, args, { cwd: root, env: { ...env(), ...more } })).stdout
}
/** What a server answered that may stream. */
const messageOf = (text: string): Json => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as Json

/** What anybody may call as it stands. */
const open = entries.filter(
  ({ tool }) =>
    tool.caller === 'anyone' &&
    tool.price.kind === 'free' &&
    tool.doors.length === 3 &&
    !hasPlaceholder(tool.examples[0]?.input),
)

describe.each(open.map((entry) => [entry.tool.name, entry] as const))(
  '%s',
  (name, { outputSchema, messageSchema }) => {
    const fits = (schema: unknown, value: unknown) => {
      const check = ajv.compile(schema as object)
      return check(value) ? [] : check.errors
    }

    it('answers over HTTP, MCP and A2A what its page promises', async () => {
      const { curl, TypeScript: program, MCP: mcp, A2A: a2a } = await blocksOf(`/tools/${name}`)
      expect(fits(outputSchema, JSON.parse(await shell(curl?.[0])))).toEqual([])
      expect(await node(program?.[0])).not.toBe('')

      const called = messageOf(await shell(mcp?.[0]))
      expect(at(called, 'result', 'isError')).toBeUndefined()
      expect(fits(messageSchema, at(called, 'result', 'structuredContent'))).toEqual([])

      const sent = messageOf(await shell(a2a?.[0]))
      expect(at(sent, 'error')).toBeUndefined()
      expect(isObject(at(sent, 'result', 'message'))).toBe(true)
    })
  },
)

it('has enough tools that anybody may call to tell', () => {
  expect(open.length).toBeGreaterThan(20)
})

it.each(['gateway.preflight', 'gateway.capabilities'])(
  '%s answers the official clients of MCP and A2A',
  async (name) => {
    const { MCP: mcp, A2A: a2a } = await blocksOf(`/tools/${name}`)
    const schema = entries.find(({ tool }) => tool.name === name)?.messageSchema ?? {}
    expect(ajv.validate(schema, JSON.parse(await node(mcp?.[1])))).toBe(true)
    expect(await node(a2a?.[1])).toContain('"parts"')
  },
)

describe('what is paid', () => {
  it('is refused with its price to curl, and bought by the wallet of the TypeScript', async () => {
    const { curl, TypeScript: program } = await blocksOf('/tools/gateway.web.fetch')
    expect(JSON.parse(await shell(curl?.[0]))).toMatchObject({ status: 402, code: 'payment_required' })
    const accounts = JSON.parse(await readFile(join(gateway.dataDir, 'chains/accounts.json'), 'utf8')) as Json
    const bought = await node(program?.[0], { PRIVATE_KEY: at(accounts, 'payer', 'private_key') as string })
    expect(bought).toContain('receipt_id')
  })

  it('has a sample that is free', async () => {
    const { curl } = await blocksOf('/tools/gateway_execute')
    expect(JSON.parse(await shell(curl?.[0]))).toMatchObject({ ok: true, receipt: null })
  })
})

it('a tool that takes a token is called with the one in its variable', async () => {
  const { curl, TypeScript: program } = await blocksOf('/tools/gateway.keys.list')
  const token = { AGENT_GATEWAY_KEY: gateway.operatorKey }
  const { stdout } = await finish('sh', ['-c', curl?.[0] ?? 'false'], { env: { ...env(), ...token } })
  expect(JSON.parse(stdout)).toHaveProperty('keys')
  expect(await node(program?.[0], token)).toContain('keys')
})

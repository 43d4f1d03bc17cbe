// One tool, three doors: the same output (over MCP and A2A in the form for messages), fitting its schema, and the same code for the same bad input.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistry, type DoorName, type RegisteredTool } from '../../src/core/registry.ts'
import { messageAnswer } from '../../src/doors/message-answer.ts'
import { tools } from '../../tools/index.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { tokensOf } from '../support/tokens.ts'
import { throughDoor } from '../support/three-doors.ts'
import type { Json } from '../support/tree.ts'

let gateway: TestGateway
let capability: string
beforeAll(async () => {
  gateway = await startTestGateway({ undocumented: 'fail' })
  capability = (await gateway.grant()).capability
})
afterAll(() => gateway?.close())

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
const call = (door: DoorName, { tool }: RegisteredTool, input: unknown, token = tokenFor(tool.caller)) =>
  throughDoor[door](send, tool, input, token)
const tokenFor = (caller: string) => (caller === 'capability' ? capability : gateway.operatorKey)

// What passes messages on has neither input nor output of its own.
const served = createRegistry(tools)
  .tools.filter(({ tool }) => !tool.passes)
  .map((entry) => [entry.tool.name, entry] as const)

/** What may differ between two equal calls: identifiers, times, tokens, and what counts up. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
}

describe.each(served)('%s', (_name, entry) => {
  const { tool } = entry
  const isWhole = ajv.compile(entry.outputSchema)
  const isInMessages = ajv.compile(entry.messageSchema)
  const [first, ...others] = tool.doors
  // A query can carry nothing but text.
  const wrongValue = tool.rest[0]!.method === 'GET' ? 'no such value' : { a: 1 }

  it('answers its examples with the same code and the same kind of output at every door', async () => {
    expect(tool.examples).not.toEqual([])
    for (const { title, input: example } of tool.examples) {
      // A document comes in the same form where the form is said.
      const takesFormat = propertyNames(entry).includes('format')
      const input = takesFormat ? { ...(example as object), format: 'both' } : example
      expect(first).toBe('rest')
      const expected = await call('rest', entry, input)
      for (const door of [first!, ...others]) {
        const outcome = await call(door, entry, input)
        expect({ door, title, code: outcome.code }).toEqual({ door, title, code: expected.code })
        // A client throws an answer away that is too long for its model; lists are as long as `limit` lets them be.
        if (door === 'mcp' && tool.toolset !== 'operator') {
          const { result } = JSON.parse(outcome.raw) as { result: { content: { text: string }[] } }
          expect(tokensOf(result.content[0]!.text), title).toBeLessThan(4000)
        }
        if (outcome.code === 'ok') {
          const isOutput = door === 'rest' ? isWhole : isInMessages
          expect(isOutput(outcome.output), `${door}: ${JSON.stringify(isOutput.errors)}`).toBe(true)
          // Lists grow from call to call; everything else has the same members.
          const whole = { input, output: expected.output, paid: undefined }
          const shown = door === 'rest' ? whole : messageAnswer({ tool, wantsSignatures: false }, whole)
          if (!tool.name.endsWith('.list')) expect(shapeOf(outcome.output)).toEqual(shapeOf(shown.output))
        }
      }
    }
  })

  it.each([
    ['an unknown property', { no_such_property: 'x' }],
    ['nothing of the right type', Object.fromEntries(propertyNames(entry).map((name) => [name, wrongValue]))],
    ['nothing', {}],
  ])('refuses %s with the same code at every door', async (_what, broken) => {
    // Path values keep an address an address; the rest is what is judged.
    const inPath = Object.fromEntries(pathNames(entry).map((name) => [name, 'none']))
    // Over A2A the skill says the capability: the others are told the same.
    const implied = tool.name === 'gateway_execute' ? { capability: tool.skills[0]!.id } : {}
    const input = { ...broken, ...inPath, ...implied }
    const codes: Record<string, unknown> = {}
    for (const door of tool.doors) codes[door] = (await call(door, entry, input)).code
    const [code] = Object.values(codes)
    expect(new Set(Object.values(codes)), JSON.stringify(codes)).toEqual(new Set([code]))
    expect(code, 'refused or served, but not failed').not.toBe('internal')
  })

  it('asks for the same token at every door', async () => {
    const input = tool.examples[0]?.input ?? {}
    for (const door of tool.doors) {
      const { code } = await call(door, entry, input, 'agw_sk_wrong')
      if (tool.caller === 'capability') expect({ door, code }).toEqual({ door, code: 'capability_required' })
      else expect({ door, code }).toEqual({ door, code: 'key_invalid' })
    }
  })
})

it('answers words that no skill understands over A2A with a call of each skill that everybody may try, in 4,000 tokens', async () => {
  const message = { messageId: 'hello', role: 'ROLE_USER', parts: [{ text: 'Hello, what can you do?' }] }
  const answer = await gateway.rest(
    'POST',
    '/a2a',
    { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
    '',
  )
  expect(tokensOf(answer.text)).toBeLessThan(4000)
  const [{ text }, { data }] = answer.body.result.message.parts
  const calls = [...text.matchAll(/: (\{"skill":.*\})$/gm)].map(([, json]) => JSON.parse(json) as Json)
  const shown = served.filter(([, { tool }]) => !['operator', 'admin', 'seller'].includes(tool.caller))
  const skills = shown.flatMap(([, { tool }]) => tool.skills.map(({ id }) => id))
  expect(calls.map(({ skill }) => skill)).toEqual(skills)
  expect(data.skills).toEqual(skills)
})

function propertyNames({ inputSchema }: RegisteredTool): string[] {
  return Object.keys((inputSchema['properties'] ?? {}) as object).filter((name) => name !== 'capability')
}

function pathNames({ tool }: RegisteredTool): string[] {
  return [...tool.rest[0]!.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
}

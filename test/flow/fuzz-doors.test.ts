// Anything as the arguments of every tool over MCP and of every skill over A2A: never a 5xx, never a word of our code.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { errorsOf } from '../../src/core/tool-errors.ts'
import { createRegistry, type RegisteredTool } from '../../src/core/registry.ts'
import { tools } from '../../tools/index.ts'
import { fuzzInput, fuzzSeed, inFuzzOrder, LEAK } from '../support/fuzz.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'

/** Few in `npm test`. What these doors add is their envelope: the thousand inputs of `npm run test:long` go to the REST route of each tool. */
const RUNS = Math.min(inject('fuzzInputs'), 300)
/** Sent at the same time: a run of the property is one batch. */
const BATCH = 10

let gateway: TestGateway
let capability: string
beforeAll(async () => {
  console.log(`fuzz seed ${fuzzSeed}`)
  gateway = await startTestGateway({
    env: { GATEWAY_LOG_LEVEL: 'error', GATEWAY_SERVICE_KEY_CREDITS: '1000000' },
  })
  capability = (await gateway.grant()).capability
})
afterAll(() => gateway?.close())

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
const entries = inFuzzOrder(createRegistry(tools).tools)

/** Codes of a door's own envelope: arguments that are no object never reach the tool. */
const ENVELOPE = [-32602, -32600]

function itSurvives(door: 'mcp' | 'a2a', entry: RegisteredTool): void {
  const { tool } = entry
  const isOutput = ajv.compile(entry.messageSchema)
  const route = { ...tool.rest[0]!, method: 'POST' as const }
  const documented: unknown[] = [...errorsOf(tool, route), ...ENVELOPE]
  const examples = tool.examples.map(({ input }) => input)

  it(`${tool.name} answers ${RUNS} inputs properly`, async () => {
    const token = tool.caller === 'capability' ? capability : gateway.operatorKey
    async function check(input: unknown): Promise<void> {
      const outcome = await throughDoor[door](send, tool, input, token)
      // What a tool plans for may be a 503; nothing else may.
      if (!(tool.errors as readonly unknown[]).includes(outcome.code))
        expect(outcome.status, outcome.raw).toBeLessThan(500)
      expect(outcome.raw).not.toMatch(LEAK)
      if (outcome.code !== 'ok') expect(documented, outcome.raw).toContain(outcome.code)
      else expect(isOutput(outcome.output), JSON.stringify(isOutput.errors)).toBe(true)
    }
    const batch = fc.array(fuzzInput(entry.inputSchema, examples), { minLength: BATCH, maxLength: BATCH })
    await fc.assert(
      fc.asyncProperty(batch, async (inputs) => void (await Promise.all(inputs.map(check)))),
      { numRuns: RUNS / BATCH, seed: fuzzSeed, endOnFailure: true },
    )
  })
}

describe('over MCP', () => {
  for (const entry of entries) if (entry.tool.doors.includes('mcp')) itSurvives('mcp', entry)
})

describe('over A2A', () => {
  for (const entry of entries) if (entry.tool.doors.includes('a2a')) itSurvives('a2a', entry)
})

it('logs no internal error meanwhile', () => {
  expect(gateway.log()).not.toMatch(/"code":"internal"/)
})

// Every tool of the registry through all three doors, with an input that works: one output. And one that does not: one code. A new tool
// needs a row in the table.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistry, type DoorName, type RegisteredTool } from '../../src/core/registry.ts'
import { createSpeller } from '../../src/core/tool-words.ts'
import { createSkillTable } from '../../src/doors/a2a/skills.ts'
import { messageAnswer } from '../../src/doors/message-answer.ts'
import { tools } from '../../tools/index.ts'
import { type Prepared, type Row, ROWS } from '../support/every-tool-rows.ts'
import { createEveryToolWorld, type EveryToolWorld } from '../support/every-tool-world.ts'
import { normalised } from '../support/normalised.ts'
import { type Outcome, throughDoor } from '../support/three-doors.ts'

const DOORS: readonly DoorName[] = ['rest', 'mcp', 'a2a']

let world: EveryToolWorld
beforeAll(async () => void (world = await createEveryToolWorld()))
afterAll(() => world?.close())

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

const send = (path: string, init: RequestInit) => fetch(world.gw.baseUrl + path, init)
/** REST gives receipts whole; the others do when they are asked to. */
const meta = { 'agent-gateway/receipts': 'full' }

async function call(door: DoorName, { tool }: RegisteredTool, prepared: Prepared): Promise<Outcome> {
  const { input, token = world.gw.operatorKey, isPaid = false, payment } = prepared
  const through = (beside: object) => throughDoor[door](send, tool, input, token, { meta, ...beside })
  const first = await through({ payment })
  if (!isPaid) return first
  expect(first.code, `${door} names a price: ${first.raw}`).toBe('payment_required')
  return through({ payment: await world.pay(first.challenge), taskId: first.taskId })
}

const registry = createRegistry(tools)
const entries = registry.tools
const comparable = (output: unknown) => normalised(JSON.parse(JSON.stringify(output)))

const spell = {
  mcp: createSpeller(registry, ({ portableName }) => portableName),
  a2a: createSkillTable(registry).spell,
}
/** What a message makes of an output: its brief form where the tool has one, which names tools as the door does. */
const inMessages = ({ tool }: RegisteredTool, door: 'mcp' | 'a2a', output: unknown, input: unknown) =>
  messageAnswer({ tool, wantsSignatures: true, spell: spell[door] }, { output, input, paid: undefined })
    .output

const byName = new Map(entries.map((entry) => [entry.tool.name, entry]))

it('has a row for every tool that the three doors serve, and for none that is not there', () => {
  const names = entries.filter(({ tool }) => tool.doors.length === DOORS.length).map(({ tool }) => tool.name)
  expect(names.filter((name) => !Object.hasOwn(ROWS, name))).toEqual([])
  expect(Object.keys(ROWS).filter((name) => !byName.has(name))).toEqual([])
})

it('keeps from models only what people decide: over REST alone, and for who works for the account', () => {
  const kept = entries.filter(({ tool }) => !tool.passes && tool.doors.length < DOORS.length)
  expect(kept.length).toBeGreaterThan(20)
  for (const { tool } of kept) {
    expect({ name: tool.name, doors: tool.doors }).toEqual({ name: tool.name, doors: ['rest'] })
    expect([tool.name, ['operator', 'admin'].includes(tool.caller)]).toEqual([tool.name, true])
  }
})

const cases = Object.entries(ROWS).flatMap(([name, row]) =>
  Object.entries(typeof row === 'function' ? { '': row } : row).map(([what, one]): [string, string, Row] => [
    name,
    what,
    one,
  ]),
)

describe.each(cases)('%s %s', (name, _what, row) => {
  const entry = byName.get(name)
  if (!entry) throw new Error(`${name} is no tool`)
  const { tool } = entry

  it('has one output at all of its doors', async () => {
    const isOutput = ajv.compile(entry.outputSchema)
    const outputs: Partial<Record<DoorName, unknown>> = {}
    const inputs: Partial<Record<DoorName, unknown>> = {}
    for (const door of tool.doors) {
      const prepared = await row(world)
      const outcome = await call(door, entry, prepared)
      expect(outcome.code, `${door}: ${outcome.raw}`).toBe('ok')
      const whole = outcome.output
      const isBrief = tool.inMessages && door !== 'rest'
      if (!isBrief) expect(isOutput(whole), `${door}: ${JSON.stringify(isOutput.errors)}`).toBe(true)
      outputs[door] = whole
      inputs[door] = prepared.input
    }
    for (const door of (['mcp', 'a2a'] as const).filter((door) => tool.doors.includes(door)))
      expect(comparable(outputs[door])).toEqual(
        comparable(inMessages(entry, door, outputs.rest, inputs.rest)),
      )
  })

  it('refuses an input that is wrong under one code', async () => {
    const prepared = await row(world)
    const codes: Record<string, unknown> = {}
    for (const door of tool.doors) {
      const { wrong = { no_such_member: 'x' } } = prepared
      const input = { ...prepared.input, ...wrong }
      const { code, raw } = await call(door, entry, { ...prepared, input, isPaid: false })
      expect(code, raw).not.toBe('ok')
      codes[door] = code
    }
    expect(new Set(Object.values(codes)).size, JSON.stringify(codes)).toBe(1)
  })
})

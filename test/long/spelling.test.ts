// Every refusal of every tool, at each door: its words name tools as that door knows them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { asIn2025, asIn2026 } from '../support/mcp-eras.ts'
import { throughDoor } from '../support/three-doors.ts'
import { namesOf, registry, sentencesIn } from '../support/tool-words.ts'

let gateway: TestGateway
/** Tokens whose refusals do not depend on the input. */
let others: readonly string[]
beforeAll(async () => {
  gateway = await startTestGateway()
  const { capability } = await gateway.grant()
  const email = await gateway.rest('POST', '/v1/keys/free', {}, '')
  others = [capability, email.body.key, 'agw_sk_wrong', 'agw_cap_wrong', 'agw_ek_wrong']
})
afterAll(() => gateway?.close())

const url = () => `${gateway.baseUrl}/mcp`
const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
const served = registry.tools.filter(({ tool }) => !tool.passes)
/** Every token with an input that it is refused for, and with those two that get furthest also what may be wrong further in. */
function* callsOf(entry: (typeof served)[number]) {
  for (const token of ['', gateway.operatorKey]) for (const input of inputsOf(entry)) yield { token, input }
  for (const token of others) yield { token, input: {} }
}

/** Ids that look right and name nothing, so that "not found" is said, too. */
const inputsOf = (entry: (typeof served)[number]) => {
  const examples = entry.tool.examples.map(({ input }) => input as Record<string, unknown>)
  const elsewhere = examples.map((input) =>
    Object.fromEntries(
      Object.entries(input).map(([name, value]) => [
        name,
        name.endsWith('_id') ? `${String(value).slice(0, -2)}zz` : value,
      ]),
    ),
  )
  return [{}, { no_such_property: 1 }, ...examples, ...elsewhere]
}

describe.each([
  ['portable', asIn2026(url), '', 'dotted'],
  ['dotted', asIn2025(url), '?names=dotted', 'portable'],
] as const)('over MCP with %s names', (_kind, ask, query, otherNames) => {
  it('every refusal', async () => {
    let refusals = 0
    for (const entry of served.filter(({ tool }) => tool.doors.includes('mcp')))
      for (const { token, input } of callsOf(entry)) {
        const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
        const { json } = await ask(
          'tools/call',
          { name: entry.tool.name, arguments: input },
          { query, headers },
        )
        // What a client signs in for is an error of the protocol, in the same words.
        if (json['result']?.isError !== true && json['error'] === undefined) continue
        refusals++
        expect(namesOf([otherNames, 'route'], sentencesIn(json).join('\n')), JSON.stringify(json)).toEqual([])
      }
    expect(refusals).toBeGreaterThan(800)
  })
})

it.each([
  ['rest', ['dotted', 'portable']],
  ['a2a', ['dotted', 'portable', 'route']],
] as const)('over %s every refusal', async (door, otherNames) => {
  let refusals = 0
  for (const entry of served.filter(({ tool }) => tool.doors.includes(door)))
    for (const { token, input } of callsOf(entry)) {
      const { code, raw } = await throughDoor[door](send, entry.tool, input, token)
      if (code === 'ok') continue
      refusals++
      expect(namesOf(otherNames, sentencesIn(JSON.parse(raw)).join('\n')), raw).toEqual([])
    }
  expect(refusals).toBeGreaterThan(800)
})

// The same page through REST, MCP and A2A on the whole gateway: one answer, byte for byte where it counts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Execution } from '../../schemas/outcome.ts'
import { previewOf } from '../support/outcomes.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { sendRpc } from '../support/json-rpc.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const LIVE = ['extract-preview', 'web-extraction', 'product-offers', 'feed-digest']
const INPUT = { capability: 'extract-preview', html: '<h1>Tea</h1><p>Steep it.', url: 'https://tea.example/' }

const rpc = (path: string, method: string, params: unknown, headers?: Record<string, string>) =>
  sendRpc(gateway.baseUrl + path, method, params, headers)

const viaRest = async (input: unknown) => (await gateway.rest('POST', '/v1/execute', input)).body
const viaMcp = async (input: unknown) =>
  (await rpc('/mcp', 'tools/call', { name: 'gateway_execute', arguments: input })).result.structuredContent
async function viaA2a(input: unknown) {
  const message = {
    messageId: 'm1',
    role: 'ROLE_USER',
    parts: [{ data: { skill: 'extract-preview', input } }],
  }
  const { result, error } = await rpc('/a2a', 'SendMessage', { message }, { 'a2a-version': '1.0' })
  // What is refused before there is work has no task.
  if (error) return error.data.map((detail: { value: unknown }) => detail.value).find(Boolean)
  const { task } = result
  const parts = [...(task.artifacts?.[0]?.parts ?? []), ...(task.status.message?.parts ?? [])]
  return parts.find((part) => part.data !== undefined)?.data
}

it('gives the same execution through every door', async () => {
  for (const format of ['both', 'text', 'markdown']) {
    const input = { ...INPUT, format }
    const rest = Execution.parse(await viaRest(input))
    if (format !== 'markdown') expect(previewOf(rest).document.text).toBe('Tea\n\nSteep it.')
    expect(await viaMcp(input)).toEqual(rest)
    expect(await viaA2a(input)).toEqual(rest)
  }
})

it('takes null for what is left out at the doors of models, and says over REST that a value is missing', async () => {
  const input = { ...INPUT, urls: null, limit: null, query: null, testnet: null }
  const { result } = await viaMcp(INPUT)
  expect(await viaMcp(input)).toMatchObject({ ok: true, result })
  expect(await viaA2a(input)).toMatchObject({ ok: true, result })
  expect(await viaRest(input)).toMatchObject({
    code: 'input_wrong_type',
    fields: [{ pointer: '/urls' }, {}, {}, {}],
  })
})

it('gives the same refusal with the same repair through every door', async () => {
  const input = { capability: 'extract-preview', html: '<p>a', input: { html: '<p>b' } }
  const rest = await viaRest(input)
  expect(rest).toMatchObject({ code: 'input_conflict', repair: { live: LIVE } })
  // Each door names the tool as it is called there.
  const { code, detail, repair } = rest
  const saidAs = (name: string): unknown =>
    JSON.parse(JSON.stringify({ code, detail, repair }).replaceAll('POST /v1/execute', name))
  expect(await viaMcp(input)).toMatchObject(saidAs('gateway_execute') as object)
  expect(await viaA2a(input)).toMatchObject(saidAs('gateway_execute') as object)
})

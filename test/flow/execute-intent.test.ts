// What words were understood as is told with the price, at every door, before anybody pays; jobs that are not done here get no price.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { sendRpc } from '../support/json-rpc.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const PAGE = 'https://sandbox.agent-gateway.test/articles/green-tea'
const MIXED = { intent: `extract the article ${PAGE} and translate it to French`, limit: 3 }
const INTENT = {
  capability: 'web-extraction',
  in_words: expect.stringMatching(
    /^Web extraction of 1 source\..*Left out: Translation\. Nothing is translated/,
  ),
  sources: [PAGE],
  source_count: 1,
  limit: null,
  query: null,
  ignored: ['/limit'],
  left_out: [
    expect.objectContaining({ job: 'translation', why: expect.stringMatching(/^Nothing is translated/) }),
  ],
}

const rpc = (path: string, method: string, params: unknown, headers?: Record<string, string>) =>
  sendRpc(gateway.baseUrl + path, method, params, headers)

const sendOverA2a = (part: unknown) =>
  rpc(
    '/a2a',
    'SendMessage',
    { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [part] } },
    { 'a2a-version': '1.0' },
  )

describe('a request of which a part is not done here', () => {
  it('says over REST, in the body of the 402, what will be done and what is left out', async () => {
    const { status, body } = await gateway.rest('POST', '/v1/execute', MIXED)
    expect(status).toBe(402)
    expect(body).toMatchObject({ code: 'payment_required', intent: INTENT })
    expect(body['detail']).toMatch(/Payment required.*Left out: Translation/)
  })

  it('says so over MCP, beside the payment that is asked for', async () => {
    const { result } = await rpc('/mcp', 'tools/call', { name: 'gateway_execute', arguments: MIXED })
    expect(result).toMatchObject({ isError: true, structuredContent: { x402Version: 2, intent: INTENT } })
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent)
  })

  it('says so over A2A, in the message that asks for the payment', async () => {
    const { result } = await sendOverA2a({ data: { skill: 'web-extraction', input: MIXED } })
    const { message, state } = result.task.status
    expect(state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(message.parts).toContainEqual(expect.objectContaining({ data: { intent: INTENT } }))
  })

  it('names a query, too, and nothing left out where all of it is done', async () => {
    const { status, body } = await gateway.rest('POST', '/v1/execute', {
      intent: `how hot should the water be according to ${PAGE}`,
    })
    expect(status).toBe(402)
    expect(body['intent']).toMatchObject({ query: 'how hot should the water be', ignored: [], left_out: [] })
    expect(body['detail']).not.toMatch(/Left out/)
  })
})

describe('a job that is not done here', () => {
  const REFUSED = `translate ${PAGE} to French`
  const REFUSAL = {
    code: 'intent_unknown',
    detail: expect.stringMatching(/^Translation is not done here\. Nothing is translated.*`repair\.nearest`/),
    repair: {
      nearest: 'web-extraction',
      example: { capability: 'web-extraction', urls: [PAGE] },
      not_done: [{ job: 'translation', name: 'Translation', nearest: 'web-extraction' }],
    },
  }

  it('is refused over REST without a price, with the nearest job as an example', async () => {
    const { status, body } = await gateway.rest('POST', '/v1/execute', { intent: REFUSED })
    expect(status).toBe(400)
    expect(body).toMatchObject(REFUSAL)
    expect(body['accepts']).toBeUndefined()
  })

  it('is refused over MCP in the same words', async () => {
    const { result } = await rpc('/mcp', 'tools/call', {
      name: 'gateway_execute',
      arguments: { intent: REFUSED },
    })
    expect(result).toMatchObject({ isError: true, structuredContent: REFUSAL })
  })

  it('is refused over A2A where it is all that a message says', async () => {
    const { error, result } = await sendOverA2a({ text: REFUSED })
    expect(JSON.stringify(error ?? result)).toMatch(/Translation is not done here/)
    expect(JSON.stringify(error ?? result)).not.toMatch(/x402\.payment\.required/)
  })
})

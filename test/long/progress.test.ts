// Work of several seconds, on a real chain and real sources: what a client hears meanwhile, and what a cancelled call leaves behind.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBuyer } from '../support/buyer.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let chain: TestChain
let gw: TestGateway
let sign: ReturnType<typeof createBuyer>
/** How long a source takes, by its path. */
const takes = new Map<string, number>()
/** What it waits for besides. */
const held = new Map<string, Promise<void>>()
beforeAll(async () => {
  chain = await startTestChain(84532)
  gw = await startTestGateway({ env: chain.env })
  sign = createBuyer(chain.payers[0]!)
  gw.upstream.respond((request, res) => {
    void Promise.all([sleep(takes.get(request.target) ?? 0), held.get(request.target)]).then(() => {
      res.writeHead(200, { 'content-type': 'text/html' })
      res.end(`<h1>Page ${request.target}</h1><p>${'Some words about tea. '.repeat(20)}</p>`)
    })
  })
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

// Whatever came back is what is tested.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const eventsOf = (text: string): Json[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Json)

async function mcp(params: object, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const response = await fetch(`${gw.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    ...(signal && { signal }),
  })
  const text = await response.text()
  return text.startsWith('{') ? [JSON.parse(text) as Json] : eventsOf(text)
}

const extract = (...paths: string[]) => ({
  name: 'gateway_execute',
  arguments: { capability: 'web-extraction', urls: paths.map((path) => gw.url(path)), testnet: true },
})
async function paying(call: object): Promise<Record<string, unknown>> {
  const [unpaid] = await mcp(call)
  return { 'x402/payment': await sign(unpaid.result.structuredContent) }
}

describe('a paid call of several seconds', () => {
  it('tells of its payment, of each source and of its settlement, in reports that only grow', async () => {
    takes.set('/quick', 100).set('/middle', 1_000).set('/slow', 2_000)
    const call = extract('/quick', '/middle', '/slow')
    const events = await mcp({ ...call, _meta: { ...(await paying(call)), progressToken: 'p' } })
    const reports = events.slice(0, -1).map(({ method, params }) => {
      expect(method).toBe('notifications/progress')
      expect(params.progressToken).toBe('p')
      return params as { progress: number; total?: number; message: string }
    })
    const steps = reports.map(({ progress }) => progress)
    expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b))
    const messages = reports.map(({ message }) => message)
    expect(messages.slice(0, 2)).toEqual([
      'The payment is good and reserved; the work begins',
      'Reading 3 sources',
    ])
    // Sources are read beside one another: on a busy machine the second may answer before the first is read.
    const ofSources = messages.slice(2, -2)
    for (const source of [1, 2, 3])
      expect(ofSources.filter((message) => message.startsWith(`Source ${source} `))).toEqual([
        `Source ${source} of 3 has answered`,
        `Source ${source} of 3 is read`,
      ])
    expect(ofSources).toHaveLength(6)
    expect(messages.slice(-2)).toEqual([
      'The work is done; the payment is being settled',
      'The payment is with its facilitator; its chain decides',
    ])
    const { progress, total } = reports.at(-1)!
    expect(progress).toBe(total)
    expect(events.at(-1).result.structuredContent.result.coverage.usable).toBe(3)
  })

  it('says the same in the status updates of an A2A task', async () => {
    takes.set('/quick', 0).set('/slow', 0)
    // Sources are read beside one another: the second waits until the first is read, so that there is one order.
    const { promise: isFirstRead, resolve: heard } = Promise.withResolvers<void>()
    held.set('/slow', isFirstRead)
    const urls = ['/quick', '/slow'].map((path) => gw.url(path))
    const input = { capability: 'web-extraction', urls, testnet: true }
    const send = async (message: object) => {
      const response = await fetch(`${gw.baseUrl}/a2a`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'a2a-version': '1.0',
          'a2a-extensions': 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } }),
      })
      let text = ''
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        text += piece
        if (text.includes('Source 1 of 2 is read')) heard()
      }
      return eventsOf(text).map(({ result }) => result)
    }
    const base = { messageId: 'm1', role: 'ROLE_USER', parts: [{ data: { skill: 'web-extraction', input } }] }
    const asked = await send(base)
    const task = asked.map((event) => event.task ?? event.statusUpdate).find(Boolean)
    const required = asked
      .map(
        (event) => (event.task ?? event.statusUpdate)?.status?.message?.metadata?.['x402.payment.required'],
      )
      .find(Boolean)
    const payload = await sign(required)
    const paid = await send({
      messageId: 'm2',
      role: 'ROLE_USER',
      taskId: task.id ?? task.taskId,
      parts: [{ text: 'Paid.' }],
      metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload },
    })
    const said = paid.flatMap(({ statusUpdate }) => statusUpdate?.status?.message?.parts?.[0]?.text ?? [])
    expect(said).toEqual([
      'The payment is good and reserved for this task; it is settled when the work is done.',
      'Reading 2 sources (2 of 8)',
      'Source 1 of 2 has answered (3 of 8)',
      'Source 1 of 2 is read (4 of 8)',
      'Source 2 of 2 has answered (5 of 8)',
      'Source 2 of 2 is read (6 of 8)',
      'The work is done; the payment is being settled (7 of 8)',
      'The payment is with its facilitator; its chain decides (8 of 8)',
      'Paid and settled. The result is in the artifact, its receipt in it.',
    ])
  })
})

describe('a call under a stored credential', () => {
  it('tells when its credit is taken, when the request goes out and when the answer is there', async () => {
    takes.set('/api', 1_000)
    const { capability } = await gw.grant()
    const call = { name: 'gateway_egress_fetch', arguments: { method: 'GET', url: gw.url('/api') } }
    const events = await mcp(
      { ...call, _meta: { progressToken: 7 } },
      { authorization: `Bearer ${capability}` },
    )
    expect(events.slice(0, -1).map(({ params }) => [params.progress, params.message])).toEqual([
      [1, '1 credit taken; the work begins'],
      [2, 'The request goes out; its answer is awaited'],
      [3, 'The answer is here, and is searched for the secret'],
    ])
    expect(events.at(-1).result.structuredContent.upstream.status).toBe(200)
  })
})

describe('a call that says nothing for longer than 15 seconds', () => {
  it('is kept alive with comments where the client takes events, and is plain JSON where it does not', async () => {
    takes.set('/silent', 16_500)
    const { capability } = await gw.grant()
    const ask = async (accept: string) => {
      const response = await fetch(`${gw.baseUrl}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, authorization: `Bearer ${capability}` },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'gateway_egress_fetch',
            arguments: { method: 'GET', url: gw.url('/silent'), timeout_ms: 25_000 },
          },
        }),
      })
      return { type: response.headers.get('content-type'), text: await response.text() }
    }
    const [events, json] = await Promise.all([
      ask('application/json, text/event-stream'),
      ask('application/json'),
    ])
    expect(events.type).toBe('text/event-stream')
    expect(events.text).toMatch(/^: keep-alive\n\nevent: message\ndata: \{/)
    expect(json.type).toBe('application/json')
    for (const answer of [eventsOf(events.text)[0], JSON.parse(json.text)])
      expect(answer.result.structuredContent.upstream.status).toBe(200)
  })
})

describe('a paid call that is cancelled', () => {
  it('is answered by nothing, is settled all the same, and gives its result to the same payment', async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    held.set('/cancelled', isReleased)
    const asked = () => gw.upstream.requests.filter(({ target }) => target === '/cancelled')
    const call = extract('/cancelled')
    // The key makes the payment the buyer's own, whoever else saw it.
    const payment = { ...(await paying(call)), 'idempotency-key': `k-${Date.now()}` }
    const opened = await fetch(`${gw.baseUrl}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      }),
    })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')! }
    const answer = mcp({ ...call, _meta: { ...payment, progressToken: 1 } }, session)
    await expect.poll(asked).toHaveLength(1)
    await fetch(`${gw.baseUrl}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...session },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
    })
    // The response ends at once: with what was said before, and no answer.
    const heard = await answer
    expect(heard.every(({ method }) => method === 'notifications/progress')).toBe(true)
    expect(heard.map(({ params }) => params.message)).not.toContain('The source has answered')
    release()
    const [again] = await mcp({ ...call, _meta: payment }, session)
    expect(again.result.isError).toBeUndefined()
    expect(again.result._meta['x402/payment-response']).toMatchObject({ success: true })
    expect(asked()).toHaveLength(1)
  })
})

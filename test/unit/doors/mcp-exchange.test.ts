// One exchange on a real connection: what a client reads while nothing is said, and after its call was called off.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createExchange, type Exchange } from '../../../src/doors/mcp/exchange.ts'

const KEEP_ALIVE_MS = 20
const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

/** @param work what happens between the request and the end of the response */
async function ask(
  accept: string,
  work: (exchange: Exchange) => Promise<void> | void,
  onText: (text: string) => void = () => {},
) {
  const server = createServer((req, res) => {
    void work(createExchange(req, res, { 'x-request-id': 'req_1' }, KEEP_ALIVE_MS))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept } })
  let text = ''
  for await (const chunk of response.body ?? []) onText((text += Buffer.from(chunk).toString()))
  return { response, text }
}

const EVENTS = 'application/json, text/event-stream'

describe('an answer that takes long', () => {
  const commentsIn = (text: string) => text.match(/^: keep-alive$/gm)?.length ?? 0

  it('becomes a stream that comments keep alive, where the client takes events', async () => {
    const enough = Promise.withResolvers<void>()
    const { response, text } = await ask(
      EVENTS,
      async (exchange) => {
        await enough.promise
        exchange.answer(200, '{"ok":true}')
      },
      (read) => commentsIn(read) >= 3 && enough.resolve(),
    )
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('x-request-id')).toBe('req_1')
    expect(text.replaceAll(': keep-alive\n\n', '')).toBe('event: message\ndata: {"ok":true}\n\n')
  })

  it('stays one JSON text where the client takes nothing else', async () => {
    const { response, text } = await ask('application/json', async (exchange) => {
      await sleep(5 * KEEP_ALIVE_MS)
      exchange.answer(200, '{"ok":true}')
    })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(text).toBe('{"ok":true}')
  })
})

describe('an answer that is there at once', () => {
  it('is JSON, and nothing follows it', async () => {
    const { response, text } = await ask(EVENTS, async (exchange) => {
      exchange.answer(200, '{"ok":true}')
      await sleep(2 * KEEP_ALIVE_MS)
      exchange.notify('notifications/progress', { progress: 1 })
    })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(text).toBe('{"ok":true}')
  })
})

describe('a call that was called off', () => {
  it.each([
    ['before anything was said', false],
    ['in the middle of a stream', true],
  ])('%s ends its response, and neither reports nor answers', async (_, isStreaming) => {
    let isAborted = false
    const { response, text } = await ask(EVENTS, (exchange) => {
      exchange.signal().addEventListener('abort', () => (isAborted = true))
      if (isStreaming) exchange.notify('notifications/progress', { progress: 1 })
      exchange.cancel()
      exchange.notify('notifications/progress', { progress: 2 })
      expect(exchange.send({ method: 'x' })).toBe(false)
      exchange.answer(200, '{"ok":true}')
    })
    expect(isAborted).toBe(true)
    expect(response.status).toBe(200)
    expect(text.match(/"progress":\d/g) ?? []).toEqual(isStreaming ? ['"progress":1'] : [])
    expect(text).not.toContain('"ok"')
  })

  it('has an empty answer where the client takes JSON alone', async () => {
    const { response, text } = await ask('application/json', (exchange) => {
      exchange.cancel()
      exchange.answer(200, '{"ok":true}')
    })
    expect([response.status, text]).toEqual([202, ''])
  })
})

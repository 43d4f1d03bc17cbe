import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'

/** What the upstream alone sees of each of them; the program has the capability and nothing else. */
const SECRETS = {
  openai: 'sk-proj-b7Qx4LmR9vTz2KpW8nYcEu5J',
  anthropic: 'sk-ant-api03-9vTz2KpW8nYcEu5Jb7Qx4LmR',
  stripe: 'sk_test_2KpW8nYcEu5Jb7Qx4LmR9vTz',
}

type Fetching = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

describe('official SDKs behind a base URL', () => {
  let gw: TestGateway
  const capabilities: Partial<Record<keyof typeof SECRETS, string>> = {}
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    for (const [label, secret] of Object.entries(SECRETS)) {
      const { capability } = await gw.grant({
        secret,
        credential: {
          label,
          hosts: [`${UPSTREAM_HOST}:${gw.upstream.port}`],
          ...(label === 'anthropic' && { header: 'x-api-key', scheme: '' }),
        },
      })
      capabilities[label as keyof typeof SECRETS] = capability
    }
  })
  afterAll(() => gw.close())

  const keyOf = (name: keyof typeof SECRETS) => capabilities[name]!
  const openai = (fetching: Fetching = fetch) =>
    new OpenAI({ apiKey: keyOf('openai'), baseURL: `${gw.baseUrl}/via/openai/v1`, fetch: fetching })
  const anthropic = (fetching: Fetching = fetch) =>
    new Anthropic({ apiKey: keyOf('anthropic'), baseURL: `${gw.baseUrl}/via/anthropic`, fetch: fetching })
  /** It takes a host and no path, so that the path is put before its own. */
  const stripe = (fetching: Fetching = fetch) =>
    new Stripe(keyOf('stripe'), {
      httpClient: Stripe.createFetchHttpClient((input: RequestInfo | URL, init?: RequestInit) => {
        const { pathname, search } = new URL(String(input))
        return fetching(`${gw.baseUrl}/via/stripe${pathname}${search}`, init)
      }),
    })
  const seen = () => gw.upstream.requests.length
  const attempts = async () => (await gw.rest('GET', '/v1/egress/attempts?limit=100')).body.attempts.length
  /** Requests that the upstream counted, and attempts that were made for them. */
  async function countDuring(work: () => Promise<unknown>) {
    const before = { requests: seen(), attempts: await attempts() }
    await work()
    return { requests: seen() - before.requests, attempts: (await attempts()) - before.attempts }
  }
  const answerWith = (status: number, headers: Record<string, string>, body: string) =>
    gw.upstream.respond((_request, res) => res.writeHead(status, headers).end(body))
  const sent = (name: string) => gw.upstream.requests.at(-1)!.headers.find(([header]) => header === name)?.[1]

  const delta = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
  const chat = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }

  it('streams a completion to the OpenAI SDK', async () => {
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(delta('Hello'))
      setTimeout(() => res.end(`${delta(' world')}data: [DONE]\n\n`), 20)
    })
    let text = ''
    const counted = await countDuring(async () => {
      const stream = await openai().chat.completions.create({ ...chat, stream: true })
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    })
    expect(text).toBe('Hello world')
    expect(counted).toEqual({ requests: 1, attempts: 1 })
    expect(sent('authorization')).toBe(`Bearer ${SECRETS.openai}`)
  })

  it('streams a message to the Anthropic SDK, whose key goes in a header of its own', async () => {
    const event = (type: string, data: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'm',
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    answerWith(
      200,
      { 'content-type': 'text/event-stream' },
      event('message_start', { message }) +
        event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }) +
        event('content_block_stop', { index: 0 }) +
        event('message_stop', {}),
    )
    const stream = anthropic().messages.stream({ model: 'm', max_tokens: 10, messages: chat.messages })
    expect(await stream.finalText()).toBe('Hello')
    expect(sent('x-api-key')).toBe(SECRETS.anthropic)
    expect(sent('authorization')).toBeUndefined()
    expect(sent('anthropic-version')).toBeDefined()
  })

  it('carries the Idempotency-Key of the Stripe SDK', async () => {
    answerWith(200, { 'content-type': 'application/json' }, '{"id":"cus_1","object":"customer"}')
    const customer = await stripe().customers.create({ name: 'A' }, { idempotencyKey: 'order-7' })
    expect(customer.id).toBe('cus_1')
    expect(sent('idempotency-key')).toBe('order-7')
    expect(sent('authorization')).toBe(`Bearer ${SECRETS.stripe}`)
  })

  it('makes one attempt of what the Stripe SDK sends again under its key after a reset', async () => {
    gw.upstream.respond((_request, res) => res.destroy())
    let error: unknown
    const counted = await countDuring(async () => {
      error = await stripe()
        .customers.create({ name: 'B' })
        .catch((thrown: unknown) => thrown)
    })
    expect(error).toBeInstanceOf(Error)
    expect(counted).toEqual({ requests: 1, attempts: 1 })
  })

  it.each(['openai', 'anthropic', 'stripe'] as const)(
    'gives %s the answer that it lost, when it sends the same again under its key',
    async (name) => {
      const answer = name === 'stripe' ? '{"id":"cus_2","object":"customer"}' : '{"id":"c","choices":[]}'
      answerWith(200, { 'content-type': 'application/json' }, answer)
      const sentHeaders: string[] = []
      const losing: Fetching = async (input, init) => {
        sentHeaders.push(JSON.stringify([...new Headers(init?.headers)]))
        const answered = await fetch(input, init)
        if (sentHeaders.length > 1) return answered
        await answered.arrayBuffer()
        throw new TypeError('fetch failed')
      }
      const options = { headers: { 'Idempotency-Key': `lost-${name}` } }
      let given: { readonly id: string } | undefined
      const counted = await countDuring(async () => {
        given =
          name === 'openai'
            ? await openai(losing).chat.completions.create(chat, options)
            : name === 'anthropic'
              ? await anthropic(losing).messages.create(
                  { model: 'm', max_tokens: 10, messages: chat.messages },
                  options,
                )
              : await stripe(losing).customers.create({ name: 'C' })
      })
      expect(given?.id).toBe(name === 'stripe' ? 'cus_2' : 'c')
      expect([sentHeaders.length, counted]).toEqual([2, { requests: 1, attempts: 1 }])
      // Stripe's sends the same once more.
      expect(sentHeaders[1] === sentHeaders[0]).toBe(name === 'stripe')
    },
  )

  it.each(['openai', 'anthropic'] as const)(
    'is not sent again by %s where nobody knows what became of it',
    async (name) => {
      gw.upstream.respond((_request, res) => res.destroy())
      const counted = await countDuring(() =>
        (name === 'openai'
          ? openai().chat.completions.create(chat)
          : anthropic().messages.create({ model: 'm', max_tokens: 10, messages: chat.messages })
        ).catch(() => undefined),
      )
      expect(counted).toEqual({ requests: 1, attempts: 1 })
    },
  )

  it('sends as often as there are attempts where the upstream itself asks for a repeat', async () => {
    answerWith(
      503,
      { 'content-type': 'application/json', 'retry-after-ms': '1' },
      '{"error":{"message":"busy"}}',
    )
    const counted = await countDuring(() =>
      openai()
        .chat.completions.create(chat)
        .catch(() => undefined),
    )
    expect(counted).toEqual({ requests: 3, attempts: 3 })
  })

  it('ends the upstream when a program aborts its stream', async () => {
    const closed = Promise.withResolvers<void>()
    gw.upstream.respond((_request, res) => {
      res.on('close', () => closed.resolve())
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(delta('Hello'))
    })
    const stream = await openai().chat.completions.create({ ...chat, stream: true })
    for await (const _chunk of stream) break
    await closed.promise
  })

  it('raises a secret that comes back in a stream as an error, with nothing of it in what the program got', async () => {
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(delta('Hello'))
      setTimeout(() => res.end(delta(SECRETS.openai)), 20)
    })
    let text = ''
    const stream = await openai().chat.completions.create({ ...chat, stream: true })
    const error = await (async () => {
      for await (const chunk of stream) text += JSON.stringify(chunk)
    })().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    expect(String(error) + JSON.stringify(error) + text).not.toContain(SECRETS.openai.slice(8))
    expect(text).toContain('Hello')
  })

  it('has no secret in anything that it wrote down', () => {
    for (const secret of Object.values(SECRETS)) expect(gw.log()).not.toContain(secret)
  })
})

// Official libraries for Node behind `agent-gateway run`, with nothing but the variables and placeholders that it sets: streams, aborts, and
// what they send again by themselves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunWorld, startRunWorld } from '../support/run-world.ts'

const SECRET = 'sk-b7Qx4LmR9vTz2KpW8nYcEu5Jb7Qx4LmR'
const HERE = JSON.stringify(import.meta.url)

let world: RunWorld
beforeAll(async () => {
  world = await startRunWorld({ secrets: [SECRET] })
  await world.gw.grant({ secret: SECRET, credential: { label: 'bearer', hosts: [world.host] } })
  await world.gw.grant({
    secret: SECRET,
    credential: { label: 'header', hosts: [world.host], header: 'x-api-key', scheme: '' },
  })
})
afterAll(() => world.close())

/** A program that has a client of the library, made as its documentation makes it. */
const program = (name: keyof typeof CLIENTS, text: string) => [
  process.execPath,
  '--input-type=module',
  '-e',
  `import { createRequire } from 'node:module'
   const require = createRequire(${HERE})
   ${CLIENTS[name]()}
   ${text}`,
]
const CLIENTS = {
  openai: () =>
    `const client = new (require('openai').default)({ apiKey: 'sk-placeholder', baseURL: ${JSON.stringify(world.url('/v1'))} })
     const ask = (stream) => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream })`,
  anthropic: () =>
    `const client = new (require('@anthropic-ai/sdk').default)({ apiKey: 'sk-ant-placeholder', baseURL: ${JSON.stringify(world.url(''))} })
     const ask = (stream) => client.messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], stream })`,
  stripe: () => {
    const { hostname, port } = new URL(world.url('/'))
    return `const Stripe = require('stripe')
     const client = new (Stripe.default ?? Stripe)('sk_test_placeholder', { host: '${hostname}', port: '${port}' })
     const ask = () => client.customers.create({ name: 'A' })`
  },
}
const LABELS = { openai: 'bearer', anthropic: 'header', stripe: 'bearer' } as const
const EVENTS = {
  openai: (text: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`,
  anthropic: (text: string) =>
    `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`,
}

describe('official libraries', () => {
  it('of Stripe makes a customer', async () => {
    world.gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"cus_1","object":"customer"}'),
    )
    const { stdout } = await world.run('bearer', program('stripe', 'console.log((await ask()).id)'), {
      attempts: 1,
    })
    expect(stdout).toBe('cus_1\n')
  })

  it.each(['openai', 'anthropic'] as const)('of %s reads a stream', async (name) => {
    world.gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENTS[name]('Hello'))
      setTimeout(() => res.end(EVENTS[name](' world')), 20)
    })
    const read = `for await (const event of await ask(true)) console.log(JSON.stringify(event))`
    const { stdout } = await world.run(LABELS[name], program(name, read), { attempts: 1 })
    expect(stdout).toContain('Hello')
    expect(stdout).toContain(' world')
  })

  it.each(['openai', 'anthropic'] as const)('of %s goes away in the middle of a stream', async (name) => {
    const closed = Promise.withResolvers<void>()
    world.gw.upstream.respond((_request, res) => {
      res.on('close', () => closed.resolve())
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENTS[name]('Hello'))
    })
    const leave = `for await (const _event of await ask(true)) break; console.log('left')`
    const { stdout } = await world.run(LABELS[name], program(name, leave), { attempts: 1 })
    expect(stdout).toBe('left\n')
    await closed.promise
  })

  it.each([
    ['openai', 3],
    ['anthropic', 3],
    // Under a key of its own, which the upstream's answer frees.
    ['stripe', 3],
  ] as const)(
    'of %s sends again what the upstream was too busy for, which makes %i attempts',
    async (name, attempts) => {
      world.gw.upstream.respond((_request, res) =>
        res
          .writeHead(503, { 'content-type': 'application/json', 'retry-after-ms': '1' })
          .end('{"error":{"message":"busy"}}'),
      )
      // That of Stripe leaves answers unread that it sends again for, and a program does not end before they time out.
      const fail = `await ask(false).catch(({ message }) => console.log(message)); process.exit()`
      const { stdout } = await world.run(LABELS[name], program(name, fail), { attempts })
      expect(stdout).toContain('busy')
    },
  )
})

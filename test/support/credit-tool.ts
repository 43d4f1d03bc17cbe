// A tool whose calls cost credits by themselves, without an attempt: the product has none, so the tests bring one.
import { z } from 'zod'
import { GatewayError } from '../../src/core/errors.ts'
import { credits } from '../../src/core/price.ts'
import { defineTool } from '../../tools/services.ts'

export const SHOUT_COST = 2

export const shout = defineTool({
  name: 'gateway.text.shout',
  title: 'Shout',
  toolset: 'web',
  summary: 'Says a text in capitals.',
  input: z.strictObject({ text: z.string().min(1).max(200) }),
  output: z.strictObject({ text: z.string() }),
  price: credits(SHOUT_COST),
  caller: 'operator',
  effects: { readOnly: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/text/shout', operationId: 'shout' },
  skill: { id: 'shout', tags: ['text'], examples: ['Say it louder'] },
  errors: [],
  examples: [{ title: 'A greeting', input: { text: 'hello' } }],
  handle: async function shout({ text }) {
    return { text: text.toUpperCase() }
  },
})

/** The same for agents; it fails where there is nothing to say. */
export const speak = defineTool({
  name: 'gateway.text.speak',
  title: 'Speak',
  toolset: 'web',
  summary: 'Says a text.',
  input: z.strictObject({ text: z.string().max(200) }),
  output: z.strictObject({ text: z.string() }),
  price: credits(SHOUT_COST),
  caller: 'account',
  effects: { readOnly: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/text/speak', operationId: 'speak' },
  skill: { id: 'speak', tags: ['text'], examples: ['Say it'] },
  errors: [],
  examples: [{ title: 'A greeting', input: { text: 'hello' } }],
  handle: async function speak({ text }) {
    if (text === '') throw new GatewayError('input_invalid', 'Say something.')
    return { text }
  },
})

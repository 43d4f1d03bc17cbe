// A small API with a price list, for who wants to sell something in the sandbox: an OpenAPI document, and the two operations in it.
import { SANDBOX_HOST } from '../egress/target.ts'

interface Tea {
  readonly name: string
  readonly celsius: number
  readonly minutes: number
}

const TEAS: Readonly<Record<string, Tea>> = {
  sencha: { name: 'Sencha', celsius: 70, minutes: 1.5 },
  oolong: { name: 'Oolong', celsius: 90, minutes: 3 },
  assam: { name: 'Assam', celsius: 95, minutes: 4 },
}

export interface TeaAnswer {
  readonly status: number
  readonly body: unknown
}

/** @returns undefined for what is no path of this API */
export function answerTea(url: URL): TeaAnswer | undefined {
  if (url.pathname === '/tea/openapi.json') return { status: 200, body: DOCUMENT }
  if (url.pathname === '/tea/list') return { status: 200, body: { teas: Object.keys(TEAS) } }
  const name = /^\/tea\/brew\/([a-z]+)$/.exec(url.pathname)?.[1]
  if (name === undefined) return undefined
  const tea = Object.hasOwn(TEAS, name) ? TEAS[name] : undefined
  if (!tea) return { status: 404, body: { error: 'no such tea' } }
  const cups = Number(url.searchParams.get('cups') ?? '1')
  if (!Number.isInteger(cups) || cups < 1 || cups > 10)
    return { status: 400, body: { error: 'cups: 1 to 10' } }
  return { status: 200, body: { ...tea, cups, leaves_grams: cups * 2 } }
}

const paid = (usd: string) => ({
  'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: usd }, protocols: [{ x402: {} }] },
})
const answers = (description: string, schema: Readonly<Record<string, unknown>>) => ({
  '200': { description, content: { 'application/json': { schema } } },
})

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Tea advice', version: '1.0.0', description: 'How to brew the teas that we know.' },
  servers: [{ url: `https://${SANDBOX_HOST}/tea` }],
  paths: {
    '/list': {
      get: {
        operationId: 'listTeas',
        summary: 'The teas that we know',
        ...paid('0.01'),
        responses: answers('Their names', {
          type: 'object',
          required: ['teas'],
          properties: { teas: { type: 'array', items: { type: 'string' } } },
        }),
      },
    },
    '/brew/{tea}': {
      get: {
        operationId: 'brewTea',
        summary: 'How long and how hot',
        ...paid('0.02'),
        parameters: [
          {
            name: 'tea',
            in: 'path',
            required: true,
            schema: { type: 'string', enum: Object.keys(TEAS) },
            example: 'sencha',
          },
          {
            name: 'cups',
            in: 'query',
            schema: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
            example: 2,
          },
        ],
        responses: answers('Heat, time and leaves', {
          type: 'object',
          required: ['name', 'celsius', 'minutes', 'cups', 'leaves_grams'],
          properties: {
            name: { type: 'string' },
            celsius: { type: 'number' },
            minutes: { type: 'number' },
            cups: { type: 'integer' },
            leaves_grams: { type: 'number' },
          },
        }),
      },
    },
  },
} as const

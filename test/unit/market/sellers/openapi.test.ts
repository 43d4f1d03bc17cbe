import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readOpenApi } from '../../../../src/market/sellers/openapi.ts'
import { readPrice } from '../../../../src/market/sellers/price-info.ts'

const api = (paths: object, over: object = {}) => ({ openapi: '3.1.0', info: { title: 'T' }, paths, ...over })
const paid = (over: object = {}) => ({ 'x-payment-info': { price: '0.01' }, ...over })

function read(document: unknown, price?: string) {
  const reading = readOpenApi(document, price)
  if (!reading.ok) throw new Error(reading.why)
  return reading.api
}

describe('prices', () => {
  it.each<[string, unknown, string]>([
    ['dollars in text', { price: '$0.01' }, '10000'],
    ['dollars as a number', { price: 0.000001 }, '1'],
    ['x402scan', { protocols: ['x402'], pricingMode: 'fixed', price: '0.05' }, '50000'],
    ['an amount with a currency', { price: { amount: '1.5', currency: 'USD' } }, '1500000'],
    ['price.mode fixed', { price: { mode: 'fixed', currency: 'USD', amount: '0.02' } }, '20000'],
    ['atomic units', { price_atomic: '2500' }, '2500'],
    [
      'MPP',
      { intent: 'charge', amount: '10000', currency: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
      '10000',
    ],
    ['an amount of dollars', { amount: '0.25', currency: 'USDC' }, '250000'],
    ['x402 v1', { maxAmountRequired: '777' }, '777'],
    ['a bare price', '0.3 USDC', '300000'],
  ])('of %s', (_, info, atomic) => {
    expect(readPrice(info)).toEqual({ ok: true, atomic })
  })

  it.each<[string, unknown]>([
    ['parts of an atomic unit', { price: '0.0000001' }],
    ['nothing', { price: '0' }],
    ['another currency', { price: { amount: '1', currency: 'EUR' } }],
    ['another token', { amount: '1', currency: `0x${'1'.repeat(40)}` }],
    ['a price that depends', { pricingMode: 'dynamic', price: '1' }],
    ['a negative number', { price: -1 }],
    ['no number', { price: 'cheap' }],
    ['an infinite one', { price: Infinity }],
    ['nothing but words', { protocols: ['x402'] }],
  ])('are refused: %s', (_, info) => {
    expect(readPrice(info)).toMatchObject({ ok: false })
  })

  it('are not said where there is none', () => {
    expect(readPrice(undefined)).toEqual({ ok: true, atomic: undefined })
  })
})

describe('a document', () => {
  it.each([
    ['no object', 'x'],
    ['another version', { swagger: '2.0', paths: {} }],
    ['no paths', { openapi: '3.0.0' }],
  ])('of %s cannot be read', (_, document) => {
    expect(readOpenApi(document, undefined).ok).toBe(false)
  })

  it('gives its parameters, body and answer as schemas that stand alone', () => {
    const { routes } = read(
      api(
        {
          '/orders/{id}': {
            parameters: [
              { name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: 'o-1' },
            ],
            post: paid({
              summary: 'Order',
              parameters: [{ name: 'dry', in: 'query', schema: { type: 'boolean' } }],
              requestBody: {
                required: true,
                content: {
                  'application/json; charset=utf-8': { schema: { $ref: '#/components/schemas/Order' } },
                },
              },
              responses: { 201: { $ref: '#/components/responses/Made' } },
            }),
          },
        },
        {
          components: {
            schemas: {
              Order: {
                type: 'object',
                required: ['item'],
                properties: { item: { type: 'string', examples: ['tea'] }, example: { type: 'string' } },
              },
            },
            responses: { Made: { content: { 'application/vnd.a+json': { schema: { type: 'object' } } } } },
          },
        },
      ),
    )
    expect(routes).toEqual([
      expect.objectContaining({
        path: '/orders/{id}',
        method: 'POST',
        price_atomic: '10000',
        input_schema: {
          type: 'object',
          properties: { id: { type: 'string' }, dry: { type: 'boolean' } },
          required: ['id'],
          additionalProperties: false,
        },
        body_schema: {
          type: 'object',
          required: ['item'],
          properties: { item: { type: 'string', examples: ['tea'] }, example: { type: 'string' } },
        },
        output_schema: { type: 'object' },
        example: { query: { id: 'o-1' }, body: { item: 'tea' } },
      }),
    ])
  })

  it('of 3.0 has its nullable and exclusive bounds translated', () => {
    const schema = {
      type: 'integer',
      nullable: true,
      minimum: 1,
      exclusiveMinimum: true,
      maximum: 9,
      exclusiveMaximum: false,
    }
    const { routes } = read({
      openapi: '3.0.1',
      paths: { '/': { get: paid({ responses: { 200: { content: { 'application/json': { schema } } } } }) } },
    })
    expect(routes[0]?.output_schema).toEqual({ type: ['integer', 'null'], exclusiveMinimum: 1, maximum: 9 })
  })

  it.each<[string, object, RegExp]>([
    ['no price', { '/': { get: {} } }, /no x-payment-info/],
    ['a deprecated operation', { '/': { get: paid({ deprecated: true }) } }, /deprecated/],
    [
      'a header that is needed',
      { '/': { get: paid({ parameters: [{ name: 'k', in: 'header', required: true }] }) } },
      /header/,
    ],
    ['a path parameter that nobody describes', { '/{a}': { get: paid() } }, /does not describe/],
    [
      'a required parameter without an example',
      {
        '/': {
          get: paid({ parameters: [{ name: 'q', in: 'query', required: true, schema: { type: 'string' } }] }),
        },
      },
      /no example/,
    ],
    [
      'a body that is no JSON',
      { '/': { post: paid({ requestBody: { required: true, content: { 'text/plain': {} } } }) } },
      /not JSON/,
    ],
    [
      'a reference to elsewhere',
      {
        '/': {
          get: paid({
            responses: {
              200: { content: { 'application/json': { schema: { $ref: 'https://x.example/s' } } } },
            },
          }),
        },
      },
      /outside/,
    ],
    [
      'a schema that refers to itself',
      {
        '/': {
          get: paid({
            responses: {
              200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } },
            },
          }),
        },
      },
      /itself/,
    ],
  ])('leaves %s out and says why', (_, paths, why) => {
    const components = { schemas: { Node: { properties: { next: { $ref: '#/components/schemas/Node' } } } } }
    const { routes, skipped } = read(api(paths, { components }))
    expect([routes, skipped]).toEqual([
      [],
      [{ operation: expect.any(String), reason: expect.stringMatching(why) }],
    ])
  })

  it('takes the price that is given where an operation names none', () => {
    expect(read(api({ '/': { get: {} } }), '42').routes).toMatchObject([{ price_atomic: '42' }])
  })

  it('that grows a billion times by its references is refused, soon', () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 18 }, (_, i) => [
        `S${i}`,
        i === 0
          ? { type: 'string' }
          : { allOf: Array.from({ length: 10 }, () => ({ $ref: `#/components/schemas/S${i - 1}` })) },
      ]),
    )
    const bomb = {
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/S17' } } } },
      },
    }
    const paths = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`/p${i}`, { get: paid(bomb) }]))
    expect(read(api(paths, { components: { schemas } })).routes).toEqual([])
  })

  it('never breaks the reader, whatever it holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (item, other) => {
        const reading = readOpenApi(
          { openapi: '3.1.0', paths: { '/': { get: { ...paid(), ...item } }, '/b': other } },
          '5',
        )
        expect(reading.ok).toBe(true)
      }),
    )
  })
})

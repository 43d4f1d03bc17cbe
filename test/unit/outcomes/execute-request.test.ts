import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ExecuteRequest } from '../../../schemas/execute-request.ts'

const published = z.toJSONSchema(ExecuteRequest, { io: 'input' }) as {
  readonly properties: Record<string, { readonly default?: unknown }>
}
const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
const validate = ajv.compile(published)
const A = 'https://a.example/'

describe('the request of an outcome', () => {
  it('has the properties of the specification, `format`, `redirects`, `start`, and no other', () => {
    expect(Object.keys(published.properties).sort()).toEqual(
      'action arguments capability command desired_action format html http input intent limit max_age_seconds name operation query redirects sources start task testnet tool url urls'.split(
        ' ',
      ),
    )
    expect(published).toMatchObject({ type: 'object', additionalProperties: false })
    expect(published).not.toHaveProperty('required')
    expect(published.properties['max_age_seconds']).toMatchObject({ minimum: 0, maximum: 60, default: 0 })
    expect(published.properties['limit']).toMatchObject({ type: 'integer', minimum: 1, maximum: 30 })
    expect(published.properties['testnet']).toMatchObject({ type: 'boolean', default: false })
    expect(published.properties['html']).toMatchObject({ maxLength: 12_288 })
    expect(published.properties['query']).toMatchObject({ maxLength: 200 })
    expect(published.properties['urls']).toMatchObject({
      maxItems: 3,
      items: { type: 'string', format: 'uri' },
    })
    expect(published.properties['sources']).toMatchObject({
      maxItems: 3,
      items: {
        anyOf: [
          { type: 'string', format: 'uri', pattern: '^https:\\/\\/' },
          {
            type: 'object',
            required: ['url'],
            additionalProperties: false,
            properties: {
              url: { type: 'string', format: 'uri' },
              fallbacks: { type: 'array', maxItems: 1, items: { type: 'string', format: 'uri' } },
            },
          },
        ],
      },
    })
    expect(published.properties['intent']).toMatchObject({
      anyOf: [{ type: 'string', maxLength: 3000 }, { type: 'object' }],
    })
  })

  it.each<[string, unknown, boolean]>([
    ['nothing', {}, true],
    ['no object', [], false],
    ['an intent of 3000 characters', { intent: '😀'.repeat(3000) }, true],
    ['an intent of 3001', { intent: '😀'.repeat(3001) }, false],
    ['an intent as an object of anything', { intent: { x: [1] } }, true],
    ['an intent as a list', { intent: [] }, false],
    ['a capability', { capability: 'feed-digest' }, true],
    ['an unknown one', { capability: 'feed_digest' }, false],
    ['an address of any scheme', { url: 'urn:x' }, true],
    ['a relative address', { url: '/x' }, false],
    ['an address with a space before it', { url: ` ${A}` }, false],
    ['an address with a space in it', { url: `${A} x` }, false],
    ['an address with a line end', { url: `${A}\n` }, false],
    ['three addresses', { urls: [A, A, A] }, true],
    ['four addresses', { urls: [A, A, A, A] }, false],
    ['no addresses', { urls: [] }, true],
    ['a source', { sources: [A] }, true],
    ['a source over http', { sources: ['http://a.example/'] }, false],
    ['a source in upper case', { sources: ['HTTPS://a.example/'] }, false],
    ['a source with a space before it', { sources: [` ${A}`] }, false],
    ['a source with its fallback', { sources: [{ url: A, fallbacks: ['http://b.example/'] }] }, true],
    ['a source without fallback', { sources: [{ url: 'http://a.example/' }] }, true],
    ['two fallbacks', { sources: [{ url: A, fallbacks: [A, A] }] }, false],
    ['a source without address', { sources: [{ fallbacks: [A] }] }, false],
    ['a source with more', { sources: [{ url: A, title: 'x' }] }, false],
    ['four sources', { sources: [A, A, A, A] }, false],
    ['html of 12,288 characters', { html: '😀'.repeat(12_288) }, true],
    ['html of 12,289', { html: 'x'.repeat(12_289) }, false],
    ['limit 1', { limit: 1 }, true],
    ['limit 30', { limit: 30 }, true],
    ['limit 0', { limit: 0 }, false],
    ['limit 31', { limit: 31 }, false],
    ['limit 1.5', { limit: 1.5 }, false],
    ['a limit as text', { limit: '5' }, false],
    ['60 seconds', { max_age_seconds: 60 }, true],
    ['61 seconds', { max_age_seconds: 61 }, false],
    ['a query of 200', { query: 'ش'.repeat(200) }, true],
    ['a query of 201', { query: 'ش'.repeat(201) }, false],
    ['test money', { testnet: true }, true],
    ['test money as text', { testnet: 'true' }, false],
    ['wrappers', { input: {}, arguments: {}, operation: {}, http: {}, task: {} }, true],
    ['a wrapper as text', { input: '{}' }, false],
    ['names and words', { name: 'x', tool: 'x', action: 'x', desired_action: 'x', command: 'x' }, true],
    ['another property', { urls: [A], format: 'json' }, false],
    ['null', { url: null }, false],
  ])('is %s: schema and server say the same', (_, input, isValid) => {
    expect(ExecuteRequest.safeParse(input).success).toBe(isValid)
    expect(validate(input)).toBe(isValid)
  })
})

// The story of a newcomer without an account: the catalogue's first result, an own page, its limits, a repaired mistake.
import { createHash } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Execution } from '../../schemas/outcome.ts'
import { createTestOutcomes, previewOf } from '../support/outcomes.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

const MAX = 12_288
let gateway: Harness
beforeAll(async () => {
  gateway = await startRestHarness({ services: { outcomes: createTestOutcomes() } })
})
afterAll(() => gateway.close())

async function post(body: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${gateway.baseUrl}/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
// Tests read what they expect out of a document; a wrong shape fails them.
// oxlint-disable-next-line typescript/no-explicit-any
const get = async (path: string): Promise<any> => (await fetch(`${gateway.baseUrl}${path}`)).json()
const execute = (input: unknown) => post(JSON.stringify(input))
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('execute over HTTP', () => {
  it('answers the first result of the catalogue, sent unchanged, with a labelled sample', async () => {
    const catalogue = await get('/v1/capabilities')
    const first = catalogue.first_result
    const answer = await fetch(first.url, {
      method: first.method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(first.body),
    })
    expect(answer.status).toBe(first.expected_status)
    const { result, cost } = Execution.parse(await answer.json())
    expect(result.sample).toBe(true)
    expect(result.sample_notice).toMatch(/not live/)
    expect(cost.paid).toBe(false)
  })

  it('returns digests that recompute from the answer alone', async () => {
    const { body } = await execute({ intent: 'demo' })
    const execution = Execution.parse(body)
    const result = previewOf(execution)
    const { verification } = execution
    expect(verification.source_sha256).toBe(sha256(result.source.html!))
    expect(verification.text_sha256).toBe(sha256(result.document.text))
    // The body as received, not as parsed by our schema: a caller has nothing else.
    expect(verification.result_sha256).toBe(sha256(canonicalize(body['result'])!))
  })

  it('answers in the shape that the published schemas describe', async () => {
    const openapi = await get('/openapi.json')
    const response = openapi.paths['/v1/execute'].post.responses['200'].content['application/json'].schema
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ ...openapi, $id: 'openapi' })
    const { body } = await execute({ intent: 'demo' })
    const validate = ajv.compile(response.$ref ? { $ref: `openapi${response.$ref}` } : response)
    expect(validate(body), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ ...body, receipt: 1 })).toBe(false)
  })

  it.each<[string, string]>([
    ['letters', 'x'],
    ['two-byte letters', 'ش'],
    ['characters outside the basic plane', '😀'],
  ])('takes 12,288 characters of %s and refuses one more', async (_, character) => {
    const accepted = await execute({ html: character.repeat(MAX) })
    expect(accepted.status).toBe(200)
    expect(accepted.body).toMatchObject({ result: { source: { characters: MAX } } })
    const refused = await execute({ html: character.repeat(MAX + 1) })
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'input_invalid', fields: [{ pointer: '/html' }] },
    })
  })

  it('takes the full length with every character escaped', async () => {
    const html = '\\ud83d\\ude00'.repeat(MAX)
    const accepted = await post(`{"html":"${html}","intent":"${'\\u0020'.repeat(3000)}"}`)
    expect(accepted.status).toBe(200)
    expect((await post(`{"html":"${'x'.repeat(192 * 1024)}"}`)).body['code']).toBe('body_too_large')
  })

  it.each<[string, unknown, string]>([
    ['an unknown job', { intent: 'sing a song' }, 'intent_unknown'],
    ['a comparison without shops', { capability: 'product-offers' }, 'input_missing_field'],
    ['a conflict', { html: 'a', input: { html: 'b' } }, 'input_conflict'],
    ['a missing source', { capability: 'extract-preview' }, 'input_missing_field'],
  ])('answers %s with a problem whose example works when sent back unchanged', async (_, input, code) => {
    const refused = await execute(input)
    expect(refused).toMatchObject({ status: 400, body: { code } })
    const { example } = refused.body['repair'] as { example: unknown }
    expect((await execute(example)).status).toBe(200)
  })

  it.each<[string, unknown, string]>([
    ['an unknown property', { html: 'a', foo: 1 }, 'input_unknown_property'],
    ['a wrong type', { html: 1 }, 'input_wrong_type'],
    ['a limit out of range', { html: 'a', limit: 31 }, 'input_invalid'],
    ['four sources', { sources: Array(4).fill('https://a.example/') }, 'input_invalid'],
    ['a source that is not HTTPS', { sources: ['http://a.example/'] }, 'input_invalid'],
    [
      'two fallbacks',
      { sources: [{ url: 'https://a/', fallbacks: ['https://b/', 'https://c/'] }] },
      'input_invalid',
    ],
    ['an age over a minute', { html: 'a', max_age_seconds: 61 }, 'input_invalid'],
    ['a long query', { html: 'a', query: 'x'.repeat(201) }, 'input_invalid'],
    ['a long intent', { intent: 'x'.repeat(3001) }, 'input_invalid'],
    ['an unknown capability', { capability: 'everything' }, 'input_invalid'],
  ])('refuses %s', async (_, input, code) => {
    const { status, body } = await execute(input)
    expect([status, body['code']]).toEqual([400, code])
    const { example } = body['repair'] as { example: unknown }
    expect(body['detail']).toContain('`repair.example`')
    // Of some the nearest is a paid one: what matters is that it is no mistake any more.
    expect([200, 402, 503]).toContain((await execute(example)).status)
  })
})

// POST /v1/test and GET /v1/test/schema as callers meet them: three doors, refusals, and what is left behind (nothing).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestReport } from '../../schemas/commerce.ts'
import { SAMPLES } from '../data/commerce/samples.ts'
import { type Plain, wire } from '../support/commerce.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'
import { testTransaction } from '../../tools/test.ts'

const POST_TEST = '/v1/test'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway?.close())

const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
const post = (body: unknown) => gateway.rest('POST', POST_TEST, body, '')
const postText = (body: string) =>
  send(POST_TEST, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

describe('a report', () => {
  it.each(['x402-http', 'mpp-post', 'ap2-payment', 'ucp-complete', 'acp-delegate', 'mcp-2026'])(
    'of %s is the same through every door',
    async (name) => {
      const sample = wire(SAMPLES[name]!)
      const outputs = await Promise.all(
        (['rest', 'mcp', 'a2a'] as const).map((door) =>
          throughDoor[door](send, testTransaction as never, sample, gateway.operatorKey),
        ),
      )
      const reports = outputs.map(({ output }) => TestReport.parse(output))
      expect(new Set(reports.map((report) => report.report_hash)).size).toBe(1)
      expect(reports[1]).toEqual(reports[0])
      expect(reports[2]).toEqual(reports[0])
    },
  )

  it('leaves nothing of the sample in the log, and no task', async () => {
    const sample = wire(SAMPLES['acp-complete']!)
    for (const door of ['rest', 'mcp', 'a2a'] as const)
      expect(
        (await throughDoor[door](send, testTransaction as never, sample, gateway.operatorKey)).code,
      ).toBe('ok')
    for (const word of ['spt_made_up', 'made-up-access-token', 'shop.example', 'ada@example.org'])
      expect(gateway.log().includes(word), word).toBe(false)
    const answer = await send('/a2a', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        authorization: `Bearer ${gateway.operatorKey}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
    })
    expect(((await answer.json()) as { result: { tasks?: unknown[] } }).result.tasks ?? []).toEqual([])
  })

  it('is given for what cannot be read, never a failure of the gateway', async () => {
    const broken: Record<string, Plain>[] = [
      { 'PAYMENT-SIGNATURE': '%%%' },
      { 'PAYMENT-SIGNATURE': Buffer.from('{').toString('base64') },
      { 'PAYMENT-SIGNATURE': ['AAAA', 'BBBB'], 'X-PAYMENT': 'AAAA' },
      { 'PAYMENT-SIGNATURE': Buffer.from('['.repeat(10_000)).toString('base64') },
      { Authorization: ['Payment e30', 'Payment e30'] },
      { __proto__x: 'a', constructor: 'b', 'UCP-Agent': '\u0000\ud800' },
      { 'Signature-Input': 'sig1=(((((', Signature: ':::', 'Content-Digest': '=' },
    ]
    for (const headers of broken) {
      const { status, body } = await post({
        target: 'https://shop.example/x',
        method: 'POST',
        headers,
        body: '{',
      })
      expect(status, JSON.stringify(headers)).toBe(200)
      expect(body.score).toBeLessThanOrEqual(40)
    }
    const chain = 'eyJhbGciOiJub25lIn0.e30.~~~~eyJ'.repeat(1000)
    const bodies = [
      'x'.repeat(256 * 1024),
      `{"payment_mandate_chain":"${chain}"}`,
      `${'['.repeat(10_000)}1${']'.repeat(10_000)}`,
      '"\ud800"',
      '{"__proto__":{"x402Version":2},"constructor":{}}',
    ]
    for (const body of bodies)
      expect((await post({ target: 'https://shop.example/x', body })).status, body.slice(0, 40)).toBe(200)
  })
})

describe('what is no sample', () => {
  it.each<[string, unknown, string]>([
    ['no target', { method: 'GET' }, '/target'],
    ['an empty target', { target: '' }, '/target'],
    ['a target that is a number', { target: 1 }, '/target'],
    ['a method with a space', { target: 'https://a.example', method: 'GET /' }, '/method'],
    ['headers that are a list', { target: 'https://a.example', headers: [] }, '/headers'],
    ['a header that is a number', { target: 'https://a.example', headers: { a: 1 } }, '/headers/a'],
    ['a member that is unknown', { target: 'https://a.example', headres: {} }, '/headres'],
    ['a time that is none', { target: 'https://a.example', evaluate_at: 'now' }, '/evaluate_at'],
    [
      'hints that are text',
      { target: 'https://a.example', tool_annotations: { readOnlyHint: 'yes' } },
      '/tool_annotations/readOnlyHint',
    ],
    ['a list', [], ''],
  ])('%s is invalid_sample, and says where', async (_, body, pointer) => {
    const answer = await post(body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_sample'])
    if (pointer !== '')
      expect(answer.body.fields.map((field: { pointer: string }) => field.pointer)).toContain(pointer)
  })

  it.each<[string, string]>([
    ['half of a JSON text', '{"target":'],
    [
      'JSON nested to depth 10,000',
      `{"target":"https://a.example","body":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    ],
  ])('%s is invalid_sample too', async (_, text) => {
    const answer = await postText(text)
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'invalid_sample'])
  })

  it('has one code at every door', async () => {
    for (const door of ['rest', 'mcp', 'a2a'] as const) {
      const { code } = await throughDoor[door](
        send,
        testTransaction as never,
        { target: 7 },
        gateway.operatorKey,
      )
      expect([door, code]).toEqual([door, 'invalid_sample'])
    }
  })

  it('is described so: no other code of a bad input is promised', async () => {
    const { body } = await gateway.rest('GET', '/openapi.json', undefined, '')
    const refusals = body.paths[POST_TEST].post.responses['400'].content['application/problem+json'].examples
    expect(Object.keys(refusals)).toContain('invalid_sample')
    expect(Object.keys(refusals).filter((code) => /^(?:input|json)_/.test(code))).toEqual([])
  })
})

describe('the schema', () => {
  it('needs no key, and lists everything a report can say', async () => {
    const { status, body } = await gateway.rest('GET', '/v1/test/schema', undefined, '')
    expect(status).toBe(200)
    const known = new Map<string, { max: number; dimension: string }>(
      body.checks.map((check: { id: string }) => [check.id, check]),
    )
    expect(known.size).toBe(body.checks.length)
    for (const sample of Object.values(SAMPLES)) {
      const report = TestReport.parse((await post(wire(sample))).body)
      expect(report.ruleset_version).toBe(body.ruleset_version)
      for (const { id, max, dimension } of report.checks)
        expect([id, known.get(id)]).toEqual([id, expect.objectContaining({ max, dimension })])
      const entry = body.protocols.find(({ protocol }: { protocol: string }) => protocol === report.protocol)
      expect([
        entry.protocol,
        entry.transports.includes(report.transport),
        entry.stages.includes(report.stage),
      ]).toEqual([report.protocol, true, true])
    }
  })

  it('has the weights, caps and levels of the rubric', async () => {
    const { body } = await gateway.rest('GET', '/v1/test/schema', undefined, '')
    expect(body.dimensions.reduce((sum: number, { weight }: { weight: number }) => sum + weight, 0)).toBe(100)
    expect(body.caps.map(({ max }: { max: number }) => max)).toEqual([
      20, 40, 40, 40, 40, 40, 60, 60, 60, 60, 60,
    ])
    expect(body.levels.map(({ min }: { min: number }) => min)).toEqual([90, 75, 50, 0])
    expect(body.sample.required).toEqual(['target'])
    expect(body.policy_reasons).toContainEqual(
      expect.objectContaining({ code: 'POLICY_AMOUNT_CAP_UNSET', severity: 'review' }),
    )
  })
})

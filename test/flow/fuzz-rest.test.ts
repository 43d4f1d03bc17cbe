// Anything on every REST endpoint: never a 5xx, always a documented status, a problem document with nothing of ours in it.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { errorsOf } from '../../src/core/tool-errors.ts'
import { ERRORS, type ErrorCode } from '../../src/core/errors.ts'
import { createRegistry, type RegisteredTool, type RestRoute } from '../../src/core/registry.ts'
import { tools } from '../../tools/index.ts'
import { fuzzInput, fuzzSeed, inFuzzOrder, type Json, LEAK } from '../support/fuzz.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

/** Few in `npm test`, a thousand in `npm run test:long`. */
const RUNS = inject('fuzzInputs')
/** Sent at the same time: a run of the property is one batch. */
const BATCH = 10

let gateway: TestGateway
let pool: Pool
let capability: string
beforeAll(async () => {
  console.log(`fuzz seed ${fuzzSeed}`)
  gateway = await startTestGateway({
    env: { GATEWAY_LOG_LEVEL: 'error', GATEWAY_SERVICE_KEY_CREDITS: '1000000' },
  })
  pool = new Pool(gateway.baseUrl, { connections: BATCH })
  capability = (await gateway.grant()).capability
})
afterAll(async () => {
  await pool?.close()
  await gateway?.close()
})

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

interface Sent {
  readonly path: string
  readonly body: string | undefined
}

/** An input as a request: path values and query as text, or a JSON body; now and then not even JSON. */
function asRequest(route: RestRoute, input: Json, garbage: string | undefined): Sent {
  const object = typeof input === 'object' && input !== null && !Array.isArray(input) ? { ...input } : {}
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = object[name]
    if (route.method === 'POST') delete object[name]
    return encodeURIComponent(text(value)) || 'x'
  })
  if (route.method === 'POST') {
    const isWhole = typeof input !== 'object' || input === null || Array.isArray(input)
    return { path, body: garbage ?? JSON.stringify(isWhole ? input : object) }
  }
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
  const pairs = Object.entries(object).filter(([name]) => !inPath.includes(name))
  const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, text(value)]))
  return {
    path: `${path}?${garbage === undefined ? query : encodeURI(garbage.toWellFormed())}`,
    body: undefined,
  }
}

/** Short and well-formed: a lone surrogate has no percent-encoding. */
const text = (value: Json | undefined) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 500).toWellFormed()

const tokenOf = ({ tool }: RegisteredTool) =>
  tool.caller === 'capability' ? capability : gateway.operatorKey

const routes = inFuzzOrder(createRegistry(tools).tools)
  // What passes messages on parses none: edge-path.test.ts sends it anything.
  .filter(({ tool }) => tool.doors.includes('rest') && !tool.passes)
  .flatMap((entry) =>
    entry.tool.rest.map((route) => ({ entry, route, name: `${route.method} ${route.path}` })),
  )

describe.each(routes)('$name', ({ entry, route }) => {
  const documented = new Set(errorsOf(entry.tool, route))
  const isOutput = ajv.compile(entry.outputSchema)

  async function check({ path, body }: Sent): Promise<void> {
    const response = await pool.request({
      method: route.method,
      path,
      headers: {
        authorization: `Bearer ${tokenOf(entry)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    })
    const answer = await response.body.text()
    expect(answer).not.toMatch(LEAK)
    if (response.statusCode < 400) {
      expect(isOutput(JSON.parse(answer)), JSON.stringify(isOutput.errors)).toBe(true)
      return
    }
    expect(response.headers['content-type']).toBe('application/problem+json')
    const problem = JSON.parse(answer) as { code: ErrorCode; status: number; detail: string }
    expect([...documented]).toContain(problem.code)
    // A 5xx is an answer only where it says what became of an outbound request.
    if (!entry.tool.errors.includes(problem.code)) expect(response.statusCode, answer).toBeLessThan(500)
    expect(problem.status).toBe(response.statusCode)
    expect(ERRORS[problem.code].status).toBe(response.statusCode)
    expect(problem.detail).not.toBe('')
  }

  it(`answers ${RUNS} inputs properly`, async () => {
    const garbage = fc.option(fc.string({ unit: 'binary' }), { freq: 20, nil: undefined })
    const inScope = { url: gateway.url('/fuzz'), method: 'POST', headers: { accept: '*/*' }, body: 'x' }
    const examples = entry.tool.examples.map(({ input }) => input)
    // One that surely arrives comes first: few random ones name a place that the capability covers.
    const arrives: [[Json, string | undefined][]][] = []
    if (entry.tool.name === 'gateway.egress.fetch') {
      examples.push(inScope)
      arrives.push([[[inScope, undefined]]])
    }
    const input = fc.tuple(fuzzInput(entry.inputSchema, examples), garbage)
    const batch = fc.array(input, { minLength: BATCH, maxLength: BATCH })
    await fc.assert(
      fc.asyncProperty(batch, async (inputs) => {
        await Promise.all(inputs.map(([value, broken]) => check(asRequest(route, value, broken))))
      }),
      { numRuns: RUNS / BATCH, seed: fuzzSeed, endOnFailure: true, examples: arrives },
    )
  })
})

it('reached the upstream with some, and logged no internal error', () => {
  expect(gateway.upstream.requests.length).toBeGreaterThan(0)
  expect(gateway.log()).not.toMatch(/"code":"internal"/)
})

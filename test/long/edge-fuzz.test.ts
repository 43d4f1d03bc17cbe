// Any headers and any body: a documented refusal, or a message that arrives without what must not cross the edge; and any
// answer of the merchant: what comes back to the buyer holds nothing that speaks for the gateway.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { errorsOf } from '../../src/core/tool-errors.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import { edgeForward } from '../../tools/edge-forward.ts'
import { startEdgeGateway, type EdgeGateway } from '../support/edge.ts'

let edge: EdgeGateway
beforeAll(async () => {
  edge = await startEdgeGateway({
    env: { GATEWAY_SERVICE_KEY_CREDITS: '100000', GATEWAY_LOG_LEVEL: 'error' },
    nameTtlSeconds: 300,
  })
})
afterAll(() => edge?.close())

const documented = new Set<string>(errorsOf(edgeForward as unknown as AnyTool, edgeForward.rest[0]!))
const STAYS =
  /^(?:cookie2?|x-gateway-.*|x-forwarded-.*|x-real-ip|keep-alive|te|trailer|upgrade|expect|proxy-.*|transfer-encoding)$/

const name = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'Authorization',
      'Connection',
      'Content-Encoding',
      'Content-Type',
      'Cookie',
      'Cookie2',
      'Forwarded',
      'Idempotency-Key',
      'Keep-Alive',
      'Payment-Signature',
      'Proxy-Authorization',
      'TE',
      'Trailer',
      'Via',
      'X-Forwarded-For',
      'X-Gateway-Quote',
      'X-PAYMENT',
      'X-Real-IP',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
      .filter((text) => !/^(?:host|content-length|transfer-encoding|upgrade|expect)$/i.test(text)),
  },
)
const value = fc.oneof(
  fc.constantFrom('application/json', 'Payment e30', 'close, authorization', 'e30=', '', 'gzip', '1.1 a'),
  fc
    .array(
      fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f),
      { maxLength: 20 },
    )
    .map((codes) => String.fromCharCode(...codes).trim()),
)
const headers = fc.array(fc.tuple(name, value), { maxLength: 8 })
const body = fc.oneof(
  fc.jsonValue().map((json) => Buffer.from(JSON.stringify(json))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
)

it('whatever a buyer sends', async () => {
  edge.upstream.respond((_request, res) => res.end())
  let arrivals = 0
  await fc.assert(
    fc.asyncProperty(headers, body, async (sent, bytes) => {
      const before = edge.upstream.requests.length
      const answer = await edge.send(`${edge.merchant}/v1`, {
        headers: [...sent, ['Connection', 'close']],
        body: bytes,
      })
      const arrived = edge.upstream.requests.slice(before)
      if (answer.status !== 200) {
        expect(arrived).toEqual([])
        expect([...documented]).toContain(answer.problem.code)
        expect(answer.status).toBeLessThan(500)
        return
      }
      arrivals++
      expect(arrived).toHaveLength(1)
      const [{ headers: seen, body: seenBody }] = arrived as [(typeof arrived)[number]]
      expect(seenBody.equals(bytes)).toBe(true)
      expect(seen.filter(([known]) => STAYS.test(known))).toEqual([])
      expect(seen.filter(([known]) => known === 'forwarded')).toHaveLength(1)
      expect(seen.filter(([known]) => known === 'host')).toHaveLength(1)
      expect(seen.filter(([known]) => known === 'idempotency-key')).toHaveLength(1)
    }),
    { numRuns: 300 },
  )
  expect(arrivals).toBeGreaterThan(50)
})

it('whatever a merchant answers', async () => {
  const status = fc.constantFrom(200, 201, 204, 301, 304, 400, 402, 404, 500, 503, 599)
  const answerName = fc.oneof(
    fc.constantFrom(
      'Set-Cookie',
      'X-Gateway-Attempt',
      'X-Gateway-Receipt',
      'X-Request-Id',
      'Strict-Transport-Security',
      'Via',
      'Location',
      'Content-Security-Policy',
      'X-Content-Type-Options',
      'WWW-Authenticate',
      'Payment-Required',
      'Clear-Site-Data',
      'Date',
    ),
    fc
      .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
      .filter((text) => !/^(?:content-length|transfer-encoding|connection|upgrade)$/i.test(text)),
  )
  await fc.assert(
    fc.asyncProperty(
      status,
      fc.array(fc.tuple(answerName, value), { maxLength: 8 }),
      body,
      async (code, given, bytes) => {
        const hasBody = code !== 204 && code !== 304
        edge.upstream.respond((_request, res) =>
          res.writeHead(code, given.flat()).end(hasBody ? bytes : undefined),
        )
        const answer = await edge.send(`${edge.merchant}/v1`)
        expect(answer.status).toBe(code)
        if (hasBody) expect(answer.body.equals(bytes)).toBe(true)
        const all = (wanted: string) =>
          answer.headers.filter(([known]) => known === wanted).map(([, text]) => text)
        for (const gone of ['set-cookie', 'strict-transport-security', 'clear-site-data'])
          expect(all(gone)).toEqual([])
        for (const [own, shape] of [
          ['x-gateway-attempt', /^att_/],
          ['x-gateway-receipt', /^eyJ/],
          ['x-request-id', /^req_/],
          ['x-content-type-options', /^nosniff$/],
        ] as const)
          expect(all(own)).toEqual([expect.stringMatching(shape)])
        expect(all('content-security-policy').at(-1)).toBe('sandbox')
        const passed = given.filter(([known]) => /^(?:www-authenticate|payment-required)$/i.test(known))
        for (const wanted of ['www-authenticate', 'payment-required'])
          expect(all(wanted)).toEqual(
            passed.filter(([known]) => known.toLowerCase() === wanted).map(([, text]) => text),
          )
      },
    ),
    { numRuns: 300 },
  )
})

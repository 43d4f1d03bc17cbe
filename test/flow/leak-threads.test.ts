// An answer that could not be searched for the credential, seen from outside.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Unsearched } from '../../src/egress/leak/inspection.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
let capability: string
let reason: Unsearched['reason']
beforeAll(async () => {
  gw = await startTestGateway({
    createLeakGate: () => ({ inspect: async () => ({ ok: false, reason }) }),
  })
  ;({ capability } = await gw.grant({ secret: 'upstream-secret-1' }))
})
afterAll(() => gw.close())

it.each([
  ['over_budget', /takes more than the gateway allows \(ask the upstream for less/],
  ['busy', /send fewer at once/],
  ['failed', /look the attempt up before you send again/],
] as const)('is withheld, charged and reported (%s)', async (given, words) => {
  reason = given
  gw.upstream.respond((_request, res) => res.writeHead(201).end('the-unsearched-answer'))
  const answer = await gw.fetch(capability, { url: gw.url('/v1/things'), method: 'POST' })
  expect([answer.status, answer.body.code]).toEqual([502, 'response_unacceptable'])
  expect(answer.body.detail).toMatch(words)
  expect(answer.text).not.toContain('the-unsearched-answer')
  expect(answer.body).toMatchObject({ upstream_status: 201, credits: { charged: 1 } })
  expect(answer.body.receipt.jws).toBeTypeOf('string')
  const attempt = await gw.rest('GET', `/v1/egress/attempts/${answer.body.attempt_id}`)
  expect(attempt.body).toMatchObject({
    state: 'settled',
    outcome: `response_unsearched_${given}`,
    upstream_status: 201,
    response_digest: null,
  })
  expect(gw.log()).toContain('"event":"response_unsearched"')
  expect(gw.log()).not.toContain('the-unsearched-answer')
})

// One permit in many hands at the same moment: one of them sends, and every other one learns which attempt did.
import { afterEach, describe, expect, it } from 'vitest'
import {
  createWorld,
  ENGINES,
  type RestAnswer,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
} from '../support/gateway.ts'

const AT_ONCE = 50

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function open(...args: Parameters<typeof startTestGateway>): Promise<TestGateway> {
  const gateway = await startTestGateway(...args)
  closing.push(() => gateway.close())
  return gateway
}

async function prepare(gw: TestGateway, request: { url: string; method: string; body?: string }) {
  const { credentialId } = await gw.grant()
  const { status, text, body } = await gw.rest('POST', '/v1/actions/permits', {
    credential_id: credentialId,
    request,
    mandate: {
      purpose: 'Send it once',
      credential_id: credentialId,
      host: `${UPSTREAM_HOST}:${gw.upstream.port}`,
      methods: [request.method],
      max_calls: 1,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
  })
  if (status !== 201) throw new Error(`permit: ${text}`)
  return {
    permitId: body.permit_id as string,
    execute: (gateway: TestGateway, sent = request) =>
      gateway.rest('POST', '/v1/actions/execute', { permit: body.permit, request: sent }, ''),
  }
}

/** One answer of the upstream, and for everybody else a refusal that names its attempt. */
function expectOneOf(answers: readonly RestAnswer[]): string {
  const [sent, ...more] = answers.filter(({ status }) => status === 200)
  expect(more).toEqual([])
  const attemptId: string = sent!.body.attempt_id
  const others = answers.filter((answer) => answer !== sent)
  expect(new Set(others.map(({ status, body }) => `${status} ${body.code} ${body.conflict}`))).toEqual(
    new Set(['409 permit_used replay']),
  )
  expect(new Set(others.map(({ body }) => body.attempt_id))).toEqual(new Set([attemptId]))
  return attemptId
}

async function expectPaidOnce(gw: TestGateway, permitId: string, attemptId: string) {
  const { ledger } = (await gw.rest('GET', '/v1/credits?limit=100')).body
  expect(ledger.filter(({ kind }: { kind: string }) => kind !== 'grant')).toMatchObject([
    { kind: 'action', amount: -1 },
  ])
  const permit = (await gw.rest('GET', `/v1/actions/permits/${permitId}`)).body
  expect(permit).toMatchObject({ state: 'executed', attempt_id: attemptId })
  expect((await gw.rest('GET', '/v1/actions/stats')).body).toMatchObject({
    executions: { started: 1, settled: 1, in_flight: 0 },
    credits: { charged: 1, net: 1 },
  })
  const { mandates } = (await gw.rest('GET', '/v1/actions/mandates')).body
  expect(mandates).toMatchObject([{ calls: 1, credits: 1 }])
}

describe.each(ENGINES)('many executions of one permit at once (%s)', (engine) => {
  it('send one request, and tell all the others which attempt it was', async () => {
    const gw = await open({ engine })
    const { permitId, execute } = await prepare(gw, { url: gw.url('/once'), method: 'POST', body: 'order 1' })
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => execute(gw)))
    const attemptId = expectOneOf(answers)
    expect(gw.upstream.requests.map(({ body }) => body.toString())).toEqual(['order 1'])
    await expectPaidOnce(gw, permitId, attemptId)
  })

  it('refuse the others at once while the first one still waits for its upstream', async () => {
    const gw = await open({ engine })
    const { execute } = await prepare(gw, { url: gw.url('/slow'), method: 'POST' })
    const arrived = Promise.withResolvers<() => void>()
    gw.upstream.respond((_request, res) => arrived.resolve(() => res.writeHead(200).end('late')))
    const first = execute(gw)
    const release = await arrived.promise
    const others = await Promise.all(Array.from({ length: 5 }, () => execute(gw)))
    release()
    expectOneOf([await first, ...others])
    expect(gw.upstream.requests).toHaveLength(1)
  })
})

describe('one permit over two gateways on one database', () => {
  it('is executed by one of them, and both name that attempt', async () => {
    const world = await createWorld({ engine: 'postgres' })
    closing.push(() => world.close())
    const one = await open({ world })
    const two = await open({ world })
    const { permitId, execute } = await prepare(one, { url: world.url('/once'), method: 'POST' })
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => execute(index % 2 === 0 ? one : two)),
    )
    const attemptId = expectOneOf(answers)
    expect(world.upstream.requests).toHaveLength(1)
    for (const gateway of [one, two]) {
      expectReplayOf(await execute(gateway), attemptId)
      await expectPaidOnce(gateway, permitId, attemptId)
    }
  })
})

function expectReplayOf({ status, body }: RestAnswer, attemptId: string) {
  expect({ status, code: body.code, attempt: body.attempt_id }).toEqual({
    status: 409,
    code: 'permit_used',
    attempt: attemptId,
  })
}

// kill -9 of the real server at every step of a permit's execution, then a restart: the permit was used by at most one
// attempt, and permit, mandate, credits, counters and the upstream's own log tell the same story.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ActionStats, MandateRecord, PermitRecord } from '../../schemas/actions.ts'
import type { AttemptRecord } from '../../schemas/egress.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { type CrashCase, crashCases, faultOf, isCharged, labelOf } from '../support/crash-cases.ts'
import { createWorld, type Engine, UPSTREAM_HOST, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess, untilUnlocked } from '../support/gateway-process.ts'

const CREDITS = 100

/** Those that leave a permit to be executed come last: it has to live until the end. */
const unusedLast = (cases: readonly CrashCase[]) =>
  cases.toSorted((a, b) => Number(a.expected.state === 'none') - Number(b.expected.state === 'none'))

/** The method changes the request and nothing about the rows, so one engine tells both. */
const SUITES: readonly { engine: Engine; cases: readonly CrashCase[] }[] = [
  { engine: 'sqlite', cases: unusedLast(crashCases(['GET', 'POST'])) },
  { engine: 'postgres', cases: unusedLast(crashCases(['POST'])) },
]

interface Snapshot {
  readonly attempts: readonly AttemptRecord[]
  readonly balance: number
  readonly mandate: Pick<MandateRecord, 'calls' | 'credits'>
  readonly stats: ActionStats
}
interface Prepared {
  readonly permit: string
  readonly permitId: string
  readonly request: { readonly url: string; readonly method: string }
}
/** What a case left behind, as the next process found it. */
interface Left extends Prepared {
  readonly record: PermitRecord
  readonly attempts: readonly AttemptRecord[]
  readonly spent: number
  /** Given back to the mandate. */
  readonly returned: { readonly calls: number; readonly credits: number }
}

describe.each(SUITES)('kill -9 in an execution ($engine)', ({ engine, cases }) => {
  let world: World
  let survivor: GatewayProcess
  let mandateId: string
  let credentialId: string
  const left = new Map<string, Left>()
  let prepared = 0

  async function look(gateway: GatewayProcess): Promise<Snapshot> {
    const mandates: MandateRecord[] = (await gateway.rest('GET', '/v1/actions/mandates')).body.mandates
    return {
      attempts: (await gateway.rest('GET', '/v1/egress/attempts?limit=100')).body.attempts,
      balance: await gateway.balance(),
      mandate: mandates.find(({ mandate_id }) => mandate_id === mandateId)!,
      stats: (await gateway.rest('GET', '/v1/actions/stats')).body,
    }
  }

  async function prepare(gateway: GatewayProcess, request: Prepared['request']): Promise<Prepared> {
    const { status, body, text } = await gateway.rest('POST', '/v1/actions/permits', {
      credential_id: credentialId,
      mandate_id: mandateId,
      request,
    })
    if (status !== 201) throw new Error(`permit: ${text}`)
    prepared++
    return { permit: body.permit, permitId: body.permit_id, request }
  }

  const execute = (gateway: GatewayProcess, { permit, request }: Prepared) =>
    gateway.rest('POST', '/v1/actions/execute', { permit, request }, '')

  beforeAll(async () => {
    world = await createWorld({
      engine,
      nameTtlSeconds: 60,
      env: { GATEWAY_SERVICE_KEY_CREDITS: String(CREDITS) },
    })
    let before: { one: CrashCase; prepared: Prepared; snapshot: Snapshot } | undefined

    async function collect(gateway: GatewayProcess): Promise<void> {
      if (!before) return
      const now = await look(gateway)
      const { snapshot } = before
      left.set(labelOf(before.one), {
        ...before.prepared,
        record: (await gateway.rest('GET', `/v1/actions/permits/${before.prepared.permitId}`)).body,
        attempts: now.attempts.slice(0, now.attempts.length - snapshot.attempts.length),
        spent: snapshot.balance - now.balance,
        returned: {
          calls: snapshot.mandate.calls - now.mandate.calls,
          credits: snapshot.mandate.credits - now.mandate.credits,
        },
      })
    }

    for (const one of cases) {
      // The process of the next case is the one that recovers from this one.
      const gateway = await startGatewayProcess(world, { GATEWAY_FAULT: faultOf(one) })
      credentialId ??= (await gateway.grant()).credentialId
      mandateId ??= (await gateway.rest('POST', '/v1/actions/mandates', mandateOn(credentialId, world))).body
        .mandate_id
      await collect(gateway)
      const url = world.url(`/${labelOf(one)}`)
      if (one.remembered) {
        const first = await prepare(gateway, { url: world.url('/before'), method: one.method })
        expect((await execute(gateway, first)).status).toBe(200)
      }
      const permit = await prepare(gateway, { url, method: one.method })
      before = { one, prepared: permit, snapshot: await look(gateway) }
      await expect(execute(gateway, permit)).rejects.toThrow()
      expect((await gateway.process.ended).signal).toBe('SIGKILL')
      await untilUnlocked(world)
    }
    survivor = await startGatewayProcess(world)
    await collect(survivor)
  }, 1_200_000)
  afterAll(async () => {
    await survivor?.stop()
    await world?.close()
  })

  const seenByUpstream = (one: CrashCase) =>
    world.upstream.requests.filter(({ target }) => target === `/${labelOf(one)}`)

  it.each(cases)(
    '$point, $method, name remembered: $remembered: permit, mandate and credits say what the upstream saw',
    async (one) => {
      const { expected } = one
      const { record, attempts, spent, returned, permitId } = left.get(labelOf(one))!
      expect(expected.sent).toContain(seenByUpstream(one).length)
      expect(attempts.map(({ state }) => state)).toEqual(expected.state === 'none' ? [] : [expected.state])
      expect(spent).toBe(isCharged(one) ? 1 : 0)
      const [attempt] = attempts
      expect(record).toMatchObject(
        attempt === undefined
          ? { state: 'ready', attempt_id: null }
          : { state: 'executed', attempt_id: attempt.attempt_id },
      )
      const isReturned = expected.state === 'refunded' ? 1 : 0
      expect(returned).toEqual({ calls: isReturned, credits: isReturned })
      if (attempt === undefined || !isCharged(one)) return
      const { jws } = (await survivor.rest('GET', `/v1/receipts/${attempt.receipt_id}`, undefined, '')).body
      const jwks = (await survivor.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
      expect(await verifyJws(jws, jwks, JWS_TYPES.receipt)).toMatchObject({
        ok: true,
        payload: {
          action: 'actions.execute',
          attempt_id: attempt.attempt_id,
          state: expected.state,
          charge: { amount: 1 },
        },
      })
      expect((await survivor.rest('GET', `/v1/actions/permits/${permitId}`)).body.attempt_id).toBe(
        attempt.attempt_id,
      )
    },
  )

  it('a permit that an attempt used is a replay naming it, and one that none used works once', async () => {
    const sent = world.upstream.requests.length
    let unused = 0
    for (const one of cases) {
      const held = left.get(labelOf(one))!
      let attemptId = held.attempts[0]?.attempt_id
      if (attemptId === undefined) {
        const first = await execute(survivor, held)
        expect(first.status).toBe(200)
        attemptId = first.body.attempt_id
        unused++
      }
      const again = await execute(survivor, held)
      expect([again.status, again.body.code]).toEqual([409, 'permit_used'])
      expect(again.body).toMatchObject({ conflict: 'replay', attempt_id: attemptId })
    }
    expect(unused).toBe(cases.filter(({ expected: { state } }) => state === 'none').length)
    expect(world.upstream.requests.length - sent).toBe(unused)
  })

  it('ledger, counters and mandate agree with the attempts', async () => {
    const { balance, ledger } = (await survivor.rest('GET', '/v1/credits?limit=100')).body
    const entries = (kind: string): { amount: number; reference: string }[] =>
      ledger.filter((entry: { kind: string }) => entry.kind === kind)
    const sum = (kind: string) => entries(kind).reduce((total, { amount }) => total + amount, 0)
    const { attempts, mandate, stats } = await look(survivor)
    const count = (state: string) => attempts.filter((attempt) => attempt.state === state).length

    expect(sum('grant')).toBe(CREDITS)
    expect(sum('egress')).toBe(0)
    expect(balance).toBe(CREDITS + sum('action') + sum('refund'))
    expect(new Set(entries('action').map(({ reference }) => reference)).size).toBe(attempts.length)
    expect(entries('refund')).toHaveLength(count('refunded'))
    expect(stats).toMatchObject({
      permits: { prepared },
      executions: {
        started: attempts.length,
        settled: count('settled'),
        ambiguous: count('ambiguous'),
        refunded: count('refunded'),
        in_flight: 0,
      },
      credits: { charged: -sum('action'), refunded: sum('refund'), net: CREDITS - balance },
    })
    // Every permit was executed by now; what was refunded is the mandate's again.
    expect(mandate).toMatchObject({
      calls: prepared - count('refunded'),
      credits: prepared - count('refunded'),
    })
  })
})

const mandateOn = (credentialId: string, world: World) => ({
  purpose: 'Find out what a crash leaves behind',
  credential_id: credentialId,
  host: `${UPSTREAM_HOST}:${world.upstream.port}`,
  path_prefix: '/',
  methods: ['GET', 'POST'],
  max_calls: 1000,
  max_credits: 1000,
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
})

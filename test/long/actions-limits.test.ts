// Limits of a mandate while everything happens at once, on both engines.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { MAX_PENDING_PERMITS } from '../../src/actions/ports.ts'
import { ENGINES, type RestAnswer, startTestGateway, type TestGateway } from '../support/gateway.ts'

describe.each(ENGINES)('a mandate (%s)', (engine) => {
  let gw: TestGateway
  let actions: ActionsClient
  beforeAll(async () => {
    gw = await startTestGateway({ engine })
    actions = await createActionsClient(gw, gw.url)
  })
  afterAll(() => gw.close())

  const codes = (answers: readonly RestAnswer[]) => {
    const counted: Record<string, number> = {}
    for (const { status, body } of answers) {
      const word = status < 300 ? String(status) : `${status} ${body.refused ?? body.code}`
      counted[word] = (counted[word] ?? 0) + 1
    }
    return counted
  }
  const askAll = (
    count: number,
    mandate: Body,
    make = (index: number): Body => actions.request({ body: `${index}` }),
  ) =>
    Promise.all(Array.from({ length: count }, (_, index) => actions.ask({ request: make(index), mandate })))

  it.each<[string, Body]>([
    ['calls', { max_calls: 7 }],
    ['credits', { max_calls: undefined, max_credits: 7 }],
    ['both', { max_calls: 7, max_credits: 20 }],
  ])('of 7 %s gives 7 permits to 50 who ask at once, given in full each time', async (_what, limit) => {
    const mandate = actions.mandate(limit)
    const answers = await askAll(50, mandate)
    expect(codes(answers)).toEqual({ 201: 7, '428 used_up': 43 })
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.mandate_id))
    expect(ids.size).toBe(1)
    expect(await actions.mandateOf([...ids][0])).toMatchObject({ calls: 7, credits: 7 })
  })

  it('is used up by permits, not by refusals of any kind', async () => {
    const mandate = actions.mandate({ max_calls: 3 })
    const out = (index: number): Body =>
      index % 2 === 0 ? actions.request({ url: gw.url('/v2/orders') }) : actions.request({ method: 'PATCH' })
    expect(codes(await askAll(10, mandate, out))).toEqual({ '428 path': 5, '428 method': 5 })
    expect(codes(await askAll(4, mandate))).toEqual({ 201: 3, '428 used_up': 1 })
  })

  it('gets back exactly what refusals free, while others ask', async () => {
    const mandate = actions.mandate({ max_calls: 5, requires_approval: true })
    const first = await askAll(5, mandate)
    const { mandate_id } = first[0]!.body
    const decided = await Promise.all([
      ...first.map(({ body: { permit_id } }) => gw.rest('POST', `/v1/actions/permits/${permit_id}/refuse`)),
      ...first.map(({ body: { permit_id } }) => gw.rest('POST', `/v1/actions/permits/${permit_id}/refuse`)),
      ...first.map(({ body: { permit_id } }) => gw.rest('POST', `/v1/actions/permits/${permit_id}/approve`)),
    ])
    // Each was decided once; of whoever came second, nobody changed anything.
    expect(decided.filter(({ status }) => status === 200)).toHaveLength(5)
    const { calls } = (await actions.mandateOf(mandate_id)) as { calls: number }
    const approved = decided.filter(
      ({ body: { state }, status }) => status === 200 && state === 'ready',
    ).length
    expect(calls).toBe(approved)
    expect(codes(await askAll(10, mandate))).toEqual({ 201: 5 - approved, '428 used_up': 5 + approved })
  })

  it('that is revoked in the middle lets no permit through that was not executed before', async () => {
    const mandate = actions.mandate({ max_calls: 30 })
    const permits = await Promise.all(
      Array.from({ length: 10 }, () => actions.prepare(actions.request(), mandate)),
    )
    const before = gw.upstream.requests.length
    const { mandate_id } = permits[0]!
    const answers = await Promise.all([
      ...permits.slice(0, 5).map(({ permit }) => actions.execute(permit)),
      gw.rest('POST', `/v1/actions/mandates/${mandate_id}/revoke`, {}),
      ...permits.slice(5).map(({ permit }) => actions.execute(permit)),
    ])
    const executed = answers.filter(({ body }) => body.upstream !== undefined)
    expect(gw.upstream.requests.length - before).toBe(executed.length)
    for (const { status, body } of answers)
      if (status !== 200) expect([body.code, body.why]).toEqual(['permit_revoked', 'mandate_revoked'])
    const late = await Promise.all(permits.map(({ permit }) => actions.execute(permit)))
    expect(late.every(({ body }) => body.code === 'permit_revoked' || body.code === 'permit_used')).toBe(true)
    expect(gw.upstream.requests.length - before).toBe(executed.length)
  })
})

describe('permits that wait for approval', () => {
  it('are so many that a person may read them, whatever their mandates would allow', async () => {
    const gw = await startTestGateway()
    try {
      const actions = await createActionsClient(gw, gw.url)
      const mandate = actions.mandate({ requires_approval: true, max_calls: 1000 })
      const ask = (terms = mandate) => actions.ask({ request: actions.request(), mandate: terms })
      for (let asked = 0; asked < MAX_PENDING_PERMITS; asked += 50)
        await Promise.all(Array.from({ length: 50 }, () => ask()))
      const refused = await ask(actions.mandate({ requires_approval: true }))
      expect([refused.status, refused.body.code]).toEqual([409, 'state_conflict'])
      // Of those that nobody reads there may be more, and a decision makes room.
      const { permit_id } = await actions.prepare()
      expect(await actions.permitOf(permit_id)).toMatchObject({ state: 'ready' })
      const { body } = await gw.rest('GET', '/v1/actions/permits?state=pending_approval&limit=1')
      await gw.rest('POST', `/v1/actions/permits/${body.permits[0].permit_id}/refuse`)
      expect([(await ask()).status, (await ask()).status]).toEqual([201, 409])
    } finally {
      await gw.close()
    }
  })
})

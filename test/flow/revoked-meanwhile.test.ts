// What is revoked, deleted or replaced between the debit of a call and its first byte: nothing goes out. While the upstream works: nothing comes back.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'

const DOORS = ['rest', 'via'] as const
const ENDS = ['capability', 'ancestor', 'credential', 'delete'] as const
/** What leaves a credential that a call may go out with. */
const REPLACEMENTS = ['rotate', 'edit'] as const
type Change = (typeof ENDS | typeof REPLACEMENTS)[number]
let gw: TestGateway
let ahead = 0
beforeAll(async () => {
  gw = await startTestGateway({
    env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' },
    now: () => Date.now() + ahead,
  })
})
afterAll(() => gw.close())
afterEach(() => void vi.restoreAllMocks())

let grants = 0
async function grant() {
  const hosts = [`${UPSTREAM_HOST}:${gw.upstream.port}`]
  const label = `own-${++grants}`
  const granted = await gw.grant({ secret: 'old-secret-value-1', credential: { label, hosts } })
  const narrowed = await gw.rest(
    'POST',
    '/v1/egress/capabilities/narrow',
    { label: 'part' },
    granted.capability,
  )
  return { ...granted, label, narrowed: narrowed.body as { capability: string; capability_id: string } }
}
type Granted = Awaited<ReturnType<typeof grant>>

const changes: Record<Change, (granted: Granted) => Promise<{ status: number }>> = {
  capability: ({ narrowed }) =>
    gw.rest('POST', `/v1/egress/capabilities/${narrowed.capability_id}/revoke`, {}),
  ancestor: ({ capabilityId }) => gw.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`, {}),
  credential: ({ credentialId }) => gw.rest('POST', `/v1/egress/credentials/${credentialId}/revoke`, {}),
  delete: ({ credentialId }) => gw.rest('POST', `/v1/egress/credentials/${credentialId}/delete`, {}),
  rotate: ({ credentialId }) =>
    gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { secret: 'new-secret-value-2' }),
  edit: ({ credentialId }) =>
    gw.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, { methods: ['GET', 'POST', 'PUT'] }),
}
const REFUSALS: Record<(typeof ENDS)[number], readonly [status: number, code: string, outcome: string]> = {
  capability: [401, 'capability_invalid', 'capability_gone'],
  ancestor: [401, 'capability_invalid', 'capability_gone'],
  credential: [403, 'scope_denied', 'credential_gone'],
  delete: [403, 'scope_denied', 'credential_gone'],
}

async function ask(door: (typeof DOORS)[number], { label, narrowed }: Granted, sentBody = '{}') {
  if (door === 'rest')
    return gw.fetch(narrowed.capability, { url: gw.url('/v1/things'), method: 'POST', body: sentBody })
  const answer = await fetch(`${gw.baseUrl}/via/${label}/v1/things`, {
    method: 'POST',
    body: sentBody,
    headers: { authorization: `Bearer ${narrowed.capability}` },
  })
  const text = await answer.text()
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}
/** Its name took a second, in which this was done: the attempt is paid for, and nothing has left. */
async function whileResolving<T>(
  asking: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
  times = 1,
): Promise<T> {
  const { markSending } = gw.store
  const spied = vi.spyOn(gw.store, 'markSending')
  for (let time = 0; time < times; time++)
    spied.mockImplementationOnce(async (input) => {
      await meanwhile()
      ahead += 1_000
      return markSending(input)
    })
  return asking()
}

describe.each(DOORS)('before the first byte of a request leaves (%s)', (door) => {
  it.each(ENDS)('nothing of it goes out: %s', async (change) => {
    const granted = await grant()
    const sent = gw.upstream.requests.length
    const { status, body } = await whileResolving(
      () => ask(door, granted),
      async () => expect((await changes[change](granted)).status).toBe(200),
    )
    const [refusal, code, outcome] = REFUSALS[change]
    expect({ status, code: body.code, credits: body.credits }).toMatchObject({
      status: refusal,
      code,
      credits: { charged: 0 },
    })
    expect(gw.upstream.requests.length).toBe(sent)
    expect((await gw.rest('GET', `/v1/egress/attempts/${body.attempt_id}`)).body).toMatchObject({
      state: 'refunded',
      outcome,
      credits_charged: 0,
    })
  })

  describe.each(REPLACEMENTS)('its credential is replaced (%s)', (change) => {
    const replace = async (granted: Granted) => expect((await changes[change](granted)).status).toBe(200)
    const attemptsOf = async ({ narrowed }: Granted) =>
      (await gw.rest('GET', '/v1/egress/attempts', undefined, narrowed.capability)).body.attempts.map(
        ({ state, outcome, credits_charged }: Record<string, unknown>) => [state, outcome, credits_charged],
      )
    const REFUNDED = ['refunded', 'credential_changed', 0]

    it('begins anew with what stands now', async () => {
      const granted = await grant()
      const sent = gw.upstream.requests.length
      const { status } = await whileResolving(
        () => ask(door, granted),
        () => replace(granted),
      )
      expect(status).toBe(200)
      const received = gw.upstream.requests.slice(sent)
      expect(received.map(({ body }) => body.toString())).toEqual(['{}'])
      expect(received[0]!.headers).toContainEqual([
        'authorization',
        `Bearer ${change === 'rotate' ? 'new-secret-value-2' : 'old-secret-value-1'}`,
      ])
      expect(await attemptsOf(granted)).toEqual([['settled', 'delivered', 1], REFUNDED])
    })

    it('begins anew once, and then says to send it again', async () => {
      const granted = await grant()
      const sent = gw.upstream.requests.length
      const { status, body } = await whileResolving(
        () => ask(door, granted),
        () => replace(granted),
        2,
      )
      expect([status, body.code, body.credits.charged]).toEqual([409, 'state_conflict', 0])
      expect(gw.upstream.requests.length).toBe(sent)
      expect(await attemptsOf(granted)).toEqual([REFUNDED, REFUNDED])
    })
  })

  it('it is judged anew where its credential does not cover it any more', async () => {
    const granted = await grant()
    const sent = gw.upstream.requests.length
    const { status, body } = await whileResolving(
      () => ask(door, granted),
      () => gw.rest('POST', `/v1/egress/credentials/${granted.credentialId}/edit`, { methods: ['GET'] }),
    )
    expect([status, body.code]).toEqual([403, 'scope_denied'])
    expect(gw.upstream.requests.length).toBe(sent)
  })

  it('nothing of it goes out where people have to be asked by now', async () => {
    const granted = await grant()
    const sent = gw.upstream.requests.length
    const { status, body } = await whileResolving(
      () => ask(door, granted),
      () =>
        gw.rest('POST', `/v1/egress/credentials/${granted.credentialId}/edit`, {
          settings: { rules: ['ask POST *', 'allow * *'] },
        }),
    )
    expect([status, body.code, body.rule]).toEqual([403, 'scope_denied', 'ask POST *'])
    expect(gw.upstream.requests.length).toBe(sent)
  })

  it('it goes out where nothing was changed', async () => {
    const granted = await grant()
    const sent = gw.upstream.requests.length
    expect(
      (
        await whileResolving(
          () => ask(door, granted),
          async () => {},
        )
      ).status,
    ).toBe(200)
    expect(gw.upstream.requests.length).toBe(sent + 1)
  })
})

it('a call under a key of its caller begins anew under it', async () => {
  const granted = await grant()
  const asked = { url: gw.url('/v1/things'), method: 'POST', body: '{}', idempotency_key: 'order-1' }
  const sent = gw.upstream.requests.length
  const first = await whileResolving(
    () => gw.fetch(granted.capability, asked),
    () => changes.edit(granted),
  )
  expect(first.status).toBe(200)
  const again = await gw.fetch(granted.capability, asked)
  expect(again.body).toMatchObject({ replayed: true, attempt_id: first.body.attempt_id })
  expect(gw.upstream.requests.length).toBe(sent + 1)
})

it('a body that is sent while it arrives goes out once its credential was replaced', async () => {
  const granted = await grant()
  const long = 'a long body, '.repeat(100_000)
  const { status } = await whileResolving(
    () => ask('via', granted, long),
    () => changes.rotate(granted),
  )
  expect(status).toBe(200)
  expect(gw.upstream.requests.at(-1)!.body.toString()).toBe(long)
})

type Ids = { readonly credential: string; readonly mandate: string }
it.each<[words: string, why: string, path: (ids: Ids) => string, change: Record<string, unknown>]>([
  [
    'its credential is revoked',
    'credential_revoked',
    (ids) => `/v1/egress/credentials/${ids.credential}/revoke`,
    {},
  ],
  [
    'its credential is edited',
    'credential_rotated',
    (ids) => `/v1/egress/credentials/${ids.credential}/edit`,
    { path_prefixes: ['/v1'] },
  ],
  ['its mandate is revoked', 'mandate_revoked', (ids) => `/v1/actions/mandates/${ids.mandate}/revoke`, {}],
])('a permit sends nothing where %s', async (_, why, path, change) => {
  const actions = await createActionsClient(gw, gw.url)
  const { permit, mandate_id } = await actions.prepare()
  const sent = gw.upstream.requests.length
  const { body } = await whileResolving(
    () => actions.execute(permit),
    async () =>
      expect(
        (await gw.rest('POST', path({ credential: actions.credentialId, mandate: mandate_id }), change))
          .status,
      ).toBe(200),
  )
  expect(body).toMatchObject({ code: 'permit_revoked', why, credits: { charged: 0 } })
  expect(gw.upstream.requests.length).toBe(sent)
  expect((await gw.rest('GET', `/v1/egress/attempts/${body.attempt_id}`)).body).toMatchObject({
    state: 'refunded',
    outcome: why,
    credits_charged: 0,
  })
})

describe('while the upstream works', () => {
  const hold = () => {
    const arrived = Promise.withResolvers<void>()
    gw.upstream.respond(() => arrived.resolve())
    return arrived.promise
  }
  const ended = async (attemptId: string) => {
    expect((await gw.rest('GET', `/v1/egress/attempts/${attemptId}`)).body).toMatchObject({
      state: 'ambiguous',
      outcome: 'no_answer_revoked',
      credits_charged: 1,
    })
  }

  it.each(['capability', 'ancestor', 'credential', 'delete'] as const)(
    'ends the call: %s',
    async (change) => {
      const granted = await grant()
      const arrived = hold()
      const asking = ask('rest', granted)
      await arrived
      expect((await changes[change](granted)).status).toBe(200)
      const { status, body } = await asking
      expect([status, body.code]).toEqual([503, 'outcome_ambiguous'])
      await ended(body.attempt_id)
    },
  )

  it('ends the execution of a permit whose credential is revoked', async () => {
    const actions = await createActionsClient(gw, gw.url)
    const { permit } = await actions.prepare()
    const arrived = hold()
    const asking = actions.execute(permit)
    await arrived
    await gw.rest('POST', `/v1/egress/credentials/${actions.credentialId}/revoke`, {})
    const { body } = await asking
    expect(body.code).toBe('outcome_ambiguous')
    await ended(body.attempt_id)
  })
})

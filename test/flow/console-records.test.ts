// The tables of the console: attempts as their account sees them, narrowed by the address, as a file, and decided by a person.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { allowing, ask, comeBack, inBrowser, redeem, register } from '../support/consent.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { addAccount, ending, newClaim, reservation, settling, submission } from '../support/store.ts'
import type { Attempt } from '../../src/store/model.ts'

let gateway: TestGateway
let owner: TestPerson
let stranger: TestPerson
let credentialId: string
let capabilityId: string
/** Settled, by a real call. */
let attemptId: string
beforeAll(async () => {
  gateway = await startTestGateway()
  owner = await signIn(gateway)
  const accountId = await addAccount(gateway.store, 100)
  stranger = await signIn(gateway, { accountId })
  const granted = await gateway.grant()
  ;({ credentialId, capabilityId } = granted)
  const answer = await gateway.fetch(granted.capability, { url: gateway.url('/ok'), method: 'GET' })
  attemptId = answer.body.attempt_id
})
afterAll(() => gateway?.close())

interface Attempts {
  readonly attempts: readonly { readonly attempt_id: string; readonly host: string }[]
  readonly next: string | null
}
const idsOf = async (person: TestPerson, query: string) =>
  (await person.data<Attempts>(`/console/attempts${query}`)).attempts.map(({ attempt_id: id }) => id)

/** An attempt of the owner's account that nobody knows the end of. */
async function ambiguous(over: Partial<Attempt> = {}): Promise<string> {
  const bootId = 'boot-of-the-test'
  const now = Date.now()
  const input = reservation(
    { accountId: owner.accountId, credential: { id: credentialId }, capability: { id: capabilityId } },
    bootId,
    { id: newId('att', now), createdAt: now, host: 'lost.example.com', ...over },
  )
  const reserved = await gateway.store.reserveAttempt(input)
  expect(reserved).toMatchObject({ ok: true })
  await gateway.store.markSending({ id: input.attempt.id, bootId, now })
  await gateway.store.finishAttempt({ ...ending(input.attempt, bootId, 'ambiguous'), now })
  return input.attempt.id
}

describe('the table of attempts', () => {
  it('is narrowed by its address, and what is no filter is left out', async () => {
    const lost = await ambiguous()
    expect(await idsOf(owner, '')).toEqual([lost, attemptId])
    expect(await idsOf(owner, '?state=ambiguous')).toEqual([lost])
    expect(await idsOf(owner, `?host=${UPSTREAM_HOST}&method=GET`)).toEqual([attemptId])
    expect(await idsOf(owner, `?credential=${credentialId}&until=2020-01-01`)).toEqual([])
    expect(await idsOf(owner, `?state=nonsense&since=yesterday&before=%27`)).toEqual([lost, attemptId])
  })

  it('holds what is of the account alone, and the page of another’s attempt is none', async () => {
    expect(await idsOf(stranger, '')).toEqual([])
    expect(await idsOf(stranger, `?credential=${credentialId}&capability=${capabilityId}`)).toEqual([])
    expect((await owner.get(`/console/attempts/${attemptId}`)).status).toBe(200)
    expect((await stranger.get(`/console/attempts/${attemptId}`)).status).toBe(404)
    expect((await owner.get('/console/attempts/att_none')).status).toBe(404)
  })

  it('leaves as a file with everything that its filters show, and with no formula in it', async () => {
    const formula = '=HYPERLINK("https://evil.example")'
    await ambiguous({ host: formula })
    const csv = await owner.post('/console/attempts', { _action: 'export', format: 'csv' })
    expect(csv.headers.get('content-disposition')).toMatch(/^attachment; filename="attempts-[\d-]+\.csv"$/)
    const text = await csv.text()
    expect(text.split('\r\n')[0]).toBe(
      'attempt_id,kind,state,outcome,method,host,upstream_status,credits_charged,created_at,sending_at,finished_at,credential_id,credential_version,capability_id,permit_id,idempotency_key,request_digest,response_digest,receipt_id',
    )
    expect(text).toContain(`"'=HYPERLINK(""https://evil.example"")"`)
    expect(text.trimEnd().split('\r\n')).toHaveLength(4)

    const lines = await (
      await owner.post('/console/attempts?state=settled', { _action: 'export', format: 'jsonl' })
    ).text()
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { attempt_id: string }).attempt_id),
    ).toEqual([attemptId])
    const nothing = await stranger.post('/console/attempts', { _action: 'export', format: 'jsonl' })
    expect(await nothing.text()).toBe('')
    expect((await owner.post('/console/attempts', { _action: 'export', format: 'exe' })).status).toBe(400)
  })

  it('is narrowed to what one assistant asked for, of those that the account connected', async () => {
    const asking = await ask(gateway, await register(gateway))
    const { body } = await gateway.rest('GET', '/v1/egress/credentials')
    const answer = await inBrowser(gateway, owner, asking).post(allowing(body.credentials, []))
    const tokens = await redeem(gateway, await comeBack(gateway, answer, asking), asking)
    const called = await gateway.fetch(tokens.access_token, { url: gateway.url('/ok'), method: 'GET' })
    const id: string = called.body.attempt_id
    const data = await owner.data<Attempts & { connections: { connection_id: string; name: string }[] }>(
      '/console/attempts',
    )
    const [connection] = data.connections
    expect(await idsOf(owner, `?connection=${connection?.connection_id}`)).toEqual([id])
    expect(await idsOf(stranger, `?connection=${connection?.connection_id}`)).toEqual([])
    expect(await idsOf(owner, '?connection=con_none')).toEqual([])
    expect(await owner.data(`/console/attempts/${id}`)).toMatchObject({ connection })
    expect(await owner.data(`/console/attempts/${attemptId}`)).toMatchObject({ connection: null })
  })
})

describe('an attempt that nobody knows the end of', () => {
  it('is decided in its page, with the words that were typed kept where that is refused', async () => {
    const id = await ambiguous()
    const refused = await owner.post(`/console/attempts/${id}`, {
      _action: 'reconcile',
      decision: 'happened',
      reason: 'x',
    })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('value="x"')
    const done = await owner.post(`/console/attempts/${id}`, {
      _action: 'reconcile',
      decision: 'did_not_happen',
      reason: 'their log has <nothing> of it',
    })
    expect([done.status, done.headers.get('location')]).toEqual([
      303,
      `/console/attempts/${id}?done=reconciled`,
    ])
    const page = await (await owner.get(`/console/attempts/${id}?done=reconciled`)).text()
    expect(page).toContain('their log has &lt;nothing> of it')
    expect(page).toContain('role="status"')
    const data = await owner.data<{ attempt: { state: string; reconciliation: { decided_by: string } } }>(
      `/console/attempts/${id}`,
    )
    expect(data.attempt).toMatchObject({ state: 'refunded', reconciliation: { decided_by: owner.personId } })
  })

  it('is read by an auditor and decided by none', async () => {
    const id = await ambiguous()
    const auditor = await signIn(gateway, { role: 'auditor' })
    const page = await (await auditor.get(`/console/attempts/${id}`)).text()
    expect(page).not.toContain('value="reconcile"')
    const [, csrf = ''] =
      /name="_csrf" value="([^"]+)"/.exec(await (await auditor.get('/console/attempts')).text()) ?? []
    const answer = await auditor.post(`/console/attempts/${id}`, {
      _action: 'reconcile',
      _csrf: csrf,
      decision: 'happened',
      reason: 'because I say so',
    })
    expect(answer.status).toBe(403)
  })
})

describe('payments', () => {
  const payer = `0x${'ab'.repeat(20)}`
  async function pay(over: Parameters<typeof newClaim>[0] = {}): Promise<string> {
    const now = Date.now()
    const claim = newClaim({ id: newId('clm', now), createdAt: now, payer, ...over })
    await gateway.store.claimPayment({ claim, bootId: 'boot-of-the-test' })
    await gateway.store.submitClaim(submission(claim.id, 'boot-of-the-test'))
    await gateway.store.settleClaim({ ...settling(claim.id), now })
    return claim.id
  }
  interface Payments {
    readonly payments: readonly { readonly claim_id: string }[]
  }
  const idsBy = async (query: string) =>
    (await owner.data<Payments>(`/console/payments?payer=${payer}&${query}`)).payments.map(
      ({ claim_id: id }) => id,
    )

  it('are shown to the operator of the installation alone, narrowed by the address', async () => {
    const one = await pay()
    const other = await pay({ tool: '=cmd()', resource: 'https://shop.example.com/<script>' })
    expect(await idsBy('')).toEqual([other, one])
    expect(await idsBy('tool=gateway.web.fetch&state=settled')).toEqual([one])
    expect(await idsBy('state=failed')).toEqual([])
    expect((await stranger.get('/console/payments')).status).toBe(403)
    expect((await stranger.get(`/console/payments/${one}`)).status).toBe(403)
    expect((await owner.get('/console/payments/clm_none')).status).toBe(404)
    const page = await (await owner.get(`/console/payments/${other}`)).text()
    expect(page).toContain('&lt;script>')
    expect(page).not.toContain('<script>')
    const file = await owner.post(`/console/payments?payer=${payer}`, { _action: 'export', format: 'csv' })
    expect(await file.text()).toContain(",'=cmd(),")
    // Nothing that tells a buyer from whoever saw the payment leaves the gateway.
    expect(JSON.stringify(await owner.data(`/console/payments/${one}`))).not.toContain('cHJlc2VudGF0aW9u')
  })

  it('have their chains asked by whoever may act, and not by an auditor', async () => {
    const claim = newClaim({ payer })
    await gateway.store.claimPayment({ claim, bootId: 'boot-of-the-test' })
    await gateway.store.submitClaim(submission(claim.id, 'boot-of-the-test'))
    const { id } = claim
    const look = (person: TestPerson) => person.post(`/console/payments/${id}`, { _action: 'look' })
    expect((await look(owner)).headers.get('location')).toBe(`/console/payments/${id}?done=looked`)
    const auditor = await signIn(gateway, { role: 'auditor' })
    const [, csrf = ''] =
      /name="_csrf" value="([^"]+)"/.exec(await (await auditor.get('/console/payments')).text()) ?? []
    const refused = await auditor.post(`/console/payments/${id}`, { _action: 'look', _csrf: csrf })
    expect(refused.status).toBe(403)
    const file = await auditor.post('/console/payments', { _action: 'export', format: 'jsonl' })
    expect(file.status).toBe(200)
  })

  it('go back to their payer by a person who has just shown that it is them, and an amount is read as it is written', async () => {
    const id = await pay()
    const refund = (form: Record<string, string>) =>
      owner.post(`/console/payments/${id}`, {
        _action: 'refund',
        reason: 'empty',
        reference: 'ticket 1',
        ...form,
      })
    const odd = await refund({ amount: '1e3' })
    expect([odd.status, (await odd.text()).includes('value="1e3"')]).toEqual([400, true])
    // This gateway has no account to refund from: the tool was asked, and says so.
    const refused = await refund({ amount: '0.0005' })
    expect(refused.status).toBe(409)
    await gateway.store.freshenSession({ id: owner.sessionId, now: Date.now() - 6 * 60_000 })
    const stale = await refund({ amount: '0.0005' })
    expect([stale.status, await stale.text()]).toEqual([403, expect.stringContaining('value="ticket 1"')])
    await gateway.store.freshenSession({ id: owner.sessionId, now: Date.now() })
  })
})

describe('edge calls', () => {
  it('stand beside the hosts that the account asked to serve', async () => {
    await gateway.store.saveEdgeHost({
      token: 'token-of-the-test',
      host: 'shop.example.com',
      accountId: owner.accountId,
      now: Date.now(),
    })
    const own = await owner.data<{ hosts: unknown[]; calls: unknown[] }>('/console/edge')
    expect(own).toMatchObject({ hosts: [{ host: 'shop.example.com' }], calls: [] })
    expect(await stranger.data('/console/edge')).toMatchObject({ hosts: [], calls: [] })
    const checked = await owner.post('/console/edge', { _action: 'check', edge_host: 'shop.example.com' })
    expect(checked.status).toBe(200)
    expect(await checked.text()).toContain('_agent-gateway.shop.example.com')
  })
})

describe('tasks', () => {
  it('are shown with what was said, without what the door keeps beside it, to their account alone', async () => {
    const id = newId('task', Date.now())
    const message = { role: 'ROLE_USER', parts: [{ text: 'Buy <b>tea</b>' }, { data: { amount: 3 } }] }
    await gateway.store.saveTask({
      id,
      contextId: 'ctx-1',
      owner: capabilityId,
      state: 'TASK_STATE_INPUT_REQUIRED',
      revision: 1,
      json: JSON.stringify({
        id,
        status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { ...message, role: 'ROLE_AGENT' } },
        history: [message],
        artifacts: [{ name: 'receipt', parts: [{ data: { ok: true } }] }],
        metadata: { 'gateway.waiting': { input: 'kept beside' } },
      }),
      updatedAt: Date.now(),
      expiresAt: Date.now() + 60_000,
    })
    const list = await owner.data<{ tasks: { task_id: string }[] }>(
      '/console/tasks?state=TASK_STATE_INPUT_REQUIRED',
    )
    expect(list.tasks.map(({ task_id }) => task_id)).toEqual([id])
    expect(await stranger.data('/console/tasks')).toMatchObject({ tasks: [] })
    expect((await stranger.get(`/console/tasks/${id}`)).status).toBe(404)
    const page = await (await owner.get(`/console/tasks/${id}`)).text()
    expect(page).toContain('Buy &lt;b>tea')
    expect(page).toContain('&quot;amount&quot;: 3')
    expect(page).not.toContain('kept beside')
  })
})

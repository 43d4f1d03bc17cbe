// The tables of the console: attempts as their account sees them, narrowed by the address, as a file, and decided by a person.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { addAccount, ending, reservation } from '../support/store.ts'
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

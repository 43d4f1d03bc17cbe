// The inbox, permits and mandates as people see them: what waits, who may decide, and nothing of another account.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'

let gw: TestGateway
let actions: ActionsClient
let owner: TestPerson
let approver: TestPerson
beforeAll(async () => {
  gw = await startTestGateway()
  actions = await createActionsClient(gw, gw.url)
  owner = await signIn(gw, { name: 'Olga' })
  approver = await signIn(gw, { role: 'approver', name: 'Amir' })
})
afterAll(() => gw?.close())

const SCRIPT = '<script>alert("stored")</script>'
const prepare = (mandate: Body, request: Body = actions.request()) =>
  actions.prepare(request, actions.mandate(mandate))
async function decide(by: TestPerson, permitId: string, action: string, page = '/console/inbox') {
  const { request_digest } = await actions.permitOf(permitId)
  return by.post(page, { _action: action, permit_id: permitId, request_digest: String(request_digest) })
}
const stateOf = async (permitId: string) => (await actions.permitOf(permitId))['state']

describe('the inbox', () => {
  it('shows exactly what will be sent, who asks, what the mandate spent, and no script of a stranger', async () => {
    const { permit_id } = await prepare(
      { requires_approval: true, purpose: `Refunds ${SCRIPT}` },
      actions.request({ body: `{"note":"${SCRIPT.replaceAll('"', '')}\u202e"}` }),
    )
    const html = await (await approver.get('/console/inbox')).text()
    expect(html).toContain(gw.url('/v1/orders'))
    expect(html).toContain('0 of 100 executions'.replace('0', '1'))
    expect(html).toContain('Refunds &lt;script>')
    expect(html).not.toContain('<script>alert')
    // What would reorder the text is shown as what it is.
    expect(html).toContain('U+202E')
    const one = await (await approver.get(`/console/inbox/${permit_id}`)).text()
    expect(one).not.toContain('<script>alert')
    expect(one).toContain('U+202E')
    const table = await (await approver.get('/console/permits?state=pending_approval')).text()
    expect(table).toContain(`/console/inbox/${permit_id}`)
  })

  it('lets an approver say yes, and keeps who it was', async () => {
    const { permit_id } = await prepare({ approval: { by: 'another' } })
    const answer = await decide(approver, permit_id, 'approve')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/inbox?done=approved'])
    expect(await (await approver.get('/console/inbox?done=approved')).text()).toContain('role="status"')
    const shown = await (await owner.get(`/console/inbox/${permit_id}`)).text()
    expect(shown).toContain('Amir')
    expect(shown).toContain('&quot;sku&quot;:&quot;tea&quot;')
    const denied = await decide(owner, permit_id, 'refuse')
    expect(denied.status).toBe(409)
  })

  it('asks for a second person, and tells the first that they said so', async () => {
    const { permit_id } = await prepare({ approval: { people: 2 } })
    const first = await decide(approver, permit_id, 'approve', `/console/inbox/${permit_id}`)
    expect(first.headers.get('location')).toBe(`/console/inbox/${permit_id}?done=added`)
    const page = await (await approver.get(`/console/inbox/${permit_id}`)).text()
    expect(page).toContain('You have approved this')
    expect(page).not.toContain('value="approve"')
    expect((await decide(approver, permit_id, 'approve')).status).toBe(403)
    expect((await decide(owner, permit_id, 'approve')).headers.get('location')).toContain('done=approved')
  })

  it('says yes to what the page showed, and to nothing else', async () => {
    const shown = await prepare({ requires_approval: true })
    const other = await prepare({ requires_approval: true }, actions.request({ body: '{"sku":"gold"}' }))
    const { request_digest } = await actions.permitOf(shown.permit_id)
    const swapped = await approver.post('/console/inbox', {
      _action: 'approve',
      permit_id: other.permit_id,
      request_digest: String(request_digest),
    })
    expect(swapped.status).toBe(409)
    expect(await stateOf(other.permit_id)).toBe('pending_approval')
  })

  it('has no yes for what a list left out', async () => {
    const { permit_id } = await prepare(
      { requires_approval: true },
      actions.request({ body: 'x'.repeat(5000) }),
    )
    const { waiting } = await approver.data<{ waiting: { permit: { permit_id: string } }[] }>(
      '/console/inbox',
    )
    expect(waiting[0]?.permit.permit_id).toBe(permit_id)
    const [first = ''] = (await (await approver.get('/console/inbox')).text()).split('</article>')
    expect(first).toContain('Longer than a list shows')
    expect(first).not.toContain('value="approve"')
    expect(await (await approver.get(`/console/inbox/${permit_id}`)).text()).toContain('value="approve"')
    await decide(approver, permit_id, 'refuse')
  })

  it('is read by auditors, who decide nothing', async () => {
    const auditor = await signIn(gw, { role: 'auditor' })
    const { permit_id } = await prepare({ requires_approval: true })
    expect(await (await auditor.get('/console/inbox')).text()).not.toContain('value="approve"')
    for (const action of ['approve', 'refuse']) {
      const answer = await auditor.post(`/console/inbox/${permit_id}`, {
        _action: action,
        permit_id,
        request_digest: String((await actions.permitOf(permit_id))['request_digest']),
      })
      expect(answer.status).toBe(403)
    }
    expect(await stateOf(permit_id)).toBe('pending_approval')
  })

  it('knows nothing of another account', async () => {
    const { permit_id, mandate_id } = await prepare({ requires_approval: true })
    const team = await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })
    const [theirs] = (await gw.store.listKeys(undefined, { limit: 1 })).items
    expect(team.status).toBe(201)
    const own = await createActionsClient(gw, gw.url, { token: team.body.key })
    const waiting = await own.prepare(own.request(), own.mandate({ requires_approval: true }))
    const stranger = await signIn(gw, { accountId: String(theirs?.accountId) })
    expect(stranger.accountId).not.toBe(owner.accountId)
    expect((await stranger.get(`/console/inbox/${permit_id}`)).status).toBe(404)
    for (const path of ['/console/inbox', '/console/permits', '/console/mandates'])
      expect(await (await stranger.get(path)).text()).not.toMatch(new RegExp(`${permit_id}|${mandate_id}`))
    expect(await (await stranger.get('/console/inbox')).text()).toContain(waiting.permit_id)
    for (const action of ['approve', 'refuse'])
      expect((await decide(stranger, permit_id, action)).status).toBe(404)
    expect((await stranger.post('/console/mandates', { _action: 'revoke', mandate_id })).status).toBe(404)
    expect(await stateOf(permit_id)).toBe('pending_approval')
  })
})

describe('mandates', () => {
  it('are written and revoked by operators, and keep what was typed where they are refused', async () => {
    const operator = await signIn(gw, { role: 'operator' })
    const form = {
      _action: 'create',
      purpose: 'Orders of June',
      credential: actions.credentialId,
      host: 'elsewhere.example.com',
      path: '/v1',
      methods: 'POST',
      max_calls: '3',
      days: '7',
      approval: 'on',
      another: 'on',
      two: 'on',
    }
    const refused = await operator.post('/console/mandates', form)
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('value="Orders of June"')
    const { host } = new URL(gw.url('/'))
    const stored = await operator.post('/console/mandates', { ...form, host })
    expect(stored.headers.get('location')).toBe('/console/mandates?done=created')
    const { mandates } = await operator.data<{ mandates: Body[] }>('/console/mandates')
    const made = mandates.find(({ purpose }) => purpose === 'Orders of June')
    expect(made).toMatchObject({ approval: { by: 'another', people: 2, fresh_sign_in: false }, max_calls: 3 })
    expect((await approver.post('/console/mandates', { ...form, host })).status).toBe(403)
    const ended = await operator.post('/console/mandates', {
      _action: 'revoke',
      mandate_id: String(made?.['mandate_id']),
    })
    expect(ended.headers.get('location')).toBe('/console/mandates?done=revoked')
  })
})

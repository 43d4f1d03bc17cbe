// Who is told of what waits and what fails: over the one safe way out, sealed at rest, signed, again until it is taken.
import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import type { ReceivedRequest } from '../support/upstream.ts'
import { signIn } from '../support/people.ts'

let gw: TestGateway
let actions: ActionsClient
let ahead = 0
const now = () => Date.now() + ahead
const SECRET_PATH = '/hook/s3cr3t-of-the-chat'

beforeAll(async () => {
  gw = await startTestGateway({ now })
  actions = await createActionsClient(gw, gw.url, { now })
})
afterAll(() => gw?.close())

interface Told {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
const told: Told[] = []
let status = 204
function note({ target, headers, body }: ReceivedRequest): void {
  if (target === SECRET_PATH) told.push({ headers: Object.fromEntries(headers), body: body.toString('utf8') })
}
const hear = () =>
  gw.upstream.respond((request, res) => {
    note(request)
    res.writeHead(status).end()
  })
const add = (kinds: readonly string[], url = gw.url(SECRET_PATH), token?: string) =>
  gw.rest('POST', '/v1/notifications', { url, kinds }, token)
const list = async (): Promise<Body[]> => (await gw.rest('GET', '/v1/notifications')).body.notifications
const remove = (id: unknown, token?: string) =>
  gw.rest('POST', `/v1/notifications/${String(id)}/remove`, {}, token)
const ask = () => actions.prepare(actions.request(), actions.mandate({ requires_approval: true }))

describe('notifications', () => {
  it('tell of a permit that waits, once, signed with the key of the gateway', async () => {
    hear()
    const added = await add(['approval'])
    expect([added.status, Object.keys(added.body)]).toEqual([201, expect.not.arrayContaining(['url'])])
    expect(JSON.stringify(added.body)).not.toContain('s3cr3t')
    const { permit_id } = await ask()
    await expect.poll(() => told.length).toBe(1)
    const [first] = told
    const { headers = {}, body = '' } = first ?? {}
    expect(JSON.parse(body)).toMatchObject({
      type: 'approval',
      data: { permit_id, method: 'POST', url: `${gw.baseUrl}/console/inbox` },
    })
    expect(body).not.toContain('sku')
    const { keys } = (await gw.rest('GET', '/.well-known/jwks.json', undefined, '')).body
    const jwk = keys.find(({ kid }: { kid: string }) => kid === headers['webhook-key-id'])
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    const signature = Buffer.from(String(headers['webhook-signature']).replace('v1a,', ''), 'base64')
    expect(verify(null, Buffer.from(signed), createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(
      true,
    )
    await expect.poll(async () => (await list())[0]?.['told_at']).not.toBeNull()
    // A decision wakes nobody.
    await gw.rest('POST', `/v1/actions/permits/${permit_id}/refuse`)
    expect(told).toHaveLength(1)
    await remove(added.body.notification_id)
  })

  it('are on their way when a permit is prepared, which waits for none of them', async () => {
    const order: string[] = []
    let release = () => {}
    gw.upstream.respond((request, res) => {
      if (request.target !== SECRET_PATH && request.target !== '/quick') return void res.end()
      order.push(`told ${request.target}`)
      if (request.target === '/quick') return void res.end()
      release = () => void res.end()
    })
    const targets = [await add(['approval']), await add(['approval'], gw.url('/quick'))]
    await ask().then(() => order.push('prepared'))
    // Nothing else is asked of the gateway, and one of the two never answers.
    await expect.poll(() => order.length).toBe(3)
    expect(order.toSorted()).toEqual(['prepared', 'told /hook/s3cr3t-of-the-chat', 'told /quick'])
    const before = order.length
    await ask()
    await expect.poll(() => order.slice(before)).toContain('told /quick')
    release()
    for (const { body } of targets) await remove(body.notification_id)
  })

  it('are sent again where they are not taken, and the list says why', async () => {
    told.length = 0
    hear()
    status = 500
    const added = await add(['approval'])
    await ask()
    await expect.poll(async () => (await list())[0]?.['problem']).toBe('status_500')
    status = 204
    ahead += 6_000
    await ask()
    await expect.poll(() => told.length).toBe(3)
    expect(new Set(told.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
    await remove(added.body.notification_id)
  })

  it('tell of a secret that an answer held, and never say it', async () => {
    told.length = 0
    const added = await add(['secret_reflected'])
    const { capability } = await gw.grant()
    gw.upstream.respond((request, res) => {
      note(request)
      res.end(JSON.stringify(request.headers))
    })
    const answer = await gw.fetch(capability, { url: gw.url('/v1/echo'), method: 'GET' })
    expect(answer.body.code).toBe('secret_reflected')
    await expect.poll(() => told.length).toBe(1)
    expect(JSON.parse(told[0]?.body ?? '')).toMatchObject({
      type: 'secret_reflected',
      data: { attempt_id: answer.body.attempt_id },
    })
    await remove(added.body.notification_id)
  })

  it('go to no address that is not public, and to ten of an account at most', async () => {
    hear()
    for (const url of [
      'http://hooks.example.com/',
      'https://127.0.0.1/',
      'https://localhost/',
      'ftp://x.example.com/',
    ])
      expect([400, 403]).toContain((await add(['approval'], url)).status)
    const answers = await Promise.all(Array.from({ length: 12 }, () => add(['approval'])))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(answers.filter(({ body }) => body.code === 'state_conflict')).toHaveLength(2)
    for (const { notification_id } of await list()) await remove(notification_id)
    expect(await list()).toEqual([])
  })

  it('are of their account alone', async () => {
    const added = await add(['approval'])
    const id = String(added.body.notification_id)
    const { key } = (await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })).body
    expect((await gw.rest('GET', '/v1/notifications', undefined, key)).body).toEqual({ notifications: [] })
    expect((await remove(id, key)).status).toBe(404)
    expect((await gw.rest('POST', `/v1/notifications/${id}/test`, {}, key)).status).toBe(404)
    expect((await add(['settler_low'], undefined, key)).body.code).toBe('admin_required')
    expect(await list()).toHaveLength(1)
  })

  it('are set in the console by operators, who never see the address again', async () => {
    told.length = 0
    hear()
    const [operator, approver] = [
      await signIn(gw, { role: 'operator' }),
      await signIn(gw, { role: 'approver' }),
    ]
    const form = { _action: 'add', secret_url: gw.url(SECRET_PATH), kinds: 'approval' }
    const added = await operator.post('/console/notifications', form)
    expect(added.headers.get('location')).toBe('/console/notifications?done=added')
    const refused = await operator.post('/console/notifications', {
      ...form,
      secret_url: 'http://s3cr3t.example.com/',
    })
    expect([refused.status, (await refused.text()).includes('s3cr3t')]).toEqual([400, false])
    const page = await (await operator.get('/console/notifications')).text()
    expect(page).not.toContain('s3cr3t')
    const { notifications } = await operator.data<{ notifications: Body[] }>('/console/notifications')
    const id = String(notifications.at(-1)?.['notification_id'])
    const tested = await operator.post('/console/notifications', { _action: 'test', notification_id: id })
    expect(tested.headers.get('location')).toBe('/console/notifications?done=taken')
    expect(told).toHaveLength(1)
    expect(await (await approver.get('/console/notifications')).text()).not.toContain('name="secret_url"')
    expect((await approver.post('/console/notifications', form)).status).toBe(403)
    expect(gw.log()).not.toContain('s3cr3t')
  })
})

// The console as resources of the door: who may see a page, whose forms are taken, what a role may do. Its pages have tests of their own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn } from '../support/people.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway?.close())

const browser = { accept: 'text/html' }
const ask = (path: string, headers: Record<string, string> = browser) =>
  fetch(gateway.baseUrl + path, { headers, redirect: 'manual' })

describe('a page of the console', () => {
  it('sends who is not signed in to the page for that, and back', async () => {
    const answer = await ask('/ar/console/credentials?provider=github')
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(
      `/ar/console/sign-in?next=${encodeURIComponent('/ar/console/credentials?provider=github')}`,
    )
    const data = await ask('/console/credentials', { accept: 'application/json' })
    expect([data.status, ((await data.json()) as { code: string }).code]).toEqual([401, 'sign_in_required'])
  })

  it('asks once more from here where another site sent the browser: the strict cookie comes along then', async () => {
    const answer = await ask('/console', { ...browser, 'sec-fetch-site': 'cross-site' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('content="0; url=/console"')
  })

  it('shows somebody what their role may see, in no cache and no frame', async () => {
    const owner = await signIn(gateway, { role: 'owner', name: 'Sarah <b>' })
    const page = await owner.get('/console')
    expect(page.status).toBe(200)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    const html = await page.text()
    expect(html).toContain('Sarah &lt;b>')
    expect(html).toContain('href="/console/people"')

    const seller = await signIn(gateway, { role: 'seller' })
    expect((await seller.get('/console/people')).status).toBe(403)
    const stranger = await signIn(gateway, { role: 'owner', admin: false })
    expect((await stranger.get('/console/settings')).status).toBe(403)
  })

  it('begins, for who only sells, with what they sell', async () => {
    const seller = await signIn(gateway, { role: 'seller' })
    const answer = await seller.get('/ar/console')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/ar/console/selling'])
  })

  it('takes a session that has ended for nobody', async () => {
    const owner = await signIn(gateway)
    const changed = owner.cookie.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
    expect((await ask('/console', { ...browser, cookie: changed })).status).toBe(303)
    expect((await ask('/console', { ...browser, cookie: `${owner.cookie}; ${owner.cookie}` })).status).toBe(
      303,
    )
  })
})

describe('a form of the console', () => {
  it('is taken from its own pages alone', async () => {
    const owner = await signIn(gateway)
    for (const site of ['cross-site', 'same-site', 'none']) {
      const answer = await owner.post('/console/inbox', { _action: 'approve' }, { 'sec-fetch-site': site })
      expect([site, answer.status]).toEqual([site, 403])
    }
    const forged = await owner.post('/console/inbox', { _action: 'approve', _csrf: 'x' })
    expect(forged.status).toBe(403)
  })
})

describe('a tool as a form', () => {
  it('is called in the name of the person, and says what came of it', async () => {
    const owner = await signIn(gateway)
    const answer = await owner.post('/console/tools/gateway.keys.create', {
      _action: 'call',
      'name/label': 'x',
      '/label': 'made in the console',
      '/account': 'own',
    })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toMatch(/agw_sk_\w+/)
    const { body } = await gateway.rest('GET', '/v1/keys')
    expect(body.keys.map(({ label }: { label: string }) => label)).toContain('made in the console')
  })

  it('asks once more before what cannot be taken back, and never draws a secret', async () => {
    const owner = await signIn(gateway)
    const path = '/console/tools/gateway.egress.credentials.rotate'
    const sent = {
      _action: 'call',
      '/credential_id': 'cred_0000000000000000000000000000000000',
      '/secret': 'hush-hush',
    }
    for (const form of [sent, { ...sent, confirm: 'yes' }]) {
      const html = await (await owner.post(path, form)).text()
      expect(html).toContain('cred_0000000000000000000000000000000000')
      expect(html).not.toContain('hush-hush')
    }
  })

  it('is there for those alone whose role may call it', async () => {
    const [auditor, seller, stranger] = await Promise.all([
      signIn(gateway, { role: 'auditor' }),
      signIn(gateway, { role: 'seller' }),
      signIn(gateway, { role: 'owner', admin: false }),
    ])
    const named = async (person: typeof auditor) =>
      (await person.data<{ tools: { name: string; changes: boolean }[] }>('/console/tools')).tools
    expect((await named(auditor)).filter(({ changes }) => changes)).toEqual([])
    expect((await named(auditor)).length).toBeGreaterThan(5)
    const sellers = (await named(seller)).map(({ name }) => name)
    expect(sellers).toContain('gateway.seller')
    expect(sellers).not.toContain('gateway.keys.list')
    expect((await named(stranger)).map(({ name }) => name)).not.toContain('gateway.credits.grant')
    expect((await auditor.get('/console/tools/gateway.keys.create')).status).toBe(404)
  })
})

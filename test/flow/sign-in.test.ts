// From an address to a call of a stored credential: an assistant finds out where to sign in, a person allows it, it calls, and it is over
// when the person says so. The protocol has tests of its own (test/unit/identity).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { ask, type Browser, createBrowser, exchange, form, register } from '../support/oauth.ts'
import { signIn, type TestPerson } from '../support/people.ts'

let gateway: TestGateway
let origin: string
let owner: TestPerson
beforeAll(async () => {
  gateway = await startTestGateway()
  origin = gateway.baseUrl
  owner = await signIn(gateway)
})
afterAll(() => gateway?.close())

/** The browser in which the person is signed in. */
function browserOf(person: TestPerson): Browser {
  const browser = createBrowser(origin)
  const [name = '', value = ''] = person.cookie.split('=')
  browser.cookies.set(name, { value, path: '/' })
  return browser
}
const SAME = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }
async function submit(browser: Browser, path: string, values: Record<string, string>) {
  const page = await (await browser.go(path, { headers: SAME })).text()
  const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(page) ?? []
  const body = form({ _csrf: csrf, ...values })
  return browser.go(path, { ...body, headers: { ...body.headers, ...SAME } })
}

describe('a program that shows a code', () => {
  it('is found by its code, on a page for who is signed in', async () => {
    const begun = (await (
      await fetch(`${origin}/oauth/device`, form({ client_id: 'agent-gateway-cli' }))
    ).json()) as Record<string, string>
    const { pathname, search } = new URL(begun['verification_uri_complete'] ?? '')
    const stranger = await createBrowser(origin).go(pathname + search, { headers: SAME })
    expect(stranger.headers.get('location')).toBe(
      `/console/sign-in?next=${encodeURIComponent(pathname + search)}`,
    )
    const browser = browserOf(owner)
    const page = await (await browser.go(pathname + search, { headers: SAME })).text()
    expect(page).toContain(`value="${begun['user_code']}"`)
    const wrong = await submit(browser, pathname, { _action: 'find', code: 'BBBBBBBB' })
    expect(wrong.status).toBe(404)
    expect(await wrong.text()).toContain('No program waits with this code')
    const found = await submit(browser, pathname, { _action: 'find', code: begun['user_code'] ?? '' })
    expect([found.status, found.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^\/console\/connect\/device-/),
    ])
  })
})

describe('an assistant', () => {
  it('registers and is sent to the page of consent', async () => {
    const { client_id: clientId } = await register(origin)
    const { location, answer } = await ask(origin, { clientId, browser: browserOf(owner) })
    expect(location).toMatch(/\/console\/connect\/[\w-]+\.[\w-]+$/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })

  it('shows a person why it was refused, and a program too', async () => {
    const query = '?response_type=code&client_id=nobody&redirect_uri=https://evil.example/'
    const page = await fetch(`${origin}/oauth/authorize${query}`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    })
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('client is invalid')
    const program = await fetch(`${origin}/oauth/authorize${query}`, { redirect: 'manual' })
    expect(await program.json()).toMatchObject({ error: 'invalid_client' })
    const { body } = await exchange(origin, {
      grant_type: 'authorization_code',
      client_id: 'nobody',
      code: 'x',
    })
    expect(body.error).toBe('invalid_client')
  })
})

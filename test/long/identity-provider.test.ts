// People of a real OpenID provider sign in: in the roles of their groups, in one browser, once; and what the provider does not vouch for.
import { request } from 'node:https'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { reservePort } from '../support/oauth-server.ts'
import { signIn } from '../support/people.ts'

const HOST = 'id.example.com'
let world: World
let gateway: TestGateway
let provider: TestIdentityProvider
beforeAll(async () => {
  const place = await reservePort()
  world = await createWorld({ names: [HOST], ports: [place.port] })
  gateway = await startTestGateway({ world })
  provider = await startIdentityProvider(
    place,
    world.ca,
    HOST,
    `${gateway.baseUrl}/console/sign-in/callback`,
    (url, headers) =>
      new Promise((resolve, reject) => {
        const { pathname, search } = new URL(url)
        request(
          {
            host: '127.0.0.1',
            port: place.port,
            servername: HOST,
            ca: world.ca.pem,
            path: pathname + search,
            headers: { host: `${HOST}:${place.port}`, ...headers },
          },
          (res) => {
            res.resume()
            resolve({
              location: res.headers.location ?? '',
              cookies: res.headers['set-cookie'] ?? [],
            })
          },
        )
          .on('error', reject)
          .end()
      }),
  )
  const set = await gateway.rest('POST', '/v1/identity-provider', settings())
  expect([set.status, set.text]).toEqual([200, expect.not.stringContaining(provider.client.secret)])
})
afterAll(async () => {
  await gateway?.close()
  await provider?.close()
  await world?.close()
})

const settings = (over: object = {}) => ({
  name: 'Acme single sign-on',
  issuer: provider.issuer,
  client_id: provider.client.id,
  client_secret: provider.client.secret,
  roles: [
    { group: 'gateway-owners', role: 'owner' },
    { group: 'finance', role: 'auditor' },
    { group: 'on-call', role: 'approver' },
  ],
  ...over,
})

const headersOf = (cookie: string) => ({
  accept: 'text/html',
  'sec-fetch-site': 'same-origin',
  'user-agent': 'a browser',
  ...(cookie !== '' && { cookie }),
})
const cookieOf = (answer: Response, at = 0) => answer.headers.getSetCookie()[at]?.split(';')[0] ?? ''

/** Presses the button. @returns where the browser is sent, and what it keeps meanwhile */
async function begin(cookie = '', form: Record<string, string> = { next: '/console/keys' }) {
  const path = `${gateway.baseUrl}/console/sign-in${'again' in form ? '?again=1' : ''}`
  const page = await (await fetch(path, { headers: headersOf(cookie) })).text()
  expect(page).toContain('Acme single sign-on')
  const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(page) ?? []
  const answer = await fetch(path, {
    method: 'POST',
    headers: headersOf(cookie),
    body: new URLSearchParams({ _csrf: csrf, _action: 'provider', ...form }),
  })
  const [, url = ''] = /content="0; url=([^"]+)"/.exec(await answer.text()) ?? []
  return { url: url.replaceAll('&amp;', '&'), waiting: cookieOf(answer) }
}
const arrive = (url: string, cookie: string) => fetch(url, { headers: headersOf(cookie), redirect: 'manual' })

async function enter() {
  const { url, waiting } = await begin()
  const back = await provider.follow(url)
  const answer = await arrive(back, waiting)
  return { url, waiting, back, answer, cookie: cookieOf(answer, 1), text: await answer.text() }
}

describe('somebody of an identity provider', () => {
  it('signs in with the role of their groups, which is asked for at each sign-in', async () => {
    provider.become({ sub: 'noor', name: 'Noor <i>Saleh</i>', groups: ['finance', 'on-call', 'else'] })
    const { url, back, answer, cookie } = await enter()
    const asked = new URL(url).searchParams
    expect(asked.get('code_challenge_method')).toBe('S256')
    expect(asked.get('redirect_uri')).toBe(`${gateway.baseUrl}/console/sign-in/callback`)
    expect(back).toContain('/console/sign-in/callback?')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/keys'])
    const me = await fetch(`${gateway.baseUrl}/console/keys`, { headers: headersOf(cookie) })
    expect(await me.text()).toContain('Noor &lt;i>Saleh')
    const people = async () => (await gateway.rest('GET', '/v1/people')).body.people
    expect(await people()).toMatchObject([{ name: 'Noor <i>Saleh</i>', role: 'approver', passkeys: 0 }])

    provider.become({ sub: 'noor', name: 'Noor', groups: ['finance'] })
    await enter()
    expect(await people()).toMatchObject([{ role: 'auditor' }])
  })

  it('of none of the groups is not let in, nor whoever an owner removed', async () => {
    provider.become({ sub: 'stranger', name: 'Stranger', groups: ['everybody'] })
    const refused = await enter()
    expect([refused.answer.status, refused.cookie]).toEqual([200, ''])
    expect(refused.text).toContain('none of your groups is let in')

    provider.become({ sub: 'gone', name: 'Gone', groups: ['finance'] })
    expect((await enter()).answer.status).toBe(303)
    const { body } = await gateway.rest('GET', '/v1/people')
    const gone = body.people.find(({ name }: { name: string }) => name === 'Gone')
    expect((await gateway.rest('POST', `/v1/people/${gone.person_id}/remove`)).status).toBe(200)
    expect((await enter()).text).toContain('An owner removed you here')
  })

  it('who is the last owner stays one, whatever the provider says', async () => {
    provider.become({ sub: 'boss', name: 'Boss', groups: ['gateway-owners'] })
    await enter()
    provider.become({ sub: 'boss', name: 'Boss', groups: ['finance'] })
    await enter()
    const { body } = await gateway.rest('GET', '/v1/people')
    expect(body.people.find(({ name }: { name: string }) => name === 'Boss').role).toBe('owner')
  })
})

describe('the answer of the provider', () => {
  it('counts once, and in the browser alone that asked for it', async () => {
    provider.become({ sub: 'sami', name: 'Sami', groups: ['finance'] })
    const { url, waiting } = await begin()
    const back = await provider.follow(url)
    const other = await begin()
    for (const cookie of ['', other.waiting, waiting.replace(/=.{8}/, '=AAAAAAAA')]) {
      const answer = await arrive(back, cookie)
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []])
    }
    // The first attempt took the state away, so that the right browser begins again.
    expect((await arrive(back, waiting)).status).toBe(200)
    const good = await enter()
    expect(good.answer.status).toBe(303)
    expect((await arrive(good.back, good.waiting)).status).toBe(200)
  })

  it('is refused with another code, another state or another issuer', async () => {
    provider.become({ sub: 'sami', name: 'Sami', groups: ['finance'] })
    for (const [name, value] of [
      ['code', 'invented'],
      ['state', 'invented'],
      ['iss', 'https://evil.example'],
    ] as const) {
      const { url, waiting } = await begin()
      const back = new URL(await provider.follow(url))
      back.searchParams.set(name, value)
      const answer = await arrive(back.href, waiting)
      expect([name, answer.status, answer.headers.getSetCookie()]).toEqual([name, 200, []])
    }
  })

  it('shows again that it is the same person, and nobody else', async () => {
    provider.become({ sub: 'sami', name: 'Sami', groups: ['finance'] })
    const { cookie } = await enter()
    const { url, waiting } = await begin(cookie, { again: '1' })
    expect(new URL(url).searchParams.get('prompt')).toBe('login')
    const done = await arrive(await provider.follow(url), `${cookie}; ${waiting}`)
    expect(done.headers.get('location')).toBe('/console/sign-in?again=1&done=again')

    const again = await begin(cookie, { again: '1' })
    provider.become({ sub: 'noor', name: 'Noor', groups: ['finance'] })
    const other = await arrive(await provider.follow(again.url), `${cookie}; ${again.waiting}`)
    expect(await other.text()).toContain('as somebody else')
  })
})

describe('the settings', () => {
  it('have the metadata read once for all who begin a sign-in within some minutes, and anew where an owner changes them', async () => {
    const before = provider.metadataRequests
    await Promise.all(Array.from({ length: 8 }, () => begin()))
    expect(provider.metadataRequests - before).toBeLessThanOrEqual(1)
    expect((await gateway.rest('POST', '/v1/identity-provider', settings())).status).toBe(200)
    expect(provider.metadataRequests - before).toBeGreaterThanOrEqual(1)
  })

  it('are an owner’s to change, never show the secret, and are read from the issuer first', async () => {
    const wrong = await gateway.rest(
      'POST',
      '/v1/identity-provider',
      settings({ issuer: `https://${HOST}:1` }),
    )
    expect([wrong.status, wrong.body.code]).toEqual([503, 'upstream_unreachable'])
    const page = await (await signIn(gateway)).get('/console/identity-provider')
    const html = await page.text()
    expect(html).toContain(provider.issuer)
    expect(html).not.toContain(provider.client.secret)
    const operator = await signIn(gateway, { role: 'operator' })
    expect((await operator.get('/console/identity-provider')).status).toBe(403)
    expect(gateway.log()).not.toContain(provider.client.secret)
  })

  it('keep the secret for its own client: another issuer never gets it', async () => {
    const { client_secret: _, ...rest } = settings({ enabled: false, issuer: 'https://other.example' })
    const moved = await gateway.rest('POST', '/v1/identity-provider', rest)
    expect(moved.body.has_client_secret).toBe(false)
  })
})

// From an address to a call of a stored credential: an assistant finds out where to sign in, a person allows it, it calls, and it is over
// when the person says so. The protocol has tests of its own (test/unit/identity).
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { ask, createBrowser, exchange, form, register } from '../support/oauth.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { allow, browserOf, SAME, submit } from '../support/signed-in.ts'

let gateway: TestGateway
let origin: string
let owner: TestPerson
beforeAll(async () => {
  gateway = await startTestGateway()
  origin = gateway.baseUrl
  owner = await signIn(gateway)
})
afterAll(() => gateway?.close())

/** Everything that the gateway has written to its data directory. */
async function written(): Promise<Buffer> {
  const folder = join(gateway.dataDir, 'data')
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name)))
  return Buffer.concat(await Promise.all(texts))
}

const call = (token: string, path = '/repos') =>
  gateway.rest('POST', '/v1/egress/fetch', { method: 'GET', url: gateway.url(path) }, token)

describe('a program that shows a code', () => {
  it('is found by its code, on a page for who is signed in, and calls', async () => {
    const begun = (await (
      await fetch(`${origin}/oauth/device`, form({ client_id: 'agent-gateway-cli' }))
    ).json()) as Record<string, string>
    const { pathname, search } = new URL(begun['verification_uri_complete'] ?? '')
    const stranger = await createBrowser(origin).go(pathname + search, { headers: SAME })
    expect(stranger.headers.get('location')).toBe(
      `/console/sign-in?next=${encodeURIComponent(pathname + search)}`,
    )
    const browser = browserOf(origin, owner)
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
    const consent = await browser.go(found.headers.get('location') ?? '', { headers: SAME })
    expect(await consent.text()).toContain('the program that shows the code below')
    const { credentialId } = await gateway.grant()
    const to = await allow(browser, found.headers.get('location') ?? '', credentialId)
    expect(await (await browser.go(to, { headers: SAME })).text()).toContain(
      'Connected. Go back to the program',
    )
    const { body: tokens } = await exchange(origin, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: begun['device_code'] ?? '',
      client_id: 'agent-gateway-cli',
    })
    expect((await call(tokens.access_token)).status).toBe(200)
  })
})

describe('an assistant', () => {
  it('goes from an address to a call of a stored credential, until the person ends it', async () => {
    const { credentialId } = await gateway.grant()
    // 1. It finds out where to sign in, and registers.
    const resource = (await (await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`)).json()) as {
      authorization_servers: string[]
    }
    expect(resource.authorization_servers).toEqual([origin])
    const { client_id: clientId } = await register(origin)
    // 2. The person is asked, and allows one credential.
    const browser = browserOf(origin, owner)
    const asked = await ask(origin, { clientId, browser })
    const returnTo = await allow(browser, new URL(asked.location).pathname, credentialId)
    const back = await browser.go(returnTo)
    const callback = new URL(back.headers.get('location') ?? '')
    expect([callback.origin, callback.searchParams.get('iss')]).toEqual(['http://localhost:7777', origin])
    const { body: tokens } = await exchange(origin, {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      code_verifier: asked.verifier,
      client_id: clientId,
      redirect_uri: 'http://localhost:7777/callback',
    })
    // 3. It calls, and goes on after a refresh.
    expect((await call(tokens.access_token)).status).toBe(200)
    const next = await exchange(origin, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: clientId,
    })
    expect((await call(next.body.access_token)).status).toBe(200)
    expect((await call(tokens.access_token)).status).toBe(200)
    // 4. No file of the gateway has a token, a code or the address of the request in it.
    const all = await written()
    const secrets = [
      ...[tokens, next.body].flatMap((pair) => [pair.access_token, pair.refresh_token]),
      callback.searchParams.get('code') ?? '',
      new URL(asked.location).pathname.split('/').at(-1) ?? '',
      asked.challenge,
    ]
    for (const secret of secrets)
      expect([secret, secret.length > 20 && all.includes(secret)]).toEqual([secret, false])
    // 5. The person ends it: the next call of either token is refused, and there is no third.
    const { items } = await gateway.services.identity.connections.list(
      { accountId: owner.accountId },
      { limit: 9 },
    )
    const connection = items.find((one) => one.clientId === clientId)
    await gateway.services.identity.connections.revoke(owner.accountId, connection?.id ?? '')
    for (const token of [tokens.access_token, next.body.access_token]) {
      const refused = await call(token)
      expect([refused.status, refused.body.code]).toEqual([401, 'capability_invalid'])
    }
    const third = await exchange(origin, {
      grant_type: 'refresh_token',
      refresh_token: next.body.refresh_token,
      client_id: clientId,
    })
    expect(third.body.error).toBe('invalid_grant')
  })

  it('ends its own connection by giving its token back', async () => {
    const { credentialId } = await gateway.grant()
    const { client_id: clientId } = await register(origin)
    const browser = browserOf(origin, owner)
    const asked = await ask(origin, { clientId, browser })
    const back = await browser.go(await allow(browser, new URL(asked.location).pathname, credentialId))
    const { body: tokens } = await exchange(origin, {
      grant_type: 'authorization_code',
      code: new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? '',
      code_verifier: asked.verifier,
      client_id: clientId,
      redirect_uri: 'http://localhost:7777/callback',
    })
    expect((await call(tokens.access_token)).status).toBe(200)
    await fetch(`${origin}/oauth/revoke`, form({ token: tokens.refresh_token, client_id: clientId }))
    expect((await call(tokens.access_token)).status).toBe(401)
  })

  it('registers and is sent to the page of consent', async () => {
    const { client_id: clientId } = await register(origin)
    const { location, answer } = await ask(origin, { clientId, browser: browserOf(origin, owner) })
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

// The console walked as an operator walks it, on a gateway that was just started: the first link, a passkey, a credential, an assistant that
// is connected by address alone, a call that is watched, an approval by a second person, and the end of the connection. In English on a desk,
// and in Arabic, dark, on a telephone. Nothing is found by its words, so that both languages take the same way.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { type Assistant, connectAssistant } from '../support/oauth-client.ts'
import { accessibilityFaults, arabicFonts, type Form, formName, pathIn } from '../support/site-browser.ts'

const PICTURES = new URL('../../screenshots/', import.meta.url).pathname
const SAMPLE = 'https://sandbox.agent-gateway.test/api'

let browser: Browser
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  browser = await launchBrowser([], arabicFonts())
})
afterAll(() => browser?.close())

/** Somebody's device: a browser with a passkey authenticator in it. */
async function openDevice({
  language,
  theme,
  width,
}: Form): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({
    colorScheme: theme,
    locale: language === 'ar' ? 'ar-EG' : 'en-US',
    viewport: { width, height: 900 },
  })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { context, page }
}

const FORMS: readonly Form[] = [
  { language: 'en', theme: 'light', width: 1280 },
  { language: 'ar', theme: 'dark', width: 390 },
]

describe.each(FORMS.map((form) => [formName(form), form] as const))('an operator, in %s', (name, form) => {
  let gateway: DefaultGateway
  let owner: Page
  let approver: Page
  let assistant: Assistant
  const complaints: string[] = []

  beforeAll(async () => {
    gateway = await startDefaultGateway()
    owner = (await openDevice(form)).page
    approver = (await openDevice(form)).page
    for (const page of [owner, approver]) {
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
    }
  })
  afterAll(async () => {
    await assistant?.close()
    await owner?.context().close()
    await approver?.context().close()
    await gateway?.close()
  })

  const open = (page: Page, path: string) => page.goto(gateway.url + pathIn(form.language, path))
  const picture = (page: Page, step: string) =>
    page.screenshot({ path: join(PICTURES, `walk-${step}-${name}.png`), fullPage: true })
  /** The button of the form that does this. */
  const doing = (page: Page, action: string) =>
    page.locator(`form:has(input[name="_action"][value="${action}"]) button`).last()
  /** It says what was done. */
  const said = (page: Page) => page.locator('main [role="status"]:visible').first().waitFor()

  /** The link as the person's own language shows it. */
  const inLanguage = (link: string) => link.replace('/console/', pathIn(form.language, '/console/'))

  async function joinBy(page: Page, link: string, as: string): Promise<void> {
    await page.goto(inLanguage(link))
    await page.locator('input[name="name"]').fill(as)
    await page.locator('main button.primary').click()
    await page.locator('main pre').waitFor()
    await picture(page, 'codes')
    await page.locator('main a.primary, main a.button').first().click()
    await page.waitForURL(/\/console$/)
  }

  it('joins with a passkey by the link that the first start printed', async () => {
    await joinBy(owner, gateway.firstLink, 'Sarah Haddad')
    expect(await owner.locator('header').innerText()).toContain('Sarah Haddad')
    await picture(owner, 'overview')
  })

  it('stores a credential, which no page shows again', async () => {
    await open(owner, '/console/credentials/new?provider=custom')
    await owner.locator('input[name="label"]').fill('sample API')
    await owner.locator('input[name="secret"]').fill('a-secret-nobody-sees')
    await owner.locator('textarea[name="hosts"]').fill(new URL(SAMPLE).host)
    await owner.locator('textarea[name="path_prefixes"]').fill('/api')
    await doing(owner, 'create').click()
    await owner.waitForURL(/\/console\/credentials\/cred_/)
    expect(await owner.content()).not.toContain('a-secret-nobody-sees')
    await picture(owner, 'credential')
  })

  it('connects an assistant that was given nothing but an address', async () => {
    assistant = await connectAssistant(`${gateway.mcpUrl}/connect`, 'Walking Assistant', async (url) => {
      const asked = new URL(url)
      if (form.language === 'ar') asked.searchParams.set('ui_locales', 'ar')
      await owner.goto(asked.href)
      await owner.locator('input[name="use"]').first().check()
      expect(await owner.locator('main').innerText()).toContain('Walking Assistant')
      await picture(owner, 'consent')
      await owner.locator('button[form="consent"]').click()
      await owner.waitForURL(/127\.0\.0\.1:\d+\/callback/)
    })
    const answer = JSON.stringify(
      await assistant.call('gateway_egress_fetch', { url: `${SAMPLE}/whoami`, method: 'GET' }),
    )
    expect(answer).toContain('receipt')
    expect(answer).not.toContain('a-secret-nobody-sees')
  })

  it('sees the calls of the assistant as they happen', async () => {
    await open(owner, '/console/live')
    await owner.locator('.live-bar .state-done').waitFor()
    const rows = owner.locator('.live-log tbody tr')
    expect(await rows.count()).toBe(0)
    await assistant.call('gateway_egress_fetch', { url: `${SAMPLE}/whoami`, method: 'GET' })
    // The name of the tool is in the filter in any case.
    await rows.filter({ hasText: 'gateway.egress.fetch' }).waitFor()
    await picture(owner, 'live')
    await open(owner, '/console/attempts')
    expect(await owner.locator('main tbody tr').count()).toBe(2)
    await picture(owner, 'attempts')
  })

  it('has what waits approved by a second person, whom they invited', async () => {
    await open(owner, '/console/people')
    await owner.locator('form:has(input[value="invite"]) input[name="name"]').fill('Omar Nasser')
    await owner.locator('form:has(input[value="invite"]) select[name="role"]').selectOption('approver')
    await doing(owner, 'invite').click()
    const [link] = /http:\/\/localhost:\d+\/console\/join#agw_inv_\w+/.exec(
      (await owner.locator('main').innerText()) + (await owner.content()),
    ) ?? ['']
    await joinBy(approver, link, 'Omar Nasser')
    const permit = await prepare()

    await open(approver, '/console/inbox')
    await approver.locator('main', { hasText: 'https://sandbox.agent-gateway.test/api/orders' }).waitFor()
    expect(await accessibilityFaults(approver)).toEqual([])
    await picture(approver, 'inbox')
    await doing(approver, 'approve').first().click()
    await said(approver)
    const executed = await post('/v1/actions/execute', {
      permit,
      request: { url: `${SAMPLE}/orders`, method: 'POST', body: '{"amount":12}' },
    })
    expect(executed.status).toBe(200)
  })

  it('ends the connection, and the next call of the assistant is refused', async () => {
    await open(owner, '/console/connections')
    await picture(owner, 'connections')
    await owner.locator('main a[href*="/console/connections/con_"]').first().click()
    await picture(owner, 'connection')
    await doing(owner, 'end').click()
    await said(owner)
    const token = assistant.tokens()?.access_token ?? ''
    const refused = await fetch(gateway.mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'gateway_egress_fetch', arguments: { url: `${SAMPLE}/whoami` } },
      }),
    })
    expect([refused.status, refused.headers.get('www-authenticate')?.startsWith('Bearer ')]).toEqual([
      401,
      true,
    ])
    expect(complaints).toEqual([])
  })

  async function post(
    path: string,
    body: unknown,
  ): Promise<{ status: number; body: Record<string, string> }> {
    const answer = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.operatorKey}` },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, string> }
  }

  /** Asks for one request under a mandate that somebody else has to approve. */
  async function prepare(): Promise<string> {
    const list = await fetch(`${gateway.url}/v1/egress/credentials`, {
      headers: { authorization: `Bearer ${gateway.operatorKey}` },
    })
    const { credentials } = (await list.json()) as { credentials: { credential_id: string }[] }
    const credential_id = credentials[0]?.credential_id ?? ''
    const { status, body } = await post('/v1/actions/permits', {
      credential_id,
      request: { url: `${SAMPLE}/orders`, method: 'POST', body: '{"amount":12}' },
      mandate: {
        purpose: 'Orders of the office',
        credential_id,
        host: new URL(SAMPLE).host,
        path_prefix: '/api',
        methods: ['POST'],
        max_calls: 3,
        requires_approval: true,
        approval: { by: 'another' },
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      },
    })
    expect([status, body['detail']]).toEqual([201, undefined])
    return body['permit'] ?? ''
  }
})

// A seller in a real browser: from nothing to a service that is sold, with the sandbox's sample API; then what buyers see of it, also
// where every word of it is hostile.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { accessibilityFaults, arabicFonts, overflow, visit } from '../support/site-browser.ts'

let gateway: DefaultGateway
let browser: Browser
/** As the page showed it. */
let key = ''
beforeAll(async () => {
  gateway = await startDefaultGateway()
  browser = await launchBrowser([], arabicFonts())
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

const EN = { language: 'en', theme: 'light', width: 1280 } as const
const open = (path: string, form: Parameters<typeof visit>[2] = EN) =>
  visit(browser, gateway.url + path, form)

async function send(path: string, body: object, token: string): Promise<unknown> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return answer.json()
}

/** Pays for a call with test money, as stock x402 parts do. @returns status of the paid answer */
async function buy(path: string): Promise<number> {
  const sign = await gateway.wallet()
  const challenge = await fetch(gateway.url + path)
  const required: unknown = JSON.parse(atob(challenge.headers.get('payment-required') ?? ''))
  const payment = btoa(JSON.stringify(await sign(required)))
  return (await fetch(gateway.url + path, { headers: { 'payment-signature': payment } })).status
}

const stepOf = (page: Page, title: string) => page.locator('.sell-step', { hasText: title })

describe('a newcomer with an API', () => {
  it('registers, proves a host, describes a service, tries it and offers it', async () => {
    const { page, complaints, close } = await open('/marketplace/sell')
    // Every field by its label, every button by its name: as who hears the page has them.
    await page.getByLabel('Seller id').fill('tea-house')
    await page.getByLabel('Name', { exact: true }).fill('The Tea House')
    await page.getByRole('button', { name: 'Make a test account' }).click()
    await expect.poll(() => page.getByLabel('Payout account').inputValue()).toMatch(/^0x[0-9a-fA-F]{40}$/)
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Register' }).press('Enter')

    await page.getByText('Your seller key, shown this once').first().waitFor()
    key = (await stepOf(page, 'Register').locator('.code code').textContent()) ?? ''
    expect(key).toMatch(/^agw_sk_/)
    // The focus moves once the next step is drawn; a page where nothing has it says all of its words.
    await expect
      .poll(() => page.evaluate("document.activeElement.closest('h3')?.textContent"))
      .toContain('Prove your host')

    await page.getByRole('button', { name: 'What do I publish?' }).press('Enter')
    const host = stepOf(page, 'Prove your host')
    await host.getByText('_agent-gateway.sandbox.agent-gateway.test').waitFor()
    // A look without a signature says what is missing, and goes on by itself once there is one.
    await page.getByRole('button', { name: 'Check now' }).press('Enter')
    await host.getByText(/sign/i).last().waitFor()
    await page.getByRole('button', { name: 'Sign with the test account' }).press('Enter')
    await host.getByText('sandbox.agent-gateway.test is yours').waitFor()

    await page.getByLabel('Service id').fill('tea')
    await page.getByRole('button', { name: 'Make the draft' }).press('Enter')
    await page.getByText(/The draft tea has \d routes/).waitFor()
    await page.getByRole('button', { name: 'Try it' }).press('Enter')
    await page.getByText('Every route answered as it should.').waitFor()
    await page.getByRole('button', { name: 'Offer it' }).press('Enter')
    await page.getByText('It waits for the operator').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])

    await send(
      '/v1/marketplace/moderation',
      { seller: 'tea-house', service_id: 'tea', decision: 'approve', reason: 'Looked at.' },
      gateway.operatorKey,
    )
    await page.getByRole('button', { name: 'Ask again' }).press('Enter')
    await page.getByRole('link', { name: 'See its page' }).press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tea advice' }).waitFor()
    // The key was in the memory of that page alone.
    expect(await page.content()).not.toContain(key)
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
      key,
    )
    expect(page.url()).not.toContain(key)
    expect(complaints).toEqual([])
    await close()
  })

  it('goes on with its key, and is refused with another', async () => {
    const { page, close } = await open('/ar/marketplace/sell', { language: 'ar', theme: 'dark', width: 390 })
    await page.getByText('لدي مفتاح بائع').click()
    await page.getByLabel('مفتاح البائع', { exact: true }).fill('agw_sk_' + 'x'.repeat(43))
    await page.getByRole('button', { name: 'تابع به' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('مفتاح البائع', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'تابع به' }).click()
    await page.getByText('أنت البائع tea-house.').waitFor()
    await page.getByText('هي معروضة للبيع الآن.').waitFor()
    expect(await overflow(page)).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    await close()
  })

  it('reads how to do it without a script', async () => {
    const { page, close } = await open('/marketplace/sell', { ...EN, hasScript: false })
    expect(await page.locator('main').textContent()).toContain('/v1/marketplace/seller/services/import')
    expect(await page.locator('main').innerText()).not.toContain('Make a test account')
    await close()
  })
})

describe('a buyer', () => {
  it('finds the service, and its figures lead to their sources', async () => {
    await send('/v1/marketplace/seller/services/update', { service_id: 'tea', takes_test_money: true }, key)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    for (let call = 0; call < 3; call++) expect(await buy('/p/testnet/tea-house/tea/list')).toBe(200)
    await expect
      .poll(
        async () => {
          const { page, close } = await open('/marketplace/tea-house/tea')
          const text = await page.locator('main').innerText()
          await close()
          return text
        },
        { timeout: 60_000, interval: 1000 },
      )
      .toMatch(/Largest payer\s+100%/)
    const { page, complaints, close } = await open('/marketplace', { ...EN, hasScript: false })
    await page.getByLabel('Search services').fill('brew')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: 'Tea advice' }).click()
    expect(await page.getByRole('img').count()).toBeGreaterThan(2)
    const sources = await page
      .locator('.chart a, .figure a')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))
    for (const source of new Set(sources.map((source) => source.replace(/#.*/, ''))))
      expect([source, (await fetch(source)).status]).toEqual([source, 200])
    const anchors = await (await fetch(`${gateway.url}/marketplace/figures.md`)).text()
    expect(anchors).toContain('concentration.largest_payer_share')
    expect(complaints).toEqual([])
    await close()
  })
})

const HOSTILE = [
  '<script>document.title="ran"</script><img src=x onerror="document.title=`ran`">',
  '"><svg onload=document.title="ran"> javascript:alert(1) [x](javascript:alert(1))',
  '\u202Egpj.exe \u2066hidden\u2069 ',
  'W'.repeat(900),
]

describe('hostile words of a seller', () => {
  it('run nowhere, and break no layout', async () => {
    const words = HOSTILE.join(' ')
    await send('/v1/marketplace/seller', { name: HOSTILE[0]!.slice(0, 80), description: words }, key)
    const { services } = (await (
      await fetch(`${gateway.url}/v1/marketplace/seller`, { headers: { authorization: `Bearer ${key}` } })
    ).json()) as { services: { routes: Record<string, unknown>[] }[] }
    const routes = services[0]!.routes.map((route) => ({
      ...route,
      summary: HOSTILE[0],
      ...(route['input_schema'] !== null && {
        input_schema: {
          ...(route['input_schema'] as object),
          title: HOSTILE[0],
          description: words,
        },
      }),
    }))
    await send(
      '/v1/marketplace/seller/services/update',
      {
        service_id: 'tea',
        name: HOSTILE[1]!.slice(0, 80),
        description: words.slice(0, 4000),
        tags: ['<b>bold</b>', 'w'.repeat(40), '"onclick=1'],
        refund_policy: words.slice(0, 1000),
        routes,
      },
      key,
    )
    await new Promise((resolve) => setTimeout(resolve, 1500))
    for (const path of [
      '/marketplace',
      '/marketplace/tea-house',
      '/marketplace/tea-house/tea',
      '/ar/marketplace/tea-house/tea',
      `/marketplace?q=${encodeURIComponent(HOSTILE[1]!)}&seller=${encodeURIComponent(HOSTILE[0]!)}`,
    ])
      for (const width of [320, 1280]) {
        const { page, complaints, status, close } = await open(path, { ...EN, width })
        expect([path, status]).toEqual([path, 200])
        expect(await page.title()).not.toMatch(/^ran/)
        expect([path, width, await overflow(page)]).toEqual([path, width, 0])
        expect(await page.locator('main script, main img, main svg[onload], [onclick]').count()).toBe(0)
        expect(
          await page
            .locator('a')
            .evaluateAll(
              (links) =>
                links.filter((link) => !/^(?:https?:|mailto:)/.test((link as HTMLAnchorElement).href)).length,
            ),
        ).toBe(0)
        expect([path, complaints]).toEqual([path, []])
        await close()
      }
  })
})

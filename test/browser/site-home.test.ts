// The first page as a newcomer uses it: a paid call with one click, its receipt, and a line that is copied.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { finish } from '../support/process.ts'
import {
  accessibilityFaults,
  type Form,
  layoutShift,
  overflow,
  pathIn,
  visit,
} from '../support/site-browser.ts'

let gateway: DefaultGateway
let browser: Browser
beforeAll(async () => {
  gateway = await startDefaultGateway()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

const DESK: Form = { language: 'en', theme: 'light', width: 1280 }
const open = (form: Form = DESK) => visit(browser, gateway.url + pathIn(form.language, '/'), form)
const states = (page: Page) =>
  page
    .locator('.live-steps .state')
    .evaluateAll((all) => all.map(({ className }) => className.replace('state state-', '')))
const isOver = (page: Page) => page.locator('.live-steps li:last-child .state-done').waitFor()

describe('the paid call of the first page', () => {
  it.each<Form>([DESK, { language: 'ar', theme: 'dark', width: 390 }])(
    'shows price, payment, result and a receipt that the browser verifies ($language, $width px)',
    async (form) => {
      const { page, close, complaints } = await open(form)
      expect(await states(page)).toEqual(Array(5).fill('unknown'))
      expect(await layoutShift(page)).toBeLessThan(0.02)
      await page.locator('.live-head > button').click()
      await isOver(page)
      expect(await states(page)).toEqual(Array(5).fill('done'))
      expect(await page.locator('.live-window').innerText()).toContain(
        'Green tea is steeped for three minutes',
      )

      const steps = page.locator('.live-steps button')
      const shown: string[] = []
      for (const at of [0, 1, 2, 4]) {
        await steps.nth(at).click()
        shown.push(await page.locator('.live-window').innerText())
      }
      const [request, price, payment, receipt] = shown
      expect(request).toContain('POST /v1/tools/web.fetch')
      expect(price).toMatch(/0\.001 USDC[\s\S]*HTTP 402[\s\S]*payment-required: /)
      expect(payment).toContain('payment-signature: ')
      expect(receipt).toMatch(/rcp_\w+/)
      const link = await page.locator('.live-window a.button').getAttribute('href')
      expect(link).toMatch(form.language === 'ar' ? /^\/ar\/receipts\/rcp_/ : /^\/receipts\/rcp_/)

      // What an answer moves counts where it comes more than half a second behind the click: a slow machine's. 0.1 is good by Core Web Vitals.
      expect(await layoutShift(page)).toBeLessThan(0.1)
      expect(await overflow(page)).toBe(0)
      expect(await accessibilityFaults(page)).toEqual([])
      // A browser reports every 402, and this one was asked for.
      expect(complaints.filter((words) => !words.includes('402'))).toEqual([])
      await close()
    },
  )

  it('pays once for two quick clicks', async () => {
    const { page, close } = await open()
    let paid = 0
    page.on('request', (request) => (paid += request.url().endsWith('/site/test-payment') ? 1 : 0))
    await page.evaluate(`(() => {
      const button = document.querySelector('.live-head > button')
      button.click()
      button.click()
    })()`)
    await isOver(page)
    expect(paid).toBe(1)
    await close()
  })

  it('is made with the keyboard alone, and every step can be looked at again', async () => {
    const { page, close } = await open()
    await page.locator('.live-head > button').focus()
    await page.keyboard.press('Enter')
    await isOver(page)
    // The focus stays where it was, and goes on to the steps and to the window.
    expect(await page.evaluate('document.activeElement.closest(".live-head") !== null')).toBe(true)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    expect(await page.locator('.live-steps button[aria-pressed="true"]').innerText()).toContain('402')
    for (let times = 0; times < 4; times++) await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.className')).toBe('live-window')
    await close()
  })

  it('says in words what failed, and where more is said of it', async () => {
    const { page, close } = await open()
    await page.route('**/site/test-payment', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          code: 'rate_limited',
          title: 'Too many requests',
          detail: 'Later.',
          retry_after_seconds: 9,
        }),
      }),
    )
    await page.locator('.live-head > button').click()
    await page.locator('.live-window .fails').waitFor()
    expect(await states(page)).toEqual(['done', 'done', 'failed', 'unknown', 'unknown'])
    expect(await page.locator('.live-window').innerText()).toMatch(
      /Too many requests[\s\S]*Later\.[\s\S]*9 s/,
    )
    expect(await page.locator('.live-window a').getAttribute('href')).toBe('/problems/rate_limited')
    await close()
  })

  it('shows a hostile page as words, within its window', async () => {
    const { page, close, complaints } = await open({ ...DESK, width: 390 })
    const word = 'W'.repeat(10_000)
    const hostile = `<img src=x onerror="document.title='owned'"> \u202Egpj.exe ${word}`
    await page.route('**/v1/execute', (route) => route.abort())
    await page.route('**/v1/tools/web.fetch', (route) =>
      route.fulfill({
        status: 200,
        contentType: 'application/json',
        body: JSON.stringify({ response: { content: hostile, content_type: 'text/plain' }, receipt: null }),
      }),
    )
    await page.locator('.live-head > button').click()
    await page.locator('.live-document').waitFor()
    expect(await page.locator('.live-document').innerText()).toContain('<img src=x')
    expect(await page.locator('.live-document .chip').innerText()).toBe('U+202E')
    expect(await page.title()).not.toContain('owned')
    expect(await overflow(page)).toBe(0)
    expect(complaints.filter((words) => !words.includes('ERR_FAILED'))).toEqual([])
    await close()
  })
})

describe('the lines that connect', () => {
  it('are chosen with the arrow keys, copied with a button, and run as they were copied', async () => {
    const { page, close } = await open()
    await page.locator('#connect ~ div input[data-tab]').first().focus()
    for (let times = 0; times < 8; times++) await page.keyboard.press('ArrowRight')
    const lines = page.locator('[data-connection="curl"]')
    await lines.waitFor()
    await lines.getByRole('button', { name: 'Copy' }).first().click()
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
    // Its page writes there a moment after the click.
    await expect.poll(clipboard).toContain(`curl -sS ${gateway.url}/v1/execute`)
    const copied = await clipboard()
    const { stdout } = await finish('sh', ['-c', copied])
    expect(stdout).toContain('Sencha, first harvest')
    await close()
  })
})

it('runs the free sample where there is no script', async () => {
  const { page, close } = await open({ ...DESK, hasScript: false })
  await page.locator('noscript button, form button').first().click()
  await page.waitForURL('**/#answer')
  expect(await page.locator('#answer').innerText()).toContain('Sencha, first harvest')
  await close()
})

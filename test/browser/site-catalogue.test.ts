// The catalogue and a tool's page as a visitor uses them: searching as one types, and choosing a language of the calls by keyboard.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'
import { accessibilityFaults, visit } from '../support/site-browser.ts'

let gateway: Harness
let browser: Browser
beforeAll(async () => {
  gateway = await startRestHarness()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

const open = (path: string, hasScript = true) =>
  visit(browser, gateway.baseUrl + path, { language: 'en', theme: 'light', width: 390, hasScript })

it('finds as one types, in the language of the page, and says how many', async () => {
  const { page, complaints, close } = await open('/ar/catalogue')
  await page.fill('#q', 'read a receipt')
  await page
    .locator('.shelf .name')
    .first()
    .and(page.locator('[href="/ar/tools/gateway.receipts.get"]'))
    .waitFor()
  expect(await page.getByRole('status').textContent()).toMatch(/\d+ (?:نتيجة|نتائج)|نتيجة واحدة|نتيجتان/)
  expect(new URL(page.url()).search).toBe('?q=read+a+receipt')
  await page.selectOption('#who', 'key')
  await page.waitForURL(/who=key/)
  expect(await page.locator('[href="/ar/tools/gateway.receipts.get"]').count()).toBe(0)
  await page.fill('#q', 'zzzzqqqq"><img onerror>')
  await page.locator('.notice').waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  await page.fill('#q', '')
  await page.selectOption('#who', '')
  await page.locator('#capabilities').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  expect(complaints).toEqual([])
  await close()
})

it('finds without a script by its button', async () => {
  const { page, close } = await open('/catalogue', false)
  await page.fill('#q', 'web.fetch')
  await page.click('.catalogue-form button')
  await page.locator('.shelf .name[href="/tools/gateway.web.fetch"]').waitFor()
  await close()
})

it.each([true, false])(
  'shows the calls of another language by the arrow keys, with a script: %s',
  async (hasScript) => {
    const { page, close } = await open('/tools/gateway.web.fetch', hasScript)
    await page.locator('.tabs input').first().focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.locator('.tab-panels section:visible', { hasText: 'urllib.request' }).waitFor()
    expect(await page.locator('.tab-panels section:visible').count()).toBe(1)
    await close()
  },
)

it('shows the next page in the language of calls that was chosen', async () => {
  const { page, close } = await open('/tools/gateway.web.fetch')
  await page.locator('.tabs label', { hasText: 'Python' }).click()
  await page.goto(`${gateway.baseUrl}/tools/gateway.inspect`)
  await page.locator('.tab-panels section:visible', { hasText: 'urllib.request' }).waitFor()
  await close()
})

// The interactive API page in a real browser: served by us alone, allowed by its own security policy, and working.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

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

/** A page that records every request and everything the browser complains about. */
async function openPage(path: string): Promise<{ page: Page; hosts: Set<string>; complaints: string[] }> {
  const page = await browser.newPage()
  const hosts = new Set<string>()
  const complaints: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.protocol !== 'blob:') hosts.add(url.origin)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(gateway.baseUrl + path)
  return { page, hosts, complaints }
}

it('opens the API page, expands an operation and tries it for real', async () => {
  const { page, hosts, complaints } = await openPage('/docs/api')
  const operation = page.locator('#operations-capabilities-listCapabilities')
  await operation.locator('.opblock-summary').click()
  const [answer] = await Promise.all([
    page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/capabilities'),
    operation.locator('button.execute').click(),
  ])
  expect(answer.status()).toBe(200)
  await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
  expect(await operation.locator('.live-responses-table').textContent()).toContain('extract-preview')

  expect([...hosts]).toEqual([gateway.baseUrl])
  expect(complaints).toEqual([])
  await page.close()
})

it('shows every operation of the description', async () => {
  const { page } = await openPage('/docs/api')
  const description = (await (await fetch(`${gateway.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, object>
  }
  const operations = Object.values(description.paths).flatMap((item) => Object.keys(item))
  await page.locator('.opblock').first().waitFor()
  expect(await page.locator('.opblock').count()).toBe(operations.length)
  await page.close()
})

it('says SANDBOX on every page', async () => {
  const { page, hosts, complaints } = await openPage('/')
  expect(await page.locator('.banner').textContent()).toContain('Sandbox')
  const colour = await page.evaluate("getComputedStyle(document.querySelector('.banner')).backgroundColor")
  expect(colour).toBe('rgb(243, 182, 67)')
  expect([...hosts]).toEqual([gateway.baseUrl])
  expect(complaints).toEqual([])
  await page.close()
})

it.each(['/', '/capabilities/extract-preview', '/problems/scope_denied', '/docs/api'])(
  'fits %s on a telephone and a desk, the banner from edge to edge',
  async (path) => {
    const { page } = await openPage(path)
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate('document.documentElement.scrollWidth'), `at ${width}`).toBe(width)
      expect(await page.locator('.banner').boundingBox()).toMatchObject({ x: 0, y: 0, width })
    }
    expect(await page.locator('body').innerText()).not.toContain('`')
    await page.close()
  },
)

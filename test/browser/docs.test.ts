// The documentation in a real browser: served by us alone, allowed by its own security policy, found by its search, and copied from.
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
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
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

it('a newcomer searches, opens the guide at its heading, and copies a command with this address', async () => {
  const { page, hosts, complaints } = await openPage('/docs')
  await page.getByRole('searchbox').fill('connect claude code')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Connect an MCP client: Claude Code' }).click()
  await page.waitForURL('**/docs/mcp#claude-code')
  const heading = page.getByRole('heading', { name: 'Claude Code' })
  // The page glides there.
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(200)
  await page.locator('#claude-code + figure .copy').click()
  await page.locator('#claude-code + figure .copy[data-state=done]').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    `claude mcp add --transport http agent-gateway ${gateway.baseUrl}/mcp`,
  )
  expect([...hosts]).toEqual([gateway.baseUrl])
  expect(complaints).toEqual([])
  await page.context().close()
})

it('reads on with the keyboard alone: next guide, contents, a problem', async () => {
  const { page, complaints } = await openPage('/docs/sign-in')
  await page.getByRole('navigation', { name: 'Previous, Next' }).getByRole('link').last().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/mcp')
  await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Cursor' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/mcp#cursor')
  await page.goto(`${gateway.baseUrl}/problems/key_required`)
  await page.getByRole('link', { name: 'Get a free email key' }).or(page.locator('.notice a')).first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/tools/**')
  expect(complaints).toEqual([])
  await page.context().close()
})

it('says SANDBOX on every page', async () => {
  const { page, hosts, complaints } = await openPage('/')
  expect(await page.locator('.banner').textContent()).toContain('Sandbox')
  const colour = await page.evaluate("getComputedStyle(document.querySelector('.banner')).backgroundColor")
  expect(colour).toBe('rgb(243, 182, 67)')
  expect([...hosts]).toEqual([gateway.baseUrl])
  expect(complaints).toEqual([])
  await page.context().close()
})

it.each([
  '/',
  '/capabilities/extract-preview',
  '/problems/scope_denied',
  '/docs',
  '/docs/credential-broker',
  '/docs/security',
  '/docs/performance',
  '/docs?q=%3Cb%3Eقرد%3C%2Fb%3E',
  '/reference',
  '/problems',
  '/changelog',
  '/ar/docs/payments',
  '/ar/reference',
  '/nowhere',
])('fits %s on a small telephone and a desk, the banner from edge to edge', async (path) => {
  const { page } = await openPage(path)
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth'), `at ${width}`).toBe(width)
    expect(await page.locator('.banner').boundingBox()).toMatchObject({ x: 0, y: 0, width })
  }
  await page.context().close()
})

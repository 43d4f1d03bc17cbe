// The live log and the long work of the console in a real Chromium: what is decided appears, a filter is in the address, a pause holds, a
// session that ends is said, and work that goes on is found again.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
import { signIn } from '../support/people.ts'
import { accessibilityFaults, overflow, visit } from '../support/site-browser.ts'

let world: ConsoleWorld
let browser: Browser
beforeAll(async () => {
  world = await startConsoleWorld()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

const DESK = { language: 'en', theme: 'light', width: 1280 } as const
const rows = (page: Page) => page.locator('.live-log tbody tr')
const listening = (page: Page) => page.locator('.live-bar .state-done').waitFor()

describe('the live log', () => {
  it('shows calls as they are decided, narrowed by what is pressed, and holds still when it is told to', async () => {
    const { page, close } = await visit(browser, `${world.url}/console/live`, DESK, world.owner.cookie)
    await listening(page)
    const call = () => world.gateway.rest('GET', '/v1/keys', undefined, world.gateway.operatorKey)
    const refused = () => world.gateway.rest('GET', '/v1/receipts/rcp_x')
    await call()
    await refused()
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.getByRole('button', { name: 'gateway.keys.list' }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(new URL(page.url()).search).toBe('?tool=gateway.keys.list')
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await overflow(page)).toBe(0)

    await page.getByRole('button', { name: 'Pause' }).click()
    await call()
    await expect.poll(() => page.locator('.live-bar').textContent()).toContain('1 more since')
    expect(await rows(page).count()).toBe(1)
    await page.getByRole('button', { name: 'Go on' }).click()
    await expect.poll(() => rows(page).count()).toBe(2)
    await close()
  })

  it('begins with the filter of its address', async () => {
    const { page, close } = await visit(
      browser,
      `${world.url}/console/live?code=refused`,
      DESK,
      world.owner.cookie,
    )
    await listening(page)
    await world.gateway.rest('GET', '/v1/keys', undefined, world.gateway.operatorKey)
    await world.gateway.rest('GET', '/v1/receipts/rcp_x')
    await expect.poll(() => rows(page).allTextContents()).toHaveLength(1)
    expect(await rows(page).first().textContent()).toContain('receipt_not_found')
    await close()
  })

  it('says that the session has ended', async () => {
    const person = await signIn(world.gateway)
    const { page, close } = await visit(browser, `${world.url}/console/live`, DESK, person.cookie)
    await listening(page)
    await world.gateway.services.identity.sessions.end({
      accountId: person.accountId,
      sessionId: person.sessionId,
    })
    await expect.poll(() => page.locator('.live-bar [role=status]').textContent()).toContain('session ended')
    await close()
  })
})

describe('long work', () => {
  it.each([
    ['audit', 'Verify the whole chain', '.state-done'],
    ['backup', 'Make a backup', 'button:has-text("Download")'],
    ['doctor', 'Look again', '.doctor-findings > li'],
  ])('of the page %s shows that it goes on, and what came of it', async (name, button, result) => {
    const { page, close } = await visit(
      browser,
      `${world.url}/console/${name}`,
      { ...DESK, theme: 'dark', width: 390 },
      world.owner.cookie,
    )
    await page.getByRole('button', { name: button }).click()
    await page.locator(`main ${result}`).first().waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await overflow(page)).toBe(0)
    await close()
  })
})

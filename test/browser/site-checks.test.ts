// The pages on which one checks something, as a visitor has them: with the keyboard alone, with a file that is dropped, and left open.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { accessibilityFaults, arabicFonts, type Form, overflow, visit } from '../support/site-browser.ts'

let gateway: DefaultGateway
let browser: Browser
beforeAll(async () => {
  gateway = await startDefaultGateway()
  browser = await launchBrowser([], arabicFonts())
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

const DESK: Form = { language: 'en', theme: 'light', width: 1280 }
const PHONE: Form = { language: 'ar', theme: 'dark', width: 390 }
const open = (path: string, form: Form) => visit(browser, gateway.url + path, form)

const CALL = `curl http://shop.example/mcp -H 'Content-Type: application/json' -d '{"jsonrpc": "2.0", "id": 1,
  "method": "tools/call", "params": {"name": "brew", "arguments": {"note": "<img src=x onerror=alert(1)>"}}}'`

describe('a transaction', () => {
  it('is pasted and tested with the keyboard alone, and each finding leads to its place and back', async () => {
    const { page, complaints, close } = await open('/test', DESK)
    await page.getByLabel('Transaction', { exact: true }).focus()
    await page.keyboard.insertText(CALL)
    await page.keyboard.press('Control+Enter')
    const result = page.getByRole('heading', { name: 'Result' })
    await result.waitFor()
    await expect.poll(() => result.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(new URL(page.url()).search).toBe('')

    const finding = page.locator('.finding', { hasText: 'PLAIN_HTTP' })
    await finding.getByRole('link', { name: 'Show it in the text' }).focus()
    await page.keyboard.press('Enter')
    const number = page.locator(':target')
    expect(await number.locator('xpath=following-sibling::mark').first().innerText()).toBe(
      'http://shop.example/mcp',
    )
    await number.focus()
    await page.keyboard.press('Enter')
    expect(await page.locator(':target').innerText()).toContain('PLAIN_HTTP')
    expect(await page.locator('img[src=x]').count()).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  it('that is none is told from one, and what is told is read out', async () => {
    const { page, complaints, close } = await open('/test', DESK)
    await page.getByLabel('Transaction', { exact: true }).fill('hello')
    await page.getByRole('button', { name: 'Test it' }).click()
    expect(await page.getByRole('alert').innerText()).toContain('neither JSON, nor an HTTP message')
    expect(complaints).toEqual([])
    await close()
  })

  it('is read from a file that is dropped', async () => {
    const { page, close } = await open('/test', DESK)
    const dropped = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], 'call.txt'))
      return transfer
    }, CALL)
    await page.locator('.paste').dispatchEvent('drop', { dataTransfer: dropped })
    await page.locator('.finding').first().waitFor()
    expect(await page.getByLabel('Transaction', { exact: true }).inputValue()).toBe(CALL)
    await close()
  })

  it.each([
    ['en', DESK, '/test?sample=risky'],
    ['ar', PHONE, '/ar/test?sample=x402'],
    ['ar without a script', { ...PHONE, hasScript: false }, '/ar/test?sample=ap2'],
  ] as const)('has its report as a sample, sound and within the page: %s', async (_, form, path) => {
    const { page, complaints, transferred, close } = await open(path, form)
    expect(await overflow(page)).toBe(0)
    expect(await page.locator('.finding').count()).toBeGreaterThan(1)
    if (form.hasScript !== false) expect(await accessibilityFaults(page)).toEqual([])
    expect(transferred()).toBeLessThan(60 * 1024)
    expect(complaints).toEqual([])
    await close()
  })

  it('is tested without a script as well', async () => {
    const { page, close } = await open('/test', { ...DESK, hasScript: false })
    await page.getByLabel('Transaction', { exact: true }).fill(CALL)
    await page.getByRole('button', { name: 'Test it' }).click()
    await page.locator('.finding', { hasText: 'PLAIN_HTTP' }).waitFor()
    await close()
  })
})

describe('the state of the gateway', () => {
  it('is asked for every 15 seconds while somebody looks, and not while nobody does', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.clock.install()
    await page.addInitScript(
      `Object.defineProperty(document, 'visibilityState', { get: () => window.seen ?? 'visible' })`,
    )
    let asked = 0
    page.on('request', (request) => {
      if (request.headers()['accept'] === 'application/json') asked++
    })
    await page.goto(`${gateway.url}/status`)
    await page.getByText('It refreshes itself').waitFor()
    await page.clock.runFor(31_000)
    await expect.poll(() => asked).toBe(2)
    await page.evaluate(`window.seen = 'hidden'`)
    await page.clock.runFor(60_000)
    expect(asked).toBe(2)

    await context.setOffline(true)
    await page.evaluate(`window.seen = 'visible'`)
    await page.clock.runFor(16_000)
    await page.getByText('The gateway was not reached').waitFor()
    await context.close()
  })
})

describe('what can be paid elsewhere', () => {
  it('is searched and narrowed without a script', async () => {
    const { page, close } = await open('/discovery', { ...DESK, hasScript: false })
    await page.getByLabel('Words').fill('feeds')
    await page.getByLabel('At most (USDC)').fill('0.01')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=feeds/)
    const prices = await page.locator('.found-price').allInnerTexts()
    expect(prices.length).toBeGreaterThan(0)
    for (const price of prices) expect(Number.parseFloat(price)).toBeLessThanOrEqual(0.01)
    await close()
  })
})

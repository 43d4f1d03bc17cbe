// Consent in a real Chromium: what axe finds in both languages and themes, that it needs no script, that the browser really arrives at a program
// on the same machine, and that no other page frames it.
import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { ask, type Asking, register } from '../support/consent.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
import {
  accessibilityFaults,
  arabicFonts,
  type Form,
  formName,
  overflow,
  pathIn,
} from '../support/site-browser.ts'

const PICTURES = new URL('../../screenshots/', import.meta.url).pathname

let world: ConsoleWorld
let browser: Browser
let clientId: string
/** A program of the machine that waits for its answer, and serves a page that would like to frame another one. */
let program: Server
const arrived: URL[] = []
const programUrl = () => `http://127.0.0.1:${(program.address() as AddressInfo).port}`
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  world = await startConsoleWorld()
  browser = await launchBrowser([], arabicFonts())
  clientId = await register(world.gateway, 'Claude Code')
  program = createServer((req, res) => {
    const url = new URL(req.url ?? '', 'http://127.0.0.1')
    if (url.pathname === '/callback') arrived.push(url)
    const framed = url.searchParams.get('frame')
    res
      .writeHead(200, { 'content-type': 'text/html' })
      .end(framed === null ? '<h1>done</h1>' : `<iframe src="${framed}" width="600" height="400"></iframe>`)
  })
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await browser?.close()
  program?.close()
  await world?.close()
})

async function open(form: Form, asking: Asking | undefined, hasScript = true): Promise<BrowserContext> {
  const context = await browser.newContext({
    colorScheme: form.theme,
    javaScriptEnabled: hasScript,
    viewport: { width: form.width, height: 900 },
  })
  const [name = '', value = ''] = world.owner.cookie.split(/=(.*)/s)
  const secure = { secure: true, httpOnly: true, sameSite: 'Strict' } as const
  await context.addCookies([{ name, value, url: world.url.replace('http:', 'https:'), ...secure }])
  const waiting = asking?.cookies.split('; ') ?? []
  await context.addCookies(
    waiting.map((pair) => {
      const [cookie = '', held = ''] = pair.split(/=(.*)/s)
      return { name: cookie, value: held, url: world.url, httpOnly: true }
    }),
  )
  return context
}

const FORMS: readonly Form[] = [
  { language: 'en', theme: 'light', width: 1280 },
  { language: 'ar', theme: 'dark', width: 390 },
]

describe.each(FORMS.map((form) => [formName(form), form] as const))('consent, in %s', (name, form) => {
  it('is sound, and so is the page of what was allowed', async () => {
    const asking = await ask(world.gateway, clientId, 'gateway gateway:operator', `${programUrl()}/callback`)
    const context = await open(form, asking)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(world.url + pathIn(form.language, asking.path))
    await page.locator('input[name="use"]').first().check()
    await page.locator('details.console-grant-scope summary').first().click()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    await page.screenshot({ path: join(PICTURES, `console-connect-${name}.png`), fullPage: true })

    const before = arrived.length
    await page.locator('button[form="consent"]').click()
    await page.waitForURL(/127\.0\.0\.1:\d+\/callback/)
    expect(arrived[before]?.searchParams.get('code')).toMatch(/./)

    await page.goto(world.url + pathIn(form.language, '/console/connections'))
    expect(await accessibilityFaults(page)).toEqual([])
    await page.locator('main a[href*="/console/connections/con_"]').first().click()
    await page.locator('main details summary').first().click()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    await page.screenshot({ path: join(PICTURES, `console-connection-${name}.png`), fullPage: true })
    expect(complaints).toEqual([])
    await context.close()
  })
})

describe('consent', () => {
  const [desk] = FORMS as readonly [Form]

  it('needs no script: the browser arrives at the program all the same', async () => {
    const asking = await ask(world.gateway, clientId, 'gateway', `${programUrl()}/callback`)
    const context = await open(desk, asking, false)
    const page = await context.newPage()
    await page.goto(world.url + asking.path)
    await page.locator('form:has(input[value="refuse"]) button').click()
    await page.waitForURL(/127\.0\.0\.1:\d+\/callback/)
    expect(arrived.at(-1)?.searchParams.get('error')).toBe('access_denied')
    await context.close()
  })

  it('is drawn in no frame of another page', async () => {
    const asking = await ask(world.gateway, clientId)
    const context = await open(desk, asking)
    const page = await context.newPage()
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    await page.goto(`${programUrl()}/?frame=${encodeURIComponent(world.url + asking.path)}`)
    await refused
    const [, framed] = page.frames()
    expect(framed?.url()).not.toContain(asking.path)
    await context.close()
  })
})

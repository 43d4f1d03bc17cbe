// One newcomer, from the first page to a receipt and a connection that works: with a mouse on a desk, with a thumb in Arabic, and with the
// keyboard alone, where every step is reached by Tab and done by Enter.
import type { Browser, Locator, Page } from 'playwright-core'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { common } from '../../src/doors/site/texts/common.ts'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { arabicFonts, type Form, pathIn, visit } from '../support/site-browser.ts'

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

/** How somebody works a page. */
interface Hand {
  press(page: Page, target: Locator): Promise<void>
  write(page: Page, target: Locator, text: string): Promise<void>
}

const pointer: Hand = {
  press: (_page, target) => target.click(),
  write: (_page, target, text) => target.fill(text),
}

/** More stops than any page has. */
const MAX_STOPS = 250

async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${String(target)}`)
}

const keyboard: Hand = {
  async press(page, target) {
    await tabTo(page, target)
    await page.keyboard.press('Enter')
  },
  async write(page, target, text) {
    await tabTo(page, target)
    await page.keyboard.press('Control+A')
    await page.keyboard.type(text)
  },
}

const NEWCOMERS: readonly (readonly [string, Form, Hand])[] = [
  ['a mouse, on a desk', { language: 'en', theme: 'light', width: 1280 }, pointer],
  ['a thumb, on a telephone, in Arabic', { language: 'ar', theme: 'dark', width: 390 }, pointer],
  ['the keyboard alone', { language: 'en', theme: 'dark', width: 1280 }, keyboard],
]

it.each(NEWCOMERS)(
  'a newcomer finds, tries, pays, verifies and connects, with %s',
  async (_what, form, hand) => {
    const t = common[form.language]
    const { page, complaints, origins, close } = await visit(
      browser,
      gateway.url + pathIn(form.language, '/'),
      form,
    )
    const way = (name: string) =>
      page.getByRole('navigation').first().getByRole('link', { name, exact: true })

    // Finds a tool by what it is for.
    await hand.press(page, way(t.nav.catalogue))
    await page.waitForURL(`**${pathIn(form.language, '/catalogue')}`)
    await hand.write(page, page.locator('input[type=search]'), 'feed digest')
    await page.keyboard.press('Enter')
    await page.waitForURL(/[?&]q=feed/)
    await hand.press(page, page.locator('main a[href$="/capabilities/feed-digest"]').first())
    await page.waitForURL('**/capabilities/feed-digest')
    expect(await page.locator('h1').innerText()).not.toBe('')

    // Tries a free one.
    await page.goto(gateway.url + pathIn(form.language, '/tools/gateway_execute'))
    await hand.press(page, page.locator('.try-form button[type=submit].primary'))
    await page.locator('.try-answer .markdown').waitFor()
    expect(await page.locator('.try-answer').innerText()).toContain('Let the water cool')

    // Pays for one, and looks at the receipt.
    await page.goto(gateway.url + pathIn(form.language, '/tools/gateway.web.fetch'))
    await hand.press(page, page.locator('.try-form button[type=submit].primary'))
    await hand.press(page, page.locator('.try-answer button.pays'))
    await page.locator('.try-answer .verified[data-verdict=genuine]').waitFor()
    await hand.press(page, page.locator('.try-answer a[href*="/receipts/"]').first())
    await page.waitForURL('**/receipts/rcp_*')
    await page.locator('main [data-verdict=genuine]').first().waitFor()

    // Copies a line, which works.
    await page.goto(gateway.url + pathIn(form.language, '/'))
    const line = page.locator('[data-connection]:visible').first()
    await hand.press(page, line.locator('button[data-copy]').first())
    await line.locator('button[data-state=done]').first().waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    const [url] = /https?:\/\/\S+\/mcp/.exec(copied) ?? []
    const client = new Client({ name: 'newcomer', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url ?? '')))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('gateway_web_fetch')
    await client.close()

    // A browser writes the 402 into its console; nothing else is there.
    expect(complaints.filter((words) => !words.includes('402'))).toEqual([])
    expect([...origins]).toEqual([gateway.url])
    await close()
  },
)

// Every page of the site in a real Chromium, in both languages, both themes, on a telephone and a desk: what it weighs, whether it jumps,
// what axe finds, what the browser complains of. Pictures of twelve pages in every form are left in `screenshots/` for a person to look at.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { buyArticle } from '../support/site-world.ts'
import {
  accessibilityFaults,
  arabicFonts,
  type Form,
  formName,
  FORMS,
  layoutShift,
  overflow,
  pathIn,
  visit,
} from '../support/site-browser.ts'

const MAX_BYTES = 60 * 1024
/** A jump that nobody notices: a tenth of what is called good. */
const MAX_SHIFT = 0.01
const PICTURES = new URL('../../screenshots/', import.meta.url).pathname

let gateway: DefaultGateway
let browser: Browser
/** Of a paid call: its page has something to show. */
let receiptId: string
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  gateway = await startDefaultGateway()
  browser = await launchBrowser([], arabicFonts())
  receiptId = await buyArticle(gateway)
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

/** Names of pages, of which pictures are made, and their paths. */
const PICTURED: Readonly<Record<string, () => string>> = {
  home: () => '/',
  catalogue: () => '/catalogue',
  tool: () => '/tools/gateway.web.fetch',
  capability: () => '/capabilities/product-offers',
  marketplace: () => '/marketplace',
  seller: () => '/marketplace/gateway',
  sell: () => '/marketplace/sell',
  discovery: () => '/discovery',
  receipt: () => `/receipts/${receiptId}`,
  test: () => '/test',
  status: () => '/status',
  guide: () => '/docs/buying',
}
const OTHERS: Readonly<Record<string, () => string>> = {
  verify: () => '/verify',
  docs: () => '/docs',
  reference: () => '/reference',
  changelog: () => '/changelog',
  problem: () => '/problems/scope_denied',
  figures: () => '/marketplace/figures',
  'operator tool': () => '/tools/gateway.egress.credentials.create',
  service: () => '/marketplace/gateway/feed-digest',
}

const isPicturedIn = (name: string) => Object.hasOwn(PICTURED, name)
const PAGES = { ...PICTURED, ...OTHERS }
/** One form for each theme, language and width suffices where nobody looks at a picture. */
const SOME: readonly Form[] = FORMS.filter(({ language, theme, width }) =>
  language === 'en' ? theme === 'light' && width === 1280 : theme === 'dark' && width === 390,
)

describe.each(Object.entries(PAGES))('%s', (name, pathOf) => {
  it.each((isPicturedIn(name) ? FORMS : SOME).map((form) => [formName(form), form] as const))(
    'is light, still and sound in %s',
    async (form, view) => {
      const seen = await visit(browser, gateway.url + pathIn(view.language, pathOf()), view)
      const { page } = seen
      expect(seen.status).toBe(200)
      expect(await layoutShift(page)).toBeLessThan(MAX_SHIFT)
      expect(await overflow(page)).toBe(0)
      expect(seen.complaints).toEqual([])
      expect([...seen.origins]).toEqual([gateway.url])
      expect(await page.locator('h1').count()).toBe(1)
      if (SOME.includes(view)) {
        expect(seen.transferred(), 'bytes').toBeLessThan(MAX_BYTES)
        expect(await accessibilityFaults(page)).toEqual([])
      }
      if (isPicturedIn(name))
        await page.screenshot({
          path: join(PICTURES, `${name}-${form}.png`),
          fullPage: true,
        })
      await seen.close()
    },
  )
})

it('fits a narrow telephone, and reads without a script', async () => {
  for (const [name, pathOf] of Object.entries(PAGES)) {
    const seen = await visit(browser, gateway.url + pathOf(), {
      language: 'en',
      theme: 'light',
      width: 320,
      hasScript: false,
    })
    expect([name, (await seen.page.locator('main').innerText()).length > 100]).toEqual([name, true])
    expect([name, await seen.page.locator('main').evaluate(wideParts)]).toEqual([name, []])
    await seen.close()
  }
})

/** Elements that are wider than the window and do not scroll by themselves. */
function wideParts(main: Element): string[] {
  const width = document.documentElement.clientWidth
  const wide = [...main.querySelectorAll('*')].filter(
    (element) =>
      element.getBoundingClientRect().right > width + 1 &&
      element.closest('.scrolling, pre, nav, .visually-hidden') === null,
  )
  return wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 120))
}

// Every page of the console in a real Chromium, with records to show: in both languages, both themes, on a telephone and a desk. What it
// weighs, whether it jumps, what axe finds, what the browser complains of. Pictures are left in `screenshots/` for a person to look at.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CONSOLE_ROUTES, type ConsoleRoute } from '../../src/doors/console/routes.ts'
import { launchBrowser } from '../support/browser.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
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

/** All scripts of the console together (issue: 120 KB) are less than one page may weigh with its style and its HTML. */
const MAX_BYTES = 120 * 1024
const MAX_SHIFT = 0.01
const PICTURES = new URL('../../screenshots/', import.meta.url).pathname

let world: ConsoleWorld
let browser: Browser
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  world = await startConsoleWorld()
  browser = await launchBrowser([], arabicFonts())
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

/** Pages of sign-in need a request that waits: they are walked in suites of their own. */
const ELSEWHERE = ['connect', 'join', 'device', 'connection', 'payment', 'task']
const ROUTES = Object.entries(CONSOLE_ROUTES as Readonly<Record<string, ConsoleRoute>>).filter(
  ([name]) => !ELSEWHERE.includes(name),
)
/** One form for each theme, language and width. */
const SOME: readonly Form[] = FORMS.filter(({ language, theme, width }) =>
  language === 'en' ? theme === 'light' && width === 1280 : theme === 'dark' && width === 390,
)

describe.each(ROUTES)('%s', (name, route) => {
  it.each(SOME.map((form) => [formName(form), form] as const))(
    'is light, still and sound in %s',
    async (form, view) => {
      const path = world.pathOf(route.path)
      const seen = await visit(
        browser,
        world.url + pathIn(view.language, path),
        view,
        route.isOpen ? undefined : world.owner.cookie,
      )
      const { page } = seen
      await page.screenshot({ path: join(PICTURES, `console-${name}-${form}.png`), fullPage: true })
      expect(seen.status).toBe(200)
      expect(await page.locator('h1').count()).toBe(1)
      expect(await layoutShift(page)).toBeLessThan(MAX_SHIFT)
      expect(await overflow(page)).toBe(0)
      expect(seen.complaints).toEqual([])
      expect([...seen.origins]).toEqual([world.url])
      expect(seen.transferred(), 'bytes').toBeLessThan(MAX_BYTES)
      expect(await accessibilityFaults(page)).toEqual([])
      await seen.close()
    },
  )
})

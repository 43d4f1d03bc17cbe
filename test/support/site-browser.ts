// Pages of the site as a visitor has them: a language, colours, a width, with or without a script. What the browser complains of, what it
// loaded and how far the layout jumped is kept with each page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'

const require = createRequire(import.meta.url)

export interface Form {
  readonly language: 'en' | 'ar'
  readonly theme: 'light' | 'dark'
  readonly width: number
  readonly hasScript?: boolean
}

/** Each language, theme and width that a page has to be good in. */
export const FORMS: readonly Form[] = (['en', 'ar'] as const).flatMap((language) =>
  (['light', 'dark'] as const).flatMap((theme) => [1280, 390].map((width) => ({ language, theme, width }))),
)

export const formName = ({ language, theme, width }: Form) => `${language}-${theme}-${width}`

export interface Visit {
  readonly page: Page
  readonly status: number
  /** Errors of scripts, of the policy and of the console. */
  readonly complaints: readonly string[]
  /** Origins that anything was asked of. */
  readonly origins: ReadonlySet<string>
  /** Bytes on the wire so far: heads and bodies as they came. */
  transferred(): number
  close(): Promise<void>
}

/** Paths of the site in a language. */
export const pathIn = (language: Form['language'], path: string) =>
  language === 'en' ? path : path === '/' ? '/ar' : `/ar${path}`

/**
 * Opens the path, as written, in a context of its own.
 * @param cookie `name=value` of somebody who is signed in
 */
export async function visit(browser: Browser, url: string, form: Form, cookie?: string): Promise<Visit> {
  const context: BrowserContext = await browser.newContext({
    colorScheme: form.theme,
    locale: form.language === 'ar' ? 'ar-EG' : 'en-US',
    viewport: { width: form.width, height: 900 },
    javaScriptEnabled: form.hasScript ?? true,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  if (cookie !== undefined) await context.addCookies([sessionCookieOf(cookie, url)])
  const page = await context.newPage()
  const complaints: string[] = []
  const origins = new Set<string>()
  let bytes = 0
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  const response = await page.goto(url, { waitUntil: 'load' })
  return {
    page,
    status: response?.status() ?? 0,
    complaints,
    origins,
    transferred: () => bytes,
    close: () => context.close(),
  }
}

/** As Chromium keeps a cookie of our console: `Secure` also on loopback, which it takes from a secure address alone. */
export function sessionCookieOf(cookie: string, url: string) {
  const at = cookie.indexOf('=')
  return {
    name: cookie.slice(0, at),
    value: cookie.slice(at + 1),
    url: `https://${new URL(url).host}`,
    secure: true,
    httpOnly: true,
    sameSite: 'Strict' as const,
  }
}

/** Sum of the layout shifts so far that nobody's input caused (Cumulative Layout Shift). */
export const layoutShift = (page: Page): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    let sum = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(sum), 150)
  })`)

/** Milliseconds until something was drawn. */
export const firstPaint = (page: Page): Promise<number> =>
  page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1`)

/** Pixels by which the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`)

let axe: string | undefined
interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What axe finds that is serious or critical, one line each. It runs beside the page's policy, which lets no script in. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  axe ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return (result.value as readonly Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
}

/**
 * Environment for a browser that draws Arabic: the packaged one brings no font for it.
 * @returns variables for fontconfig that name the fonts of the machine and Vazirmatn
 */
export function arabicFonts(): Record<string, string> {
  const folder = join(dirname(require.resolve('vazirmatn/package.json')), 'fonts/ttf')
  const home = join(tmpdir(), 'agent-gateway-fonts')
  mkdirSync(home, { recursive: true })
  const file = join(home, 'fonts.conf')
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd"><fontconfig><include ignore_missing="yes">/etc/fonts/fonts.conf</include><dir>${folder}</dir><dir>${join(tmpdir(), 'fonts')}</dir><cachedir>${home}</cachedir></fontconfig>`,
  )
  return { FONTCONFIG_FILE: file }
}

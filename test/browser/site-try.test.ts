// Tools tried on their pages in a real browser: free, refused, paid with test money, with a token, and without a script.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { accessibilityFaults, type Form, overflow, pathIn, visit } from '../support/site-browser.ts'

let gateway: DefaultGateway
let browser: Browser
beforeAll(async () => {
  gateway = await startDefaultGateway()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

const DESK: Form = { language: 'en', theme: 'light', width: 1280 }
const PHONE: Form = { language: 'ar', theme: 'dark', width: 390 }
const open = (tool: string, form: Form = DESK) =>
  visit(browser, gateway.url + pathIn(form.language, `/tools/${tool}`), form)

/** Browsers write each refusal into the console; that is not an error of the page. */
const faultsIn = (complaints: readonly string[]) =>
  complaints.filter(
    (words) => !words.startsWith('Failed to load resource: the server responded with a status of 4'),
  )
const submit = (page: Page) => page.locator('.try-form button[type=submit].primary')
/** The page moves it once it has drawn what it moves to. */
const focused = (page: Page) => page.evaluate<string>('document.activeElement.id')
const answer = (page: Page) => page.locator('.try-answer')

describe('a free tool', () => {
  it('is answered on the page, as a page to read, and the news has the focus', async () => {
    const { page, complaints, close } = await open('gateway_execute')
    await submit(page).click()
    await answer(page).locator('.markdown').waitFor()
    expect(await answer(page).locator('.markdown').innerText()).toContain('Let the water cool')
    await expect.poll(() => focused(page)).toBe('try-answer')
    expect(await accessibilityFaults(page)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  it('is called once by a double click', async () => {
    const { page, close } = await open('gateway_execute')
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.url()))
    await submit(page).dblclick()
    await answer(page).locator('.markdown').waitFor()
    expect(calls.filter((url) => url.endsWith('/v1/execute'))).toHaveLength(1)
    await close()
  })

  it('may be cancelled, and called again', async () => {
    const { page, close } = await open('gateway_execute')
    let isSlow = true
    await page.route('**/v1/execute', async (route) => {
      if (!isSlow) await route.continue()
    })
    await submit(page).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await answer(page).getByText('Whether the gateway had done the work by then is not known.').waitFor()
    isSlow = false
    await submit(page).click()
    await answer(page).locator('.markdown').waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      answer(page)
        .locator('details', { hasText: 'The whole answer as JSON' })
        .last()
        .evaluate((element) => {
          element.setAttribute('open', '')
          element.querySelector('button')?.click()
        }),
    ])
    expect(file.suggestedFilename()).toBe('answer.json')
    await close()
  })

  it('shows the line for a shell, which runs as pasted', async () => {
    const { page, close } = await open('gateway.discovery.search')
    await submit(page).click()
    await answer(page).locator('.result').waitFor()
    await page.locator('.try-answer details.request > summary').click()
    const line = await page.locator('.try-answer details.request code').innerText()
    const { stdout } = await promisify(execFile)('sh', ['-c', line])
    expect(JSON.parse(stdout)).toHaveProperty('resources')
    await close()
  })

  it('keeps the input through both views', async () => {
    const { page, close } = await open('gateway.inspect')
    const json = page.locator('#try-json')
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const before = await json.inputValue()
    expect(JSON.parse(before)).toMatchObject({ method: 'POST', headers: { 'API-Version': '2026-04-17' } })
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    expect(await json.inputValue()).toBe(before)
    await json.fill('{"a"')
    await submit(page).click()
    expect(await json.getAttribute('aria-invalid')).toBe('true')
    await close()
  })
})

describe('a refusal', () => {
  it('is shown at its field, which has the focus', async () => {
    const { page, complaints, close } = await open('gateway.discovery.search')
    await page.locator('[id="try/limit"]').fill('900')
    await submit(page).click()
    await page.locator('[id="try/limit"][aria-invalid=true]').waitFor()
    await expect.poll(() => focused(page)).toBe('try/limit')
    expect(await page.locator('[id="try/limit-fault"]').innerText()).not.toBe('')
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faultsIn(complaints)).toEqual([])
    await close()
  })

  it('offers a request that works, with one click', async () => {
    const { page, close } = await open('gateway_execute')
    await page.locator('[id="try/intent"]').fill('what is love')
    await submit(page).click()
    await answer(page).locator('[data-code=intent_unknown]').waitFor()
    await answer(page).locator('.notice button').click()
    await submit(page).click()
    await answer(page).locator('.result, [data-code=payment_required]').waitFor()
    await close()
  })
})

describe('a paid tool', () => {
  it.each([DESK, PHONE])(
    'says its price, is paid with test money by keyboard alone, and its receipt is verified ($language)',
    async (form) => {
      const { page, complaints, close } = await open('gateway.web.fetch', form)
      await submit(page).focus()
      await page.keyboard.press('Enter')
      await answer(page).locator('[data-code=payment_required]').waitFor()
      expect(await answer(page).locator('.notice').innerText()).toContain('0.001 USDC')
      for (let at = 0; at < 12; at++) {
        await page.keyboard.press('Tab')
        if (await page.evaluate("document.activeElement.matches('button.pays')")) break
      }
      await page.keyboard.press('Enter')
      await answer(page).locator('.verified[data-verdict]').waitFor()
      expect(await answer(page).locator('.verified').getAttribute('data-verdict')).toBe('genuine')
      expect(await answer(page).locator('.quoted').innerText()).toContain('Green tea is steeped')
      expect(await answer(page).locator('.steps > li').count()).toBe(4)
      expect(await accessibilityFaults(page)).toEqual([])
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(faultsIn(complaints)).toEqual([])
      await close()
    },
  )
})

describe('a tool that needs a token', () => {
  it('is called with it, and keeps it nowhere', async () => {
    const { page, close } = await open('gateway.keys.list')
    await submit(page).click()
    await expect.poll(() => focused(page)).toBe('try-token')
    await page.locator('#try-token').fill(gateway.operatorKey)
    await page.keyboard.press('Enter')
    await answer(page).locator('.result').waitFor()
    const html = await page.content()
    expect(html).not.toContain(gateway.operatorKey)
    expect(page.url()).not.toContain('agw_sk')
    expect(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
    ).toBe('[{},{},""]')
    await page.reload()
    expect(await page.locator('#try-token').inputValue()).toBe('')
    await close()
  })

  it('asks once more before it ends something', async () => {
    const { page, close } = await open('gateway.keys.revoke')
    await page.locator('#try-token').fill(gateway.operatorKey)
    await submit(page).click()
    await page.locator('dialog[open]').waitFor()
    await page.keyboard.press('Escape')
    expect(await answer(page).isVisible()).toBe(false)
    await submit(page).click()
    await page.getByRole('button', { name: 'Yes, send it' }).click()
    await answer(page).locator('[data-code=key_not_found]').waitFor()
    await close()
  })

  it('shows a secret nowhere that was typed into a field that hides it', async () => {
    const { page, close } = await open('gateway.egress.credentials.create')
    await page.locator('#try-token').fill('agw_sk_none')
    await page.locator('[id="try/secret"]').fill('hunter2-hunter2')
    await submit(page).click()
    await answer(page).locator('[data-code=key_invalid]').waitFor()
    expect(await answer(page).textContent()).toContain('site issues')
    expect(await page.content()).not.toContain('hunter2')
    await close()
  })

  it('says without a script that it takes one, and sends nothing', async () => {
    const { page, close } = await open('gateway.keys.list', { ...DESK, hasScript: false })
    await page.locator('#try-token').fill('agw_sk_secret')
    await page.locator('#try-token').press('Enter')
    expect(page.url()).toBe(`${gateway.url}/tools/gateway.keys.list`)
    expect(await page.locator('.without-script').first().isVisible()).toBe(true)
    await close()
  })
})

describe('what a stranger wrote', () => {
  it('is shown, runs nothing and loads nothing', async () => {
    const { page, complaints, origins, close } = await open('gateway_execute')
    const hostile =
      '<title>&lt;img src=x onerror=window.hit=1&gt;</title><h1><script>window.hit=1</script>Hello gpj&#x202E;exe</h1>' +
      '<p>[x](javascript:window.hit=1) <a href="javascript:window.hit=1">click</a> <img src="https://tracker.example/p.gif"></p>' +
      `<p>${'W'.repeat(5000)}</p>`
    await page.locator('button[name=example]').nth(1).click()
    await page.locator('[id="try/html"]').fill(hostile)
    await submit(page).click()
    await answer(page).locator('.markdown').waitFor()
    expect(await page.evaluate('window.hit')).toBeUndefined()
    expect(await answer(page).locator('a[href^="javascript" i], img, script').count()).toBe(0)
    expect([...origins]).toEqual([gateway.url])
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(complaints).toEqual([])
    await close()
  })
})

describe('without a script', () => {
  it('a form is sent to the page, which answers it', async () => {
    const { page, close } = await open('gateway_execute', { ...PHONE, hasScript: false })
    await submit(page).click()
    await page.locator('.try-answer.sent').waitFor()
    expect(await page.locator('.try-answer.sent').innerText()).toContain('Let the water cool')
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    await close()
  })
})

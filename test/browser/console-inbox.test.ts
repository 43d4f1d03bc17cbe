// The inbox in a real Chromium: decided with the keyboard alone, told of what arrives, sound on a telephone and for who hears it.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { launchBrowser } from '../support/browser.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import {
  accessibilityFaults,
  arabicFonts,
  type Form,
  overflow,
  pathIn,
  visit,
} from '../support/site-browser.ts'

let gw: TestGateway
let actions: ActionsClient
let approver: TestPerson
let browser: Browser
beforeAll(async () => {
  gw = await startTestGateway()
  actions = await createActionsClient(gw, gw.url)
  approver = await signIn(gw, { role: 'approver', name: 'Amir' })
  browser = await launchBrowser([], arabicFonts())
})
afterAll(async () => {
  await browser?.close()
  await gw?.close()
})

const DESK: Form = { language: 'en', theme: 'light', width: 1280 }
const prepare = (over: Body = {}, body = '{"sku":"tea"}') =>
  actions.prepare(actions.request({ body }), actions.mandate({ requires_approval: true, ...over }))
const stateOf = async (id: string) => (await actions.permitOf(id))['state']
const open = (form: Form = DESK, path = '/console/inbox') =>
  visit(browser, gw.baseUrl + pathIn(form.language, path), form, approver.cookie)
/** What the page was told of so far is in `told`. */
const NOTE_NEWS = `
  globalThis.told = []
  globalThis.EventSource = class extends EventSource {
    constructor(...given) {
      super(...given)
      this.addEventListener('news', ({ data }) => told.push(...JSON.parse(data)))
    }
  }`
const focused = (page: Page) =>
  page.evaluate<string | undefined>(
    `document.activeElement?.closest('[data-item]')?.querySelector('[name=permit_id]')?.value`,
  )

describe('the inbox', () => {
  it('is decided with the keyboard alone, one request at a time', async () => {
    const [first, second, third] = [await prepare(), await prepare(), await prepare({}, 'x'.repeat(5000))]
    const seen = await open()
    const { page } = seen
    // Without a request in focus no key decides anything.
    await page.keyboard.press('a')
    await page.keyboard.press('j')
    expect(await focused(page)).toBe(third.permit_id)
    // A list that left the body out has no yes.
    await page.keyboard.press('a')
    await page.keyboard.press('j')
    expect(await focused(page)).toBe(second.permit_id)
    await page.keyboard.press('k')
    await page.keyboard.press('j')
    await Promise.all([page.waitForURL('**/console/inbox?done=approved'), page.keyboard.press('a')])
    expect(await page.locator('[role=status]:visible').innerText()).toContain('Approved')
    expect([await stateOf(first.permit_id), await stateOf(second.permit_id)]).toEqual([
      'pending_approval',
      'ready',
    ])
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await Promise.all([page.waitForURL('**/console/inbox?done=refused'), page.keyboard.press('r')])
    expect([await stateOf(first.permit_id), await stateOf(third.permit_id)]).toEqual([
      'refused',
      'pending_approval',
    ])
    // Whoever turned the keys off presses them for nothing, on the next page, too.
    await page.locator('[data-keys]').uncheck()
    await page.reload()
    await page.locator('[data-item]').first().focus()
    await page.keyboard.press('r')
    expect(await stateOf(third.permit_id)).toBe('pending_approval')
    await page.locator('[data-keys]').check()
    await page.locator('[data-item]').first().focus()
    await Promise.all([page.waitForURL(`**/console/inbox/${third.permit_id}`), page.keyboard.press('Enter')])
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1)
    expect(seen.complaints).toEqual([])
    await seen.close()
  })

  it('says at once that something new waits, and of nobody else', async () => {
    const { permit_id } = await prepare()
    const seen = await open()
    const { page } = seen
    await page.addInitScript({ content: NOTE_NEWS })
    // From the head of that answer on the page is told of everything.
    await Promise.all([page.waitForResponse(/\/console\/events\?/), page.reload()])
    const team = await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })
    const theirs = await createActionsClient(gw, gw.url, { token: team.body.key })
    const arrived = page.locator('[data-arrived]')
    await theirs.prepare(theirs.request(), theirs.mandate({ requires_approval: true }))
    // News come in their order, and a refusal is none of something that waits: once it is there, theirs would have been.
    await gw.rest('POST', `/v1/actions/permits/${permit_id}/refuse`)
    await expect
      .poll(() => page.evaluate<[string, Body][]>('told'))
      .toEqual([['approval', expect.objectContaining({ permit_id, state: 'refused' })]])
    expect(await arrived.isVisible()).toBe(false)
    await prepare()
    await arrived.waitFor({ state: 'visible' })
    await seen.close()
  })

  it.each<Form>([
    { language: 'ar', theme: 'dark', width: 390 },
    { language: 'en', theme: 'light', width: 390 },
  ])('is sound on a telephone ($language)', async (form) => {
    const { permit_id } = await prepare(
      { approval: { people: 2, by: 'another' } },
      `{"note":"${'long'.repeat(300)}"}`,
    )
    for (const path of [
      '/console/inbox',
      `/console/inbox/${permit_id}`,
      '/console/mandates',
      '/console/notifications',
    ]) {
      const seen = await open(form, path)
      expect(await overflow(seen.page), path).toBe(0)
      expect(await accessibilityFaults(seen.page), path).toEqual([])
      for (const button of await seen.page.locator('main button:visible').all())
        expect((await button.boundingBox())?.height, path).toBeGreaterThanOrEqual(44)
      await seen.close()
    }
  })

  it('is decided without a script as well', async () => {
    const { permit_id } = await prepare()
    const seen = await open({ ...DESK, hasScript: false }, `/console/inbox/${permit_id}`)
    await seen.page.getByRole('button', { name: 'Refuse' }).click()
    expect(await stateOf(permit_id)).toBe('refused')
    await seen.close()
  })
})

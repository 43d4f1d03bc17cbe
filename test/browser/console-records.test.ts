// The tables of the console in a real browser: newer attempts are told of while one looks, a filter is set by keyboard, a file is saved, an
// attempt is decided; and the pages of one payment and one task, which the walk over all pages cannot reach.
import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
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
import { ending, newClaim, reservation, settling, submission } from '../support/store.ts'

let gateway: TestGateway
let owner: TestPerson
let browser: Browser
let granted: Awaited<ReturnType<TestGateway['grant']>>
beforeAll(async () => {
  gateway = await startTestGateway()
  owner = await signIn(gateway)
  granted = await gateway.grant()
  browser = await launchBrowser([], arabicFonts())
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

const DESK: Form = { language: 'en', theme: 'light', width: 1280 }
const PHONE: Form = { language: 'ar', theme: 'dark', width: 390 }
const open = (path: string, form = DESK) =>
  visit(browser, gateway.baseUrl + pathIn(form.language, path), form, owner.cookie)
const BOOT = 'boot-of-the-test'

it('tells of newer attempts while one looks, is narrowed by keyboard and saved as a file', async () => {
  await gateway.fetch(granted.capability, { url: gateway.url('/ok'), method: 'GET' })
  const seen = await open('/console/attempts')
  const { page } = seen
  const rows = page.locator('main tbody tr')
  expect(await rows.count()).toBe(1)
  // The stream may open after the page has loaded: each call is told of, and the last one at the latest.
  const newer = page.getByRole('link', { name: /newer: show/ })
  for (let call = 0; call < 20 && (await newer.count()) === 0; call++) {
    await gateway.fetch(granted.capability, { url: gateway.url('/ok'), method: 'POST' })
    await page.waitForTimeout(150)
  }
  await newer.click()
  await page.waitForLoadState()
  expect(await rows.count()).toBeGreaterThan(1)

  await page.locator('select[name="method"]').focus()
  await page.keyboard.type('GET')
  await page.keyboard.press('Tab')
  await page.keyboard.type('api.example.com')
  await page.keyboard.press('Enter')
  await page.waitForURL(/method=GET/)
  expect(await rows.count()).toBe(1)

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV' }).click(),
  ])
  const text = await readFile(await download.path(), 'utf8')
  expect(text.trimEnd().split('\r\n')).toHaveLength(2)
  expect(seen.complaints).toEqual([])
  await seen.close()
})

it('decides an attempt that nobody knows the end of, on a telephone', async () => {
  const now = Date.now()
  const input = reservation(
    {
      accountId: owner.accountId,
      credential: { id: granted.credentialId },
      capability: { id: granted.capabilityId },
    },
    BOOT,
    { id: newId('att', now), createdAt: now },
  )
  await gateway.store.reserveAttempt(input)
  await gateway.store.markSending({ id: input.attempt.id, bootId: BOOT, now })
  await gateway.store.finishAttempt({ ...ending(input.attempt, BOOT, 'ambiguous'), now })
  const seen = await open(`/console/attempts/${input.attempt.id}`, PHONE)
  const { page } = seen
  expect(await accessibilityFaults(page)).toEqual([])
  await page.locator('input[value="happened"]').check()
  await page.locator('input[name="reason"]').fill('وجدته في سجلهم')
  await page.locator('button.primary').click()
  await page.waitForURL(/done=reconciled/)
  expect(await page.getByRole('status').first().textContent()).toContain('سُجِّل القرار')
  expect(await page.locator('main').textContent()).toContain('وجدته في سجلهم')
  expect(await overflow(page)).toBe(0)
  expect(seen.complaints).toEqual([])
  await seen.close()
})

it.each([DESK, PHONE])('shows a payment and a task soundly ($language)', async (form) => {
  const now = Date.now()
  const claim = newClaim({
    id: newId('clm', now),
    createdAt: now,
    resource: `https://shop.example.com/${'a'.repeat(300)}`,
  })
  await gateway.store.claimPayment({ claim, bootId: BOOT })
  await gateway.store.submitClaim(submission(claim.id, BOOT))
  await gateway.store.settleClaim({ ...settling(claim.id), now })
  const taskId = newId('task', now)
  const message = {
    role: 'ROLE_USER',
    parts: [{ text: `\u202Eexe.jpg ${'w'.repeat(400)}` }, { data: { amount: 3 } }],
  }
  await gateway.store.saveTask({
    id: taskId,
    contextId: 'ctx-1',
    owner: owner.accountId,
    state: 'TASK_STATE_COMPLETED',
    revision: 1,
    json: JSON.stringify({
      status: {},
      history: [message],
      artifacts: [{ name: 'x', parts: message.parts }],
    }),
    updatedAt: now,
    expiresAt: now + 60_000,
  })
  for (const path of [`/console/payments/${claim.id}`, `/console/tasks/${taskId}`]) {
    const seen = await open(path, form)
    expect([path, seen.status]).toEqual([path, 200])
    expect([path, await overflow(seen.page)]).toEqual([path, 0])
    expect([path, await accessibilityFaults(seen.page)]).toEqual([path, []])
    expect([path, seen.complaints]).toEqual([path, []])
    await seen.close()
  }
})
